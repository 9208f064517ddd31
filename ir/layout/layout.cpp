// Layouts of values: whose rules, which slices, in words.

#include "ir/layout/layout.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "ir/layout/glob.h"

namespace mtf {
namespace {

// "x", or "(x, y)" for several.
std::string grouped(const Mesh& mesh, const Axes& axes) {
  const std::string list = to_string(mesh, axes);
  return axes.size() == 1 ? list : "(" + list + ")";
}

}  // namespace

bool VariableRules::names_let(std::string_view path) const {
  return lets && matches_whole(glob, path);
}

std::string title_of(const VariableRules& block) {
  return block.glob.empty() ? "params" : (block.lets ? "at let \"" : "at \"") + block.glob + "\"";
}

bool VariableRules::names(std::string_view path) const {
  return !lets && (glob.empty() || matches_path(glob, path));
}

Layout::Rules Layout::rules_for(std::string_view variable) const {
  std::vector<const VariableRules*> blocks;
  for (const VariableRules& block : variables) {
    if (!variable.empty() && block.names(variable)) {
      blocks.push_back(&block);
    }
  }
  return rules_for(blocks);
}

Layout::Rules Layout::rules_for(std::span<const VariableRules* const> blocks) const {
  Rules found;
  for (const VariableRules* block : blocks) {
    for (const Rule& rule : block->rules) {
      found.list.push_back(&rule);
    }
  }
  found.firm = found.list.size();
  for (const Rule& rule : rules) {
    found.list.push_back(&rule);
  }
  found.firm = found.firm == 0 ? found.list.size() : found.firm;
  return found;
}

ValueLayout Target::firm_layout() const {
  ValueLayout result = layout;
  for (std::size_t d = 0; d < result.dims.size(); ++d) {
    result.dims[d].resize(firm[d]);
  }
  result.where.clear();
  return result;
}

Target unsplit(const Shape& shape) {
  return {.layout = replicated(shape),
          .firm = std::vector<std::size_t>(shape.rank()),
          .causes = std::vector<std::vector<Cause>>(shape.rank())};
}

bool ValueLayout::is_replicated() const {
  return partial.empty() && where.empty() &&
         std::ranges::all_of(dims, [](const Axes& axes) { return axes.empty(); });
}

bool ValueLayout::uses(AxisId axis) const {
  return has(partial, axis) ||
         std::ranges::any_of(dims, [axis](const Axes& axes) { return has(axes, axis); }) ||
         std::ranges::find(where, axis, &Condition::axis) != where.end();
}

ValueLayout replicated(const Shape& shape) {
  return {.dims = std::vector<Axes>(shape.rank()), .partial = {}};
}

bool holds(const ValueLayout& layout, const Mesh& mesh, std::int64_t rank) {
  return std::ranges::all_of(layout.where, [&](const Condition& condition) {
    const std::int64_t wanted =
        condition.same ? mesh.index_along(rank, {*condition.same}) : condition.at;
    return mesh.index_along(rank, {condition.axis}) == wanted;
  });
}

namespace {

constexpr std::int64_t floored(std::int64_t x, std::int64_t y) {
  return x / y - (x % y < 0 ? 1 : 0);
}

constexpr std::int64_t to_multiple(std::int64_t x, std::int64_t y) {
  return (x + y - 1) / y * y;
}

// What a block reads of a dim of `size`.
Interval reached(const Reach& reach, std::int64_t size, Interval block) {
  if (block.extent == 0) {
    return {};
  }
  const std::int64_t first = block.begin / reach.tile * reach.tile;
  const std::int64_t last = std::min(to_multiple(block.end(), reach.tile), reach.size) - 1;
  const std::int64_t low = first * reach.stride + reach.offset;
  const std::int64_t high = last * reach.stride + reach.offset + reach.length - 1;
  const std::int64_t end = floored(high, reach.up) + 1;
  const std::int64_t begin = std::clamp<std::int64_t>(-floored(-low, reach.up), 0, size);
  return from_to(begin, std::clamp(end, begin, size));
}

const Reach* reach_of(const ValueLayout& layout, std::size_t dim) {
  const auto found = std::ranges::find(layout.reach, dim, &Reach::dim);
  return found == layout.reach.end() ? nullptr : &*found;
}

Interval part_of(const Dim& dim, const Axes& axes, const Reach* reach, const Mesh& mesh,
                 const Coordinates& at) {
  return reach == nullptr ? mesh.part_of(dim.size, axes, at)
                          : reached(*reach, dim.size, mesh.part_of(reach->size, axes, at));
}

// The next place along the axes, the last of them fastest.
void go_on(Coordinates& at, const Axes& axes, const Mesh& mesh) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (++at.at(axes[i]) < mesh.axes[axes[i]].size) {
      return;
    }
    at.at(axes[i]) = 0;
  }
}

// Most blocks between the first and the last one reach as far as any may: few are looked at.
std::int64_t longest_reached(const Dim& dim, const Axes& axes, const Reach& reach,
                             const Mesh& mesh) {
  const std::int64_t part = mesh.longest_part(reach.size, axes);
  const bool is_even = reach.size % mesh.size_of(axes) == 0;
  const std::int64_t step = is_even ? std::gcd(part, reach.tile) : 1;  // between parts' beginnings
  const std::int64_t block = to_multiple(reach.tile - step + part, reach.tile);
  const std::int64_t span = (block - 1) * reach.stride + reach.length - 1;
  const std::int64_t most = std::min(dim.size, floored(span, reach.up) + 1);
  std::int64_t longest = 0;
  Coordinates at = {};
  for (std::int64_t left = mesh.size_of(axes); left > 0 && longest < most; --left) {
    longest = std::max(longest, part_of(dim, axes, &reach, mesh, at).extent);
    go_on(at, axes, mesh);
  }
  return longest;
}

}  // namespace

Shape local_shape(const Shape& shape, const ValueLayout& layout, const Mesh& mesh) {
  assert(layout.dims.size() == shape.rank());
  if (layout.reach.empty() &&
      std::ranges::all_of(layout.dims, [](const Axes& axes) { return axes.empty(); })) {
    return shape;  // and share its dims
  }
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Reach* reach = reach_of(layout, i);
    dims[i].size = reach == nullptr ? mesh.longest_part(dims[i].size, layout.dims[i])
                                    : longest_reached(dims[i], layout.dims[i], *reach, mesh);
  }
  return Shape(std::move(dims));
}

Interval block_at(const Shape& shape, const ValueLayout& layout, const Mesh& mesh,
                  const Coordinates& at, std::size_t dim) {
  return part_of(shape[dim], layout.dims[dim], reach_of(layout, dim), mesh, at);
}

Slice slice_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh, std::int64_t rank) {
  Slice slice;
  const bool is_held = holds(layout, mesh, rank);
  const Coordinates at = mesh.place_of(rank);
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const Interval part = block_at(shape, layout, mesh, at, i);
    slice.offset.push_back(part.begin);
    slice.extent.push_back(is_held ? part.extent : 0);
  }
  return slice;
}

Shape shape_of(const Shape& shape, const Slice& slice) {
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    dims[i].size = slice.extent[i];
  }
  return Shape(std::move(dims));
}

Slice intersection(const Slice& a, const Slice& b) {
  Slice both;
  for (std::size_t d = 0; d < a.offset.size(); ++d) {
    const std::int64_t begin = std::max(a.offset[d], b.offset[d]);
    const std::int64_t end = std::min(a.offset[d] + a.extent[d], b.offset[d] + b.extent[d]);
    both.offset.push_back(begin);
    both.extent.push_back(std::max<std::int64_t>(end - begin, 0));
  }
  return both;
}

std::int64_t volume_of(const Slice& slice) {
  std::int64_t volume = 1;
  for (const std::int64_t extent : slice.extent) {
    volume *= extent;
  }
  return volume;
}

std::string to_string(const Shape& shape, const ValueLayout& layout, const Mesh& mesh) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    text += i > 0 ? ", " : "";
    text += shape[i].name;
    if (!layout.dims[i].empty()) {
      text += ": " + grouped(mesh, layout.dims[i]);
    }
  }
  text += "]";
  text += layout.partial.empty() ? "" : " partial(" + to_string(mesh, layout.partial) + ")";
  return layout.where.empty() ? text : text + " " + to_string(layout.where, mesh);
}

std::string to_string(const Rule& rule, const Mesh& mesh) {
  std::string text = rule.dim + " -> ";
  if (rule.rest) {
    text += rule.axes.empty() ? "*" : "(" + to_string(mesh, rule.axes) + ", *)";
  } else {
    text += rule.axes.empty() ? "()" : grouped(mesh, rule.axes);
  }
  return rule.where.empty() ? text : text + " " + to_string(rule.where, mesh);
}

std::string to_string(std::span<const Condition> where, const Mesh& mesh) {
  std::string text;
  for (const Condition& condition : where) {
    text += text.empty() ? "where " : " and ";
    const AxisId other = condition.same.value_or(condition.axis);
    text += mesh.axes[std::min(condition.axis, other)].name + " == ";
    text += condition.same ? mesh.axes[std::max(condition.axis, other)].name
                           : std::to_string(condition.at);
  }
  return text;
}

}  // namespace mtf
