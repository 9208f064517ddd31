// `mtf ops`: what the table of operations says, for people. What an operation does to each dim is
// asked of it, on the calls of its own example.

#include "stdlib/ops/ops.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "frontend/driver/checked.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/ops_forms.h"
#include "frontend/parse.h"
#include "ir/kernel.h"
#include "ir/support/columns.h"

namespace mtf {
namespace {

std::string_view kind_word(ParamKind kind) {
  switch (kind) {
    case ParamKind::kTensor:
      return "tensor";
    case ParamKind::kTensors:
      return "tensors";
    case ParamKind::kDim:
      return "dim";
    case ParamKind::kNewDim:
      return "dim, may be new";
    case ParamKind::kDims:
      return "dim, or list of dims";
    case ParamKind::kShape:
      return "shape";
    case ParamKind::kDType:
      return "element type";
    case ParamKind::kInt:
      return "int";
    case ParamKind::kReal:
      return "number";
    case ParamKind::kBool:
      return "bool";
    case ParamKind::kText:
      return "string";
    case ParamKind::kData:
      return "nested lists of numbers";
  }
  return "";
}

std::string operator_form(std::string_view symbol) {
  constexpr std::string_view kUnary = "unary ";
  if (symbol.starts_with(kUnary)) {
    return std::string(symbol.substr(kUnary.size())) + "x";
  }
  return symbol == "not" ? "not x" : "x " + std::string(symbol) + " y";
}

std::string listing() {
  std::vector<std::string_view> families;
  for (const OpDef* op : op_table()) {
    if (std::ranges::find(families, op->family) == families.end()) {
      families.push_back(op->family);
    }
  }
  std::vector<Row> rows;
  for (const std::string_view family : families) {
    rows.emplace_back();
    rows.push_back({std::string(family) + ":"});
    for (const OpDef* op : op_table()) {
      if (op->family == family) {
        rows.push_back(
            {"  " + std::string(op->name), std::string(op->symbol), std::string(op->summary)});
      }
    }
  }
  rows.emplace_back();
  rows.push_back({"of the language:"});
  for (const LanguageForm& one : language_forms()) {
    rows.push_back({"  " + std::string(one.name), "", std::string(one.summary)});
  }
  return in_columns(std::span(rows).subspan(1), {.indent = 0});
}

// Its calls in the programs that its example builds; of one that is built from others, theirs.
std::vector<OpCall> calls_of(const OpDef& op) {
  Workspace workspace(Options{});
  const FileId file =
      workspace.sources.add({.name = "example", .path = "", .text = std::string(op.example)});
  const auto program = check_program(workspace, file);
  std::vector<OpCall> calls;
  if (program == nullptr) {
    return calls;
  }
  const std::size_t place = op.example.find(std::string(op.name) + "(");
  for (const Unit* unit : program->device.units()) {
    for (std::size_t i = 0; i < unit->program.values.size(); ++i) {
      const Value& value = unit->program.values[i];
      const bool part = op.expand != nullptr && value.op != nullptr && value.span.begin == place;
      if (value.op == &op || part) {
        calls.push_back(call_of(unit->program, {static_cast<std::int32_t>(i)}));
      }
    }
  }
  return calls;
}

std::string_view combine_word(Combine combine) {
  switch (combine) {
    case Combine::kSum:
      return "sum";
    case Combine::kMax:
      return "maximum";
    case Combine::kMin:
      return "minimum";
    case Combine::kProd:
      return "product";
  }
  return "";
}

std::string role_text(DimRole role, Combine combine) {
  switch (role) {
    case DimRole::kKept:
      return "kept; split over an axis, each rank computes its part";
    case DimRole::kReduced:
      return "reduced; split over an axis, each rank has a partial " +
             std::string(combine_word(combine)) + ", joined by an all-reduce";
    case DimRole::kWhole:
      return "whole; split over an axis, it is gathered first";
  }
  return "";
}

// One row for each dim of the example's first call, as the iteration spaces have them. What it is
// built from may keep a dim in one step and reduce it in the next: the stricter role counts.
std::vector<Row> role_rows(const OpDef& op, std::span<const OpCall> calls) {
  std::vector<LoopDim> dims;
  Combine combine = Combine::kSum;
  for (const OpCall& call : calls) {
    if (call.op->space == nullptr || (op.expand == nullptr && !dims.empty())) {
      continue;
    }
    const IterationSpace space = call.op->space(call);
    for (const LoopDim& loop : space.loops) {
      const auto found = std::ranges::find(dims, loop.name, &LoopDim::name);
      if (found == dims.end()) {
        dims.push_back(loop);
      } else {
        found->role = std::max(found->role, loop.role);
      }
      combine = loop.role == DimRole::kReduced ? space.combine : combine;
    }
  }
  std::vector<Row> rows;
  rows.reserve(dims.size());
  for (const LoopDim& dim : dims) {
    rows.push_back({dim.name, role_text(dim.role, combine)});
  }
  return rows;
}

// "`max`, `sub`, `exp`": what the call is built from.
std::string parts_text(std::span<const OpCall> calls) {
  std::vector<std::string_view> names;
  for (const OpCall& call : calls) {
    if (std::ranges::find(names, call.op->name) == names.end()) {
      names.push_back(call.op->name);
    }
  }
  std::string text;
  for (const std::string_view name : names) {
    text += (text.empty() ? "`" : ", `") + std::string(name) + "`";
  }
  return text;
}

std::string indented(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    result += "  " + std::string(text.substr(0, end));
    text.remove_prefix(end);
  }
  return result;
}

std::string facts(const OpDef& op, std::span<const OpCall> calls) {
  std::vector<Row> rows = {{"result", std::string(op.shape_rule)}};
  const std::string parts = parts_text(calls);
  if (op.expand != nullptr && parts == "`" + std::string(op.name) + "`") {
    rows.push_back({"gradient", "yes"});  // a call of another form of itself
  } else if (op.expand != nullptr) {
    rows.push_back({"built from", parts});
    rows.push_back({"gradient", "that of what it is built from"});
  } else {
    rows.push_back({"gradient", op.grad == nullptr ? "none flows to its operands" : "yes"});
  }
  if (op.random) {
    rows.push_back({"random", "by seed and global element index: the same on every layout"});
  }
  return in_columns(rows);
}

// Whether the operation itself adds or multiplies up what ranks may have parts of.
bool adds_up(const OpDef& op, std::span<const OpCall> calls) {
  return std::ranges::any_of(calls, [&](const OpCall& call) {
    if (call.op != &op || op.space == nullptr || op.flops == nullptr) {
      return false;
    }
    const IterationSpace space = op.space(call);
    return (space.combine == Combine::kSum || space.combine == Combine::kProd) &&
           std::ranges::find(space.loops, DimRole::kReduced, &LoopDim::role) != space.loops.end();
  });
}

std::string page(const OpDef& op) {
  std::string text;
  for (const std::string& form : forms_of(op)) {
    text += form + "\n";
  }
  text += "  " + std::string(op.summary) + "\n";
  text += op.symbol.empty() || op.symbol == "@"
              ? ""
              : "  also written `" + operator_form(op.symbol) + "`\n";
  std::vector<Row> params;
  for (const OpParam& param : op.params) {
    params.push_back({param.name == "to" ? "->" : std::string(param.name),
                      std::string(kind_word(param.kind)) + (param.required ? "" : ", optional"),
                      std::string(param.help)});
  }
  text += params.empty() ? "" : "\n" + in_columns(params);
  const std::vector<OpCall> calls = calls_of(op);
  text += "\n" + facts(op, calls);
  const std::vector<Row> roles = role_rows(op, calls);
  text += roles.empty() ? "" : "\nits dims, in the example\n" + in_columns(roles);
  text += adds_up(op, calls) ? "\norder of sums\n" + indented(canonical_order()) : "";
  return text + "\nexample\n" + indented(op.example);
}

Outcome list_or_explain(Workspace& workspace) {
  const std::string& name = workspace.options.name;
  if (name.empty()) {
    std::fputs(listing().c_str(), stdout);
    return {};
  }
  const OpDef* op = find_op(op_table(), name);
  op = op == nullptr ? find_operator(op_table(), name) : op;
  if (op != nullptr) {
    std::fputs(page(*op).c_str(), stdout);
    return {};
  }
  const auto form = std::ranges::find(language_forms(), name, &LanguageForm::name);
  if (form != language_forms().end()) {
    const std::string text = std::string(form->form) + "\n  " + std::string(form->summary) +
                             "\n\nexample\n" + indented(form->example);
    std::fputs(text.c_str(), stdout);
    return {};
  }
  std::vector<std::string> names = names_of(language_forms());
  for (const OpDef* known : op_table()) {
    names.emplace_back(known->name);
  }
  return {.status = kUsageError,
          .message = "mtf: no operation `" + name + "`" +
                     did_you_mean(name, names, "; `mtf ops` lists them") + "\n"};
}

}  // namespace

int ops_command(const Options& options) {
  return run_alone(options, list_or_explain);
}

}  // namespace mtf
