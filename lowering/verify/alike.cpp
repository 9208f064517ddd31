#include "lowering/verify/alike.h"

namespace mtf {

bool Alike::is_new(SpmdId slice) {
  const SpmdValue& value = program_.at(slice);
  key_.clear();
  key_.add_type(value.type);
  key_.add_type(value.local);
  key_.add_shared(&*value.layout);
  const std::size_t before = kinds_of_slices_.size();
  slices_[at(slice)] = kinds_of_slices_.number(key_.parts());
  return slices_[at(slice)] == before;
}

bool Alike::is_new(const LocalCall& call, std::span<const Combine> combine) {
  key_.clear();
  key_.add_shared(call.split->call.op);
  key_.add_shared(&*call.split->space);
  key_.add(static_cast<std::uint64_t>(call.part));
  for (const Axes& axes : call.split->loops) {
    key_.add_axes(axes);
  }
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    key_.add(slices_[at(call.operands[i])]);
    key_.add(static_cast<std::uint64_t>(combine[i]));
  }
  if (call.result.valid()) {
    key_.add(slices_[at(call.result)]);
  }
  const std::size_t before = kinds_of_calls_.size();
  return kinds_of_calls_.number(key_.parts()) == before;
}

bool Alike::is_new(const Step& step) {
  key_.clear();
  key_.add(static_cast<std::uint64_t>(step.kind));
  key_.add(slices_[at(step.from)]);
  key_.add(slices_[at(step.to)]);
  key_.add_axes(step.axes);
  key_.add(static_cast<std::uint64_t>(step.elements));
  key_.add(static_cast<std::uint64_t>(step.received));
  const std::size_t before = kinds_of_steps_.size();
  return kinds_of_steps_.number(key_.parts()) == before;
}

}  // namespace mtf
