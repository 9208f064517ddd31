// `mtf ops`: what the table of operations says, for people.

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/doc/pages.h"
#include "frontend/driver/ops/ops_facts.h"
#include "frontend/driver/ops/ops_forms.h"
#include "frontend/driver/workspace.h"
#include "ir/kernel.h"
#include "ir/support/columns.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

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

std::string role_text(DimRole role, std::string_view combined) {
  switch (role) {
    case DimRole::kKept:
      return "kept; split over an axis, each rank computes its part";
    case DimRole::kReduced:
      return "reduced; split over an axis, each rank has a partial " + std::string(combined) +
             ", joined by an all-reduce";
    case DimRole::kMoved:
      return "moved; split over an axis, ranks send what lies elsewhere in the result";
    case DimRole::kScanned:
      return "scanned; split over an axis, ranks go on from what those before them have";
    case DimRole::kSelected:
      return "selected from; split over an axis, each rank proposes what its part has";
    case DimRole::kSorted:
      return "sorted; split over an axis, ranks sort their parts, swap and merge them";
    case DimRole::kServed:
      return "served; split over an axis, ranks send what others ask for";
    case DimRole::kWhole:
      return "whole; split over an axis, it is gathered first";
  }
  return "";
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

std::string summary_rows(const OpDef& op, const OpFacts& facts) {
  std::vector<Row> rows = {{"result", std::string(op.shape_rule)}};
  if (!op.companion.empty()) {
    rows.push_back({"two names", "that, and the result of `" + std::string(op.companion) + "`"});
  }
  if (!facts.built_from.empty()) {
    std::string parts;
    for (const std::string& name : facts.built_from) {
      parts += (parts.empty() ? "`" : ", `") + name + "`";
    }
    rows.push_back({"built from", parts});
    rows.push_back({"gradient", "that of what it is built from"});
  } else {
    rows.push_back({"gradient", facts.has_gradient ? "yes" : "none flows to its operands"});
  }
  if (op.random) {
    rows.push_back({"random", "by seed and global element index: the same on every layout"});
  }
  return in_columns(rows);
}

std::string page(const OpDef& op) {
  const OpFacts facts = facts_of(op);
  std::string text;
  for (const std::string& form : facts.forms) {
    text += form + "\n";
  }
  text += "  " + std::string(op.summary) + "\n";
  text += facts.operator_form.empty() ? "" : "  also written `" + facts.operator_form + "`\n";
  std::vector<Row> params;
  for (const OpParam& param : op.params) {
    params.push_back({param.name == "to" ? "->" : std::string(param.name),
                      kind_word(param) + (param.required ? "" : ", optional"),
                      std::string(param.help)});
  }
  text += params.empty() ? "" : "\n" + in_columns(params);
  text += "\n" + summary_rows(op, facts);
  std::vector<Row> roles;
  for (const DimFacts& dim : facts.dims) {
    roles.push_back({dim.name, role_text(dim.role, dim.combined)});
  }
  text += roles.empty() ? "" : "\nits dims, in the example\n" + in_columns(roles);
  text += facts.adds_up ? "\norder of sums\n" + indented(canonical_order()) : "";
  return text + "\nexample\n" + indented(op.example);
}

std::string form_page(const LanguageForm& one) {
  return std::string(one.form) + "\n  " + std::string(one.summary) + "\n\nexample\n" +
         indented(one.example);
}

Outcome unknown_operation(Workspace& workspace) {
  const std::string& name = workspace.options.name;
  std::vector<std::string> names = names_of(language_forms());
  for (const OpDef* known : op_table()) {
    names.emplace_back(known->name);
  }
  const std::string page = where_explained(library_docs(), name);
  const std::string text =
      "no operation `" + name + "`" +
      (page.empty() ? did_you_mean(name, names, "; `mtf ops` lists them") : page);
  workspace.remarks.push_back({.slug = "usage", .text = text});
  return {.status = kUsageError, .message = "mtf: " + text + "\n"};
}

// What there is of one name; neither: nothing.
struct Named {
  const OpDef* op = nullptr;
  const LanguageForm* form = nullptr;
};

Named find_named(std::string_view name) {
  const OpDef* op = find_op(op_table(), name);
  op = op == nullptr ? find_operator(op_table(), name) : op;
  const auto form = std::ranges::find(language_forms(), name, &LanguageForm::name);
  const bool is_form = op == nullptr && form != language_forms().end();
  return {.op = op, .form = is_form ? &*form : nullptr};
}

Outcome list_all(Workspace& workspace) {
  if (workspace.options.json) {
    workspace.answers.push_back(ops_json(op_table(), language_forms()));
  } else {
    say(workspace, listing());
  }
  return {};
}

Outcome explain(Workspace& workspace, const Named& named) {
  if (workspace.options.json) {
    workspace.answers.push_back(ops_json(OpTable(&named.op, named.op == nullptr ? 0 : 1),
                                         std::span(named.form, named.form == nullptr ? 0 : 1)));
  } else {
    say(workspace, named.op != nullptr ? page(*named.op) : form_page(*named.form));
  }
  return {};
}

Outcome list_or_explain(Workspace& workspace) {
  if (workspace.options.name.empty()) {
    return list_all(workspace);
  }
  const Named named = find_named(workspace.options.name);
  const bool is_known = named.op != nullptr || named.form != nullptr;
  return is_known ? explain(workspace, named) : unknown_operation(workspace);
}

}  // namespace

int ops_command(const Options& options) {
  return run_alone(options, list_or_explain);
}

}  // namespace mtf
