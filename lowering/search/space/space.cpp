#include "lowering/search/space/space.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ir/rewrite/rewrite.h"

namespace mtf {
namespace {

constexpr std::size_t kMaxSets = 256;  // of dims that an axis may split together

// The work that is done along each dim, so that the dims that matter are decided first.
void add_work(const Program& program, std::map<std::string, double>& work) {
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const OpDef* op = program.values[i].op;
    if (op == nullptr || op->space == nullptr || op->flops == nullptr) {
      continue;
    }
    const OpCall call = call_of(program, {static_cast<std::int32_t>(i)});
    const double flops = op->flops(call);
    for (const LoopDim& loop : op->space(call).loops) {
      work[loop.name] += flops;
    }
  }
}

void add_sizes(const Program& program, std::map<std::string, std::vector<std::int64_t>>& sizes) {
  for (const Value& value : program.values) {
    if (value.internal) {
      continue;
    }
    for (const Dim& dim : value.type.shape.dims()) {
      std::vector<std::int64_t>& known = sizes[dim.name];
      if (std::ranges::find(known, dim.size) == known.end()) {
        known.push_back(dim.size);
      }
    }
  }
}

bool splits_every(const Mesh& mesh, const std::vector<std::int64_t>& sizes, const Axes& axes) {
  return std::ranges::all_of(sizes, [&](std::int64_t size) { return mesh.splits(size, axes); });
}

// Whether an `@` says where a tensor is.
bool has_layouts_of_its_own(const Program& program) {
  return std::ranges::any_of(program.values, [](const Value& value) {
    const bool is_alias = value.op != nullptr && value.op->alias;
    const Pin* pin = is_alias ? value.args.get<Pin>("layout") : nullptr;
    return pin != nullptr && !pin->rules.empty();
  });
}

Axes splitting(const Mesh& mesh, Axes axes) {
  erase_if(axes, [&mesh](AxisId axis) { return mesh.axes[axis].size == 1; });
  return axes;
}

}  // namespace

SearchSpace::SearchSpace(std::span<const Program> programs, SpaceLimits limits)
    : limits_(std::move(limits)) {
  Sizes sizes;
  for (const Program& program : programs) {
    add_sizes(program, sizes);
  }
  add_sizes_beside(sizes);
  find_dims(programs, sizes);
  apart_.resize(dims_.size());
  apart_in_variables_.resize(dims_.size());
  for (const Program& program : programs) {
    std::ranges::for_each(ruled_tensors(program, limits_.fixed),
                          [this](const RuledTensor& tensor) { keep_apart(tensor); });
  }
  keep_apart_beside();
  find_choices();
  find_equal_dims(programs);
  find_axis_classes(programs);
  may_vary_recompute_ =
      limits_.recompute && limits_.fixed.recompute && std::ranges::any_of(programs, recomputes);
  may_infer_ = limits_.infer.value_or(std::ranges::any_of(programs, has_layouts_of_its_own)) &&
               !limits_.fixed.infer;
  leaves_infer_ = limits_.infer.value_or(true) && !limits_.fixed.infer;
  find_groups(programs);
}

std::optional<std::size_t> SearchSpace::find(std::string_view dim) const {
  const auto found = std::ranges::find(dims_, dim);
  return found == dims_.end() ? std::nullopt : std::optional(std::size_t(found - dims_.begin()));
}

bool SearchSpace::has_rule(const std::string& dim) const {
  const std::vector<Rule>& rules = limits_.fixed.rules;
  return std::ranges::find(rules, dim, &Rule::dim) != rules.end();
}

bool SearchSpace::may_be_split(const std::string& dim,
                               const std::vector<std::int64_t>& sizes) const {
  const auto splits_on = [&sizes](const Mesh& mesh) {
    return std::ranges::any_of(splitting_axes(mesh),
                               [&](AxisId axis) { return splits_every(mesh, sizes, {axis}); });
  };
  return std::ranges::find(limits_.whole, dim) == limits_.whole.end() &&
         std::ranges::any_of(limits_.meshes, splits_on);
}

// Those of which all sizes may be split, and those that have a rule: these first, then by work.
void SearchSpace::find_dims(std::span<const Program> programs, const Sizes& sizes) {
  std::map<std::string, double> work;
  for (const Program& program : programs) {
    add_work(program, work);
  }
  std::vector<std::tuple<bool, double, std::string>> order;
  for (const auto& [name, all] : sizes) {
    if (has_rule(name) || may_be_split(name, all)) {
      order.emplace_back(!has_rule(name), -work[name], name);
    }
  }
  const bool has_ranks =
      std::ranges::any_of(limits_.meshes, [](const Mesh& mesh) { return mesh.ranks() > 1; });
  is_indivisible_ =
      order.empty() && has_ranks && std::ranges::any_of(sizes, [this](const auto& dim) {
        return std::ranges::find(limits_.whole, dim.first) == limits_.whole.end() &&
               std::ranges::all_of(dim.second, [](std::int64_t size) { return size > 1; });
      });
  std::ranges::sort(order);
  order.resize(std::min(order.size(), kMaxSearchedDims));
  for (const auto& [is_free, weight, name] : order) {
    dims_.push_back(name);
    sizes_.push_back(sizes.at(name));
    is_fixed_.push_back(is_free ? 0 : 1);
  }
}

DimSet SearchSpace::set_of(const Shape& shape) const {
  DimSet set = 0;
  for (const Dim& dim : shape.dims()) {
    if (const std::optional<std::size_t> found = find(dim.name)) {
      set |= only(*found);
    }
  }
  return set;
}

void SearchSpace::keep_apart(const RuledTensor& tensor) {
  const DimSet dims = set_of(tensor.shape);
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (mtf::has(dims, d)) {
      (tensor.is_variable ? apart_in_variables_ : apart_)[d] |= dims & ~only(d);
    }
  }
  if (tensor.is_variable && std::ranges::find(variable_dims_, dims) == variable_dims_.end()) {
    variable_dims_.push_back(dims);
    has_variables_ = has_variables_ || dims != 0;
  }
}

bool SearchSpace::splits_all(const Mesh& mesh, std::size_t dim, const Axes& axes) const {
  return splits_every(mesh, sizes_[dim], axes);
}

LayoutCandidate SearchSpace::unsplit(std::size_t mesh) const {
  LayoutCandidate candidate{.mesh = mesh, .rules = {}, .variables = {}};
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    candidate.rules.push_back(is_fixed_[d] != 0 ? choices_[mesh][d].front() : Axes());
  }
  candidate.variables.assign(axes(), kAsRules);
  candidate.again = limits_.fixed.gather_again;
  candidate.stream = limits_.fixed.stream;
  candidate.recompute = limits_.fixed.recompute;
  candidate.infer = limits_.fixed.infer;
  return candidate;
}

std::vector<LayoutCandidate> SearchSpace::beginnings() const {
  std::vector<LayoutCandidate> result;
  for (std::size_t m = 0; m < meshes().size(); ++m) {
    result.push_back(unsplit(m));
    if (may_vary_recompute()) {
      result.push_back(result.back());
      result.back().recompute = false;
    }
  }
  return result;
}

// Those of the rules where they are not told otherwise, then what comes to them.
Axes SearchSpace::axes_under(const Axes& ruled, const std::vector<DimSet>& own, std::size_t dim) {
  Axes list;
  for (const AxisId axis : ruled) {
    if (own[axis] == kAsRules || mtf::has(own[axis], dim)) {
      list.push_back(axis);
    }
  }
  for (std::size_t a = 0; a < own.size(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    if (own[a] != kAsRules && mtf::has(own[a], dim) && !mtf::has(list, axis)) {
      list.push_back(axis);
    }
  }
  return list;
}

Axes SearchSpace::variable_axes(const LayoutCandidate& candidate, std::size_t dim) {
  return axes_under(candidate.rules[dim], candidate.variables, dim);
}

Layout SearchSpace::layout_of(const LayoutCandidate& candidate) const {
  Layout layout = limits_.fixed;
  layout.mesh = limits_.meshes[candidate.mesh];
  add_rules(candidate, layout);
  for (std::size_t i = candidate.groups.size(); i-- > 0;) {  // the smaller ones go first
    VariableRules block = block_of(candidate, candidate.groups[i]);
    if (!block.rules.empty()) {
      layout.variables.push_back(std::move(block));
    }
  }
  VariableRules params = params_of(candidate, layout);
  if (!params.rules.empty()) {
    layout.variables.push_back(std::move(params));
  }
  layout.infer = candidate.infer;
  layout.gather_again = candidate.again;
  layout.recompute = candidate.recompute;
  layout.stream = candidate.stream;
  return layout;
}

void SearchSpace::add_rules(const LayoutCandidate& candidate, Layout& layout) const {
  for (const std::size_t d : rule_order(candidate)) {
    const bool rest = mtf::has(candidate.rest, d);
    Axes axes = splitting(layout.mesh, candidate.rules[d]);
    const bool is_whole = candidate.infer && mtf::has(candidate.whole, d);
    if (is_fixed_[d] == 0 && (!axes.empty() || rest || is_whole)) {
      layout.rules.push_back(
          {.dim = dims_[d], .axes = std::move(axes), .span = layout.span, .rest = rest});
    }
  }
  for (const std::string& dim : limits_.whole) {
    if (candidate.infer && !has_rule(dim)) {  // what is to stay whole does not follow
      layout.rules.push_back({.dim = dim, .axes = {}, .span = layout.span});
    }
  }
}

// Of the variables, where they do other than the rules.
VariableRules SearchSpace::params_of(const LayoutCandidate& candidate, const Layout& layout) const {
  DimSet own = 0;  // their dims
  for (const DimSet set : candidate.variables) {
    own |= set == kAsRules ? 0 : set;
  }
  VariableRules params{.glob = "", .rules = {}, .span = layout.span};
  for (const std::size_t d : rule_order(candidate)) {
    if (mtf::has(own, d)) {
      params.rules.push_back({.dim = dims_[d],
                              .axes = splitting(layout.mesh, variable_axes(candidate, d)),
                              .span = layout.span,
                              .rest = mtf::has(candidate.rest, d)});
    }
  }
  return params;
}

std::vector<DimSet> SearchSpace::independent(const std::vector<DimSet>& apart, std::size_t mesh,
                                             AxisId axis) const {
  const Axes alone = {axis};
  const Mesh& on = limits_.meshes[mesh];
  std::vector<DimSet> sets = {0};
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    const bool fits =
        std::ranges::all_of(sizes_[d], [&](std::int64_t size) { return on.splits(size, alone); });
    for (std::size_t i = 0, end = sets.size(); fits && i < end && sets.size() < kMaxSets; ++i) {
      if ((apart[d] & sets[i]) == 0) {
        sets.push_back(sets[i] | only(d));
      }
    }
  }
  return sets;
}

std::vector<DimSet> SearchSpace::sets(std::size_t mesh, AxisId axis) const {
  std::vector<DimSet> sets = independent(apart_, mesh, axis);
  DimSet fixed = 0;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    fixed |= is_fixed_[d] != 0 ? only(d) : 0;
  }
  std::erase_if(sets, [fixed](DimSet set) { return (set & fixed) != 0; });
  return sets;
}

std::vector<DimSet> SearchSpace::variable_sets(std::size_t mesh, AxisId axis) const {
  std::vector<DimSet> sets = independent(apart_in_variables_, mesh, axis);
  DimSet known = 0;  // dims that some variable has
  for (const DimSet dims : variable_dims_) {
    known |= dims;
  }
  std::erase_if(sets, [known](DimSet set) { return set == 0 || (set & ~known) != 0; });
  return sets;
}

// Whether an axis on these dims splits a tensor of some shape twice.
bool SearchSpace::splits_twice(const std::vector<DimSet>& shapes, DimSet dims) {
  return std::ranges::any_of(shapes, [dims](DimSet shape) {
    const DimSet both = shape & dims;
    return (both & (both - 1)) != 0;
  });
}

// Whether no tensor would be split twice over the axis.
bool SearchSpace::shares_well(const LayoutCandidate& candidate, AxisId axis) const {
  DimSet split = 0;
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    split |= mtf::has(candidate.rules[d], axis) ? only(d) : 0;
  }
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    if (mtf::has(split, d) && (apart_[d] & split) != 0) {
      return false;
    }
  }
  const DimSet own = candidate.variables[axis];
  const DimSet of_variables = own == kAsRules ? split : own;
  return !splits_twice(variable_dims_, of_variables);
}

bool SearchSpace::is_consistent(const LayoutCandidate& candidate) const {
  for (std::size_t a = 0; a < axes(); ++a) {
    if (!shares_well(candidate, static_cast<AxisId>(a))) {
      return false;
    }
  }
  const Mesh& mesh = limits_.meshes[candidate.mesh];
  for (std::size_t d = 0; d < dims_.size(); ++d) {
    const bool is_ruled = is_fixed(d) || splits_all(mesh, d, candidate.rules[d]);
    if (!is_ruled || !splits_all(mesh, d, variable_axes(candidate, d))) {
      return false;
    }
  }
  return std::ranges::all_of(candidate.groups,
                             [&](const GroupAxes& own) { return fits(candidate, own); });
}

bool operator<(const LayoutCandidate& a, const LayoutCandidate& b) {
  const auto all = [](const LayoutCandidate& c) {
    return std::tie(c.mesh, c.rules, c.variables, c.rest, c.rest_first, c.again, c.stream,
                    c.recompute, c.infer, c.whole, c.groups);
  };
  return all(a) < all(b);
}

}  // namespace mtf
