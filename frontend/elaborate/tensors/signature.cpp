// What a function was built for, compared with what it is called with.
//
// Host values must be the same, tensors of the same type: which one each is, is told to the unit at
// every run. Two names that stood for one tensor must do so again.

#include <algorithm>

#include "frontend/elaborate/call.h"

namespace mtf::host {
namespace {

bool matches_tensor(const Tensor& pattern, const Tensor& tensor, std::vector<TensorHandle>& slots) {
  if (pattern.where == Where::kVariable || tensor.where == Where::kVariable) {
    return pattern.where == tensor.where && pattern.variable == tensor.variable &&
           pattern.lasting == tensor.lasting && pattern.picks == tensor.picks;
  }
  if (pattern.where != Where::kSlot || tensor.where != Where::kHandle ||
      !(pattern.type == tensor.type) || pattern.whole != tensor.whole) {
    return false;
  }
  if (pattern.index < 0) {  // only its type was looked at
    return true;
  }
  TensorHandle& slot = slots[static_cast<std::size_t>(pattern.index)];
  if (slot != nullptr) {
    return slot == tensor.handle;
  }
  slot = tensor.handle;
  return true;
}

bool all_match(const Values& patterns, const Values& values, std::vector<TensorHandle>& slots) {
  return std::ranges::equal(patterns, values, [&slots](const Value& pattern, const Value& value) {
    return matches(pattern, value, slots);
  });
}

}  // namespace

Value as_pattern(Value value, const Recording& unit) {
  return map_tensors(std::move(value), [&unit](Tensor& tensor) {
    if (tensor.where == Where::kHandle) {
      const std::optional<std::size_t> slot = unit.slot_of(tensor.handle);
      tensor.where = Where::kSlot;
      tensor.index = slot ? static_cast<std::int32_t>(*slot) : -1;
      tensor.handle = nullptr;
    }
  });
}

bool matches(const Value& pattern, const Value& value, std::vector<TensorHandle>& slots) {
  if (pattern.node.index() != value.node.index()) {
    return false;  // 1 and 1.0 are equal, but make different programs
  }
  if (const auto* tensor = pattern.get<Tensor>()) {
    return matches_tensor(*tensor, *value.get<Tensor>(), slots);
  }
  if (const auto* list = pattern.get<List>()) {
    return all_match(*list->items, *value.get<List>()->items, slots);
  }
  if (const auto* results = pattern.get<Results>()) {
    return all_match(*results->items, *value.get<Results>()->items, slots);
  }
  if (const auto* shape = pattern.get<Shape>()) {
    return *shape == *value.get<Shape>();  // the order too
  }
  return equal(pattern, value);
}

}  // namespace mtf::host
