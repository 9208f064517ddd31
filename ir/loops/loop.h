// Loops on the device, in the list of a program:
//
//   y = loop.carry(x)      of each value that the trips hand on: before the first one it is x
//   loop.while(c)          a trip, if the carried c holds; else on behind the end
//   …                      the trip
//   y <- z                 for each: what it is in the next trip; all at once
//   loop.end()             back to loop.while
//
// Behind the loop, `y` is what it was when the condition failed. Nothing else that a trip makes is
// read outside of it.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"

namespace mtf {

[[nodiscard]] inline bool is(const Value& value, Primitive primitive) {
  return value.op != nullptr && value.op->primitive == primitive;
}

[[nodiscard]] inline bool is_of_loop(const OpDef& op) {
  return op.primitive == Primitive::kCarry || op.primitive == Primitive::kWhile ||
         op.primitive == Primitive::kNext || op.primitive == Primitive::kAgain;
}
[[nodiscard]] inline bool is_of_loop(const Value& value) {
  return value.op != nullptr && is_of_loop(*value.op);
}

// Per value the innermost loop that it is made in, as the place of its beginning; -1: none.
[[nodiscard]] std::vector<std::int32_t> loops_around(const Program& program);

// "" or what is wrong with the loops of a program.
[[nodiscard]] std::string check_loops(const Program& program);

}  // namespace mtf
