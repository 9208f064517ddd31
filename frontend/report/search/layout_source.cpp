#include "frontend/report/search/layout_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/support/diag.h"

namespace mtf {
namespace {

constexpr std::size_t kWidest = 100;

// "rows", "(rows, cols)", "(rows, *)", "*", "()".
std::string axes_text(const Rule& rule, const Mesh& mesh) {
  std::vector<std::string> words;
  for (const AxisId axis : rule.axes) {
    words.push_back(mesh.axes[axis].name);
  }
  if (rule.rest) {
    words.emplace_back("*");
  }
  if (words.empty()) {
    return "()";  // said to be whole
  }
  if (words.size() == 1) {
    return words.front();
  }
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "(" : ", ") + word;
  }
  return text + ")";
}

// Rules with the same axes.
struct SameAxes {
  std::string dims;
  std::string axes;
  Rule rule;  // of the last dim
};

// Whether it matters which of two rules goes first: a tensor with both dims gives an axis to that.
bool are_rivals(const Rule& a, const Rule& b) {
  return (a.rest && b.rest) ||
         std::ranges::any_of(a.axes, [&b](AxisId axis) { return has(b.axes, axis); });
}

// The rules with these axes that another one may join without going before a rival.
SameAxes* same_axes(std::vector<SameAxes>& groups, const Rule& rule, const std::string& axes) {
  for (std::size_t i = groups.size(); i-- > 0;) {
    if (groups[i].axes == axes) {
      return &groups[i];
    }
    if (are_rivals(groups[i].rule, rule)) {
      return nullptr;
    }
  }
  return nullptr;
}

// Dims with the same axes together, in the order of the first.
std::string rules_text(const std::vector<Rule>& rules, const Mesh& mesh) {
  std::vector<SameAxes> groups;
  for (const Rule& rule : rules) {
    std::string axes = axes_text(rule, mesh);
    if (!rule.where.empty()) {
      axes += " " + to_string(rule.where, mesh);
    }
    if (SameAxes* same = rule.where.empty() ? same_axes(groups, rule, axes) : nullptr) {
      same->dims += ", " + rule.dim;
    } else {
      groups.push_back({.dims = rule.dim, .axes = axes, .rule = rule});
    }
  }
  std::string text;
  for (const auto& [dims, axes, rule] : groups) {
    text += (text.empty() ? "" : "; ") + dims + " -> " + axes;
  }
  return text;
}

// The parts of a layout's block, in their order.
std::vector<std::string> parts_of(const Layout& layout) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string text) {
    if (!text.empty()) {
      parts.push_back(std::move(text));
    }
  };
  add(rules_text(layout.rules, layout.mesh));
  for (const VariableRules& block : layout.variables) {
    const std::string rules = rules_text(block.rules, layout.mesh);
    if (!rules.empty()) {
      add(title_of(block) + " { " + rules + " }");
    }
  }
  if (layout.stream > 1) {
    add("stream = " + std::to_string(layout.stream));
  }
  if (layout.gather_again && layout.stream == 1) {
    add("gather = again");
  }
  add(layout.recompute ? "" : "recompute = none");
  return parts;
}

}  // namespace

std::string rules_source(const Layout& layout) {
  const std::vector<std::string> parts = parts_of(layout);
  if (layout.infer) {
    return parts.empty() ? "infer { }" : "infer { " + joined(parts, "; ") + " }";
  }
  return parts.empty() ? "nothing split" : joined(parts, "; ");
}

std::string layout_source(const Layout& layout) {
  const std::vector<std::string> parts = parts_of(layout);
  const std::string head = "layout " + layout.name + " on " + layout.mesh.name +
                           (layout.infer ? " infer" : "") + (layout.mesh.uneven ? " uneven" : "");
  if (parts.empty()) {
    return head + " { }";
  }
  const std::string line = head + " { " + joined(parts, "; ") + " }";
  return parts.size() == 1 || line.size() <= kWidest
             ? line
             : head + " {\n  " + joined(parts, "\n  ") + "\n}";
}

std::string axes_source(const Mesh& mesh) {
  std::string axes;
  for (const MeshAxis& axis : mesh.axes) {
    axes += (axes.empty() ? "" : ", ") + axis.name + ": " + std::to_string(axis.size);
  }
  return "[" + axes + "]";
}

std::string mesh_source(const Mesh& mesh) {
  return "mesh " + mesh.name + " = " + axes_source(mesh) +
         (mesh.profile.empty() ? "" : " of " + mesh.profile);
}

}  // namespace mtf
