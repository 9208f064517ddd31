#include "frontend/driver/ops/ops_facts.h"

#include <algorithm>
#include <optional>

#include "frontend/driver/devices/checked.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

std::string operator_form(std::string_view symbol) {
  constexpr std::string_view kUnary = "unary ";
  if (symbol.starts_with(kUnary)) {
    return std::string(symbol.substr(kUnary.size())) + "x";
  }
  return symbol == "not" ? "not x" : "x " + std::string(symbol) + " y";
}

// Its calls in the programs that its example builds; of one that is built from others, theirs.
std::vector<OpCall> calls_of(const OpDef& op) {
  Workspace workspace(Options{});
  const FileId file =
      workspace.sources.add({.name = "example", .path = "", .text = std::string(op.example)});
  const auto program = as_written(workspace, file, workspace.diags);
  std::vector<OpCall> calls;
  if (program == nullptr) {
    return calls;
  }
  const std::size_t place = op.example.find(std::string(op.name) + "(");
  std::optional<SourceSpan> whole;  // of `f(x) == y`, which begins there, too, the call alone
  for (const Unit* unit : program->device.units()) {
    for (std::size_t i = 0; i < unit->program.values.size(); ++i) {
      const Value& value = unit->program.values[i];
      const bool begins = op.expand != nullptr && value.op != nullptr && value.span.begin == place;
      if (begins && !whole) {
        whole = value.span;
      }
      const bool part = begins && value.span == whole;
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
    case Combine::kLogSumExp:
    case Combine::kRecurrence:
      break;
  }
  return "";
}

std::vector<DimFacts> facts_of_loops(std::span<const LoopDim> loops, std::string_view combined) {
  std::vector<DimFacts> facts;
  facts.reserve(loops.size());
  for (const LoopDim& loop : loops) {
    facts.push_back({.name = loop.name,
                     .role = loop.role,
                     .combined = loop.role == DimRole::kReduced ? combined : ""});
  }
  return facts;
}

// Each dim of the example's first call, as the iteration spaces have them. What it is
// built from may keep a dim in one step and reduce it in the next: the stricter role counts.
std::vector<DimFacts> dims_of(const OpDef& op, std::span<const OpCall> calls) {
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
  return facts_of_loops(dims, combine_word(combine));
}

// `max`, `sub`, `exp`: what the call is built from, each once.
std::vector<std::string> names_of_calls(std::span<const OpCall> calls) {
  std::vector<std::string> names;
  for (const OpCall& call : calls) {
    if (std::ranges::find(names, call.op->name) == names.end()) {
      names.emplace_back(call.op->name);
    }
  }
  return names;
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

std::string_view word_of(ParamKind kind) {
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
    case ParamKind::kNewDims:
      return "dim, or list of dims, may be new";
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
    case ParamKind::kInts:
      return "int, or list of ints";
    case ParamKind::kNewShape:
      return "shape, whose dims may be new";
  }
  return "";
}

}  // namespace

OpFacts facts_of(const OpDef& op) {
  const std::vector<OpCall> calls = calls_of(op);
  OpFacts facts{
      .forms = forms_of(op),
      .operator_form = op.symbol.empty() || op.symbol == "@" ? "" : operator_form(op.symbol),
      .built_from = {},
      .has_gradient = op.grad != nullptr,
      .adds_up = adds_up(op, calls),
      .dims = dims_of(op, calls)};
  if (op.expand != nullptr) {
    facts.built_from = names_of_calls(calls);
    if (facts.built_from == std::vector<std::string>{std::string(op.name)}) {
      facts.built_from.clear();  // a call of another form of itself
      facts.has_gradient = true;
    }
  }
  return facts;
}

std::string kind_word(const OpParam& param) {
  std::string choices;
  for (const std::string_view choice : param.choices) {
    choices += (choices.empty() ? "\"" : " | \"") + std::string(choice) + "\"";
  }
  if (choices.empty()) {
    return std::string(word_of(param.kind));
  }
  return param.kind == ParamKind::kInts ? std::string(word_of(param.kind)) + ", " + choices
                                        : choices;
}

std::string_view role_word(DimRole role) {
  switch (role) {
    case DimRole::kKept:
      return "kept";
    case DimRole::kReduced:
      return "reduced";
    case DimRole::kMoved:
      return "moved";
    case DimRole::kScanned:
      return "scanned";
    case DimRole::kSelected:
      return "selected";
    case DimRole::kSorted:
      return "sorted";
    case DimRole::kServed:
      return "served";
    case DimRole::kWhole:
      return "whole";
  }
  return "";
}

}  // namespace mtf
