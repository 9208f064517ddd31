#include "lowering/known/known_plans.h"

#include <utility>

namespace mtf {
namespace {

// Not more than a program in which equal things share their memory has.
template <typename Places>
void remember(Places& places, typename Places::key_type place, typename Places::mapped_type known) {
  constexpr std::size_t kMost = std::size_t{1} << 14;
  if (places.size() >= kMost) {
    places.clear();
  }
  places.insert_or_assign(place, std::move(known));
}

void add_axes(const Axes& axes, ContentHash& hash) {
  std::size_t part = axes.size();
  for (const AxisId axis : axes) {
    part = part * (kMaxAxes + 1) + axis + 1;
  }
  hash.add(part);
}

}  // namespace

Number KnownPlans::type(const TensorType& type) {
  const std::uint64_t place = (reinterpret_cast<std::uintptr_t>(type.shape.dims().data()) << 8U) +
                              static_cast<std::uint64_t>(type.dtype);
  if (const auto known = type_places_.find(place); known != type_places_.end()) {
    return known->second.number;
  }
  ContentHash hash;
  hash.add(static_cast<std::size_t>(type.dtype));
  add_shape(type.shape, hash);
  const Number number = types_.number(hash.value(), type);
  remember(type_places_, place, {.kept = type, .number = number});
  return number;
}

Number KnownPlans::args(const OpArgs& args) {
  const OpArgs::Entry* place = args.entries().data();
  if (const auto known = args_places_.find(place); known != args_places_.end()) {
    return known->second.number;
  }
  const Number number = args_.number(content_hash(args), {args});
  remember(args_places_, place, {.kept = args, .number = number});
  return number;
}

Number KnownPlans::call(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  scratch_ = {reinterpret_cast<std::uintptr_t>(value.op), args(value.args), type(value.type)};
  for (const ValueId operand : value.operands) {
    scratch_.push_back(type(program.at(operand).type));
  }
  if (const std::optional<Number> known = call_numbers_.find(scratch_)) {
    return *known;
  }
  calls_.emplace_back(unsplit_call(program, id));
  return call_numbers_.number(scratch_);
}

Number KnownPlans::layout(const ValueLayout& layout) {
  ContentHash hash;
  for (const Axes& axes : layout.dims) {
    add_axes(axes, hash);
  }
  add_axes(layout.partial, hash);
  hash.add(layout.where.size());
  hash.add(layout.reach.size());
  const Number number = layouts_.number(hash.value(), layout);
  if (number == shared_layouts_.size()) {
    shared_layouts_.emplace_back(layout);
  }
  return number;
}

const TensorType& KnownPlans::local(const TensorType& whole, Number layout, const Mesh& mesh) {
  const std::uint64_t key = (std::uint64_t{type(whole)} << 32U) | layout;
  const auto [known, is_new] = locals_.try_emplace(key);
  if (is_new) {
    known->second = {whole.dtype, local_shape(whole.shape, shared_layouts_[layout], mesh)};
  }
  return known->second;
}

Number KnownPlans::target(const Target& target) {
  scratch_ = {layout(target.layout)};
  scratch_.insert(scratch_.end(), target.firm.begin(), target.firm.end());
  return targets_.number(scratch_);
}

}  // namespace mtf
