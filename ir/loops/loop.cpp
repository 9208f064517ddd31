#include "ir/loops/loop.h"

#include <algorithm>

namespace mtf {

std::vector<std::int32_t> loops_around(const Program& program) {
  std::vector<std::int32_t> around(program.values.size(), -1);
  std::vector<std::int32_t> open;
  for (std::size_t i = 0; i < around.size(); ++i) {
    const Value& value = program.values[i];
    if (is(value, Primitive::kAgain) && !open.empty()) {
      open.pop_back();
    }
    around[i] = open.empty() || value.op == nullptr ? -1 : open.back();
    if (is(value, Primitive::kWhile)) {
      open.push_back(static_cast<std::int32_t>(i));
    }
  }
  return around;
}

std::string check_loops(const Program& program) {
  const std::vector<std::int32_t> around = loops_around(program);
  std::vector<std::int32_t> open{-1};
  const auto is_seen = [&](ValueId id) {
    return std::ranges::find(open, around[at(id)]) != open.end();
  };
  for (const Value& value : program.values) {
    if (!std::ranges::all_of(value.operands, is_seen)) {
      return "a value is read outside of the loop whose trips make it";
    }
    if (is(value, Primitive::kWhile)) {
      open.push_back(static_cast<std::int32_t>(&value - program.values.data()));
    } else if (is(value, Primitive::kAgain)) {
      open.pop_back();
      if (open.empty()) {
        return "a loop ends that did not begin";
      }
    } else if (is(value, Primitive::kNext) &&
               (!is(program.at(value.operands.front()), Primitive::kCarry) || open.size() == 1)) {
      return "what takes a new value in a trip is not carried";
    }
  }
  if (open.size() != 1) {
    return "a loop does not end";
  }
  const auto leaves = [&](ValueId id) { return is_seen(id); };
  return std::ranges::all_of(program.outputs, leaves) &&
                 std::ranges::all_of(program.updates, leaves, &Update::value)
             ? ""
             : "what a trip makes leaves the program";
}

}  // namespace mtf
