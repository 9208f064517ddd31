// `--explain "batch->rows"`: the answer beside the same with another rule. And why there is no
// answer at all.

#include <algorithm>
#include <cmath>
#include <vector>

#include "frontend/driver/search/searching.h"
#include "frontend/elaborate/report.h"
#include "frontend/report/expect/broken.h"
#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

std::string_view without_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '(' || c == ')'; };
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// One axis, or with `all` every one that splits anything; none: there is no such axis.
Axes axes_called(const Mesh& mesh, const std::string& name) {
  if (const std::optional<AxisId> axis = mesh.find(name)) {
    return {*axis};
  }
  Axes axes;
  for (std::size_t a = 0; name == "all" && a < mesh.axes.size(); ++a) {
    if (mesh.axes[a].size > 1) {
      axes.push_back(static_cast<AxisId>(a));
    }
  }
  return axes;
}

}  // namespace

// What stands behind `->`: no axes for a dim that is whole, or axes, `all` of them, a `*` at the
// end.
std::optional<Searching::Place> Searching::place_named(std::string_view text, const Mesh& mesh,
                                                       DiagSink& diags) {
  const std::string whole(without_blanks(text));
  const auto refuse = [&](DiagKind kind, std::string why) {
    diags.error(kind, {}, std::move(why));
    return std::nullopt;
  };
  if (std::ranges::count(text, '(') != std::ranges::count(text, ')')) {
    return refuse(DiagKind::kBadArgument,
                  "`" + std::string(text) + "`: brackets come in pairs, as in `batch->(x, y)`");
  }
  Place place;
  for (text = without_blanks(text); !text.empty(); text = without_blanks(text)) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string name(without_blanks(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (name == "whole" && !mesh.find(name)) {
      continue;
    }
    if (name == "*") {
      place.rest = true;
      continue;
    }
    const Axes axes = axes_called(mesh, name);
    if (axes.empty()) {
      return refuse(DiagKind::kUnknownAxis, "the mesh " + to_string(mesh) + " has no axis `" +
                                                name + "`" +
                                                did_you_mean(name, names_of(mesh.axes)));
    }
    const bool is_twice =
        std::ranges::any_of(axes, [&](AxisId axis) { return has(place.axes, axis); });
    if (place.rest || is_twice) {
      return refuse(
          DiagKind::kBadArgument,
          "`" + whole + "`: " +
              (place.rest ? "`*` stands for what is left, and so at the end"
                          : "an axis splits a dim once, and `" + name + "` is there twice"));
    }
    place.axes.insert(place.axes.end(), axes.begin(), axes.end());
  }
  return place;
}

// Why there is no choice for a dim.
std::string Searching::not_open(const std::string& dim, const Mesh& mesh) const {
  const DimSizes sizes = program_.common_sizes();
  const auto size = sizes.find(dim);
  const bool splits = size != sizes.end() && std::ranges::any_of(mesh.axes, [&](const auto& axis) {
                        return axis.size > 1 && size->second % axis.size == 0;
                      });
  if (size != sizes.end() && mesh.ranks() == 1) {
    return "the mesh " + to_string(mesh) + " has one rank, which holds all of `" + dim +
           "`; `--ranks 4` searches meshes of four";
  }
  if (size != sizes.end() && !splits) {
    return "no axis of the mesh " + to_string(mesh) + " splits `" + dim + "` (" +
           std::to_string(size->second) + ") evenly";
  }
  return "`" + dim + "` is no dim that may be split here" +
         did_you_mean(dim, space_.dims(),
                      space_.dims().empty() ? "; none is"
                                            : "; there is " + host::quoted_list(space_.dims()));
}

std::optional<Searching::NamedRule> Searching::rule_named(std::string_view rule, const Mesh& mesh,
                                                          DiagSink& diags) const {
  const std::size_t arrow = rule.find("->");
  const std::string dim(without_blanks(rule.substr(0, arrow)));
  const std::optional<std::size_t> found = space_.find(dim);
  if (!found) {
    diags.error(DiagKind::kUnknownDim, {}, not_open(dim, mesh));
    return std::nullopt;
  }
  if (space_.is_fixed(*found)) {
    diags.error(DiagKind::kBadArgument, {},
                "`" + dim + "` is where the layout `" + space_.limits().fixed.name +
                    "` puts it, which is not searched");
    return std::nullopt;
  }
  const std::optional<Place> place = place_named(rule.substr(arrow + 2), mesh, diags);
  return place ? std::optional(NamedRule{.dim = *found, .place = *place}) : std::nullopt;
}

bool Searching::can_explain(std::string_view rule, DiagSink& diags) const {
  DiagSink first;
  for (const Mesh& mesh : space_.meshes()) {
    DiagSink own;
    if (rule_named(rule, mesh, own)) {
      return true;
    }
    if (first.ok()) {
      first = std::move(own);
    }
  }
  diags.add(first.diags().front());
  return false;
}

std::optional<ExplainedRule> Searching::explained(std::string_view rule, DiagSink& diags) {
  const std::optional<NamedRule> named = rule_named(rule, space_.meshes()[answer_.mesh], diags);
  if (!named) {
    return std::nullopt;
  }
  const auto& [dim, place] = *named;
  LayoutCandidate other = moved(dim, place.axes);
  const DimSet others_rest = other.rest & ~only(dim);
  other = with_rest(std::move(other), others_rest | (place.rest ? only(dim) : DimSet{0}));
  FoundLayout with = found(other);
  const bool fits = merit_of(with.priced, goal_).fits();
  return ExplainedRule{.dim = space_.dims()[dim],
                       .place = place_text(other, dim),
                       .instead_of = place_text(answer_, dim),
                       .is_answer = other == answer_,
                       .with = std::move(with),
                       .fits = fits};
}

// The error of its plan, or of an `expect` that this breaks.
std::optional<Diag> Searching::obstacle_to(const LayoutCandidate& candidate) {
  const Layout layout = space_.layout_of(candidate);
  const std::span<const Program> programs = pricer_.programs(candidate);
  for (std::size_t entry = 0; entry < programs.size(); ++entry) {
    DiagSink diags;
    auto plan = lower_simplified(programs[entry], layout, op_table(), diags,
                                 {.exact = !workspace_.options.fast});
    if (!plan) {
      const std::vector<Diag> errors = errors_of(diags);
      return errors.empty() ? std::nullopt : std::optional(errors.front());
    }
    plan->layout.clear();  // the program has none of this name
    for (const Expectation* clause : program_.expected(entry)) {
      if (std::optional<Diag> diag = broken(*plan, *clause, workspace_.sources)) {
        return diag;
      }
    }
  }
  return std::nullopt;
}

Diag Searching::nothing_found() {
  const auto& known = pricer_.known();
  const std::string tried = result_.is_proven
                                ? "no layout fits this program"
                                : "no layout was found that fits this program, of " +
                                      count_text(std::ssize(known), "layout") + " that " +
                                      (known.size() == 1 ? "was" : "were") + " tried";
  Diag diag{.kind = DiagKind::kLayoutConflict, .span = space_.limits().fixed.span, .text = tried};
  if (known.empty()) {
    return diag;
  }
  const auto& [nearest, priced] =
      *std::ranges::min_element(known, {}, [](const auto& one) { return one.second.beyond; });
  const std::string rules = rules_source(space_.layout_of(nearest));
  const bool is_refused = std::isfinite(priced.beyond);  // by what is expected of its plan
  const std::string of = tried + "; with " +
                         (rules == "nothing split" ? rules : in_backticks(rules)) +
                         (is_refused ? ", which comes nearest, " : ": ");
  if (std::optional<Diag> why = obstacle_to(nearest)) {
    diag = *std::move(why);
  } else {
    diag.text = priced.obstacle;
  }
  diag.text = of + diag.text;
  const std::size_t axes = space_.meshes().front().axes.size();
  constexpr std::size_t kMostAxes = 4;
  if (!is_refused && program_.makes_mesh() && axes < kMostAxes) {
    diag.notes.push_back({.span = {},
                          .text = "the meshes that were searched have up to " +
                                  std::to_string(axes) + (axes == 1 ? " axis" : " axes") +
                                  "; `--axes " + std::to_string(axes + 1) +
                                  "` searches those with one more"});
  }
  return diag;
}

}  // namespace mtf
