// Numbers on the host, and operations on nothing else.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/elaborate/host/operators.h"
#include "ir/op.h"

namespace mtf::host {

[[nodiscard]] bool is_number(const Value& value);  // int, float, bool, dim
[[nodiscard]] std::optional<double> number_of(const Value& value);
// Whether it is a whole number that a double may not hold.
[[nodiscard]] bool is_beyond_doubles(const Value& value);

// On plain numbers an operation stays on the host: `sqrt(from)`. nullopt: these are no such, or it
// cannot.
[[nodiscard]] std::optional<Value> on_host(Reporter& report, OpTable ops, const OpDef& op,
                                           std::span<const Operand> operands, const OpArgs& args,
                                           SourceSpan span);

// Nested lists of numbers in one row.
struct NumberRow {
  std::vector<double> numbers;
  std::vector<std::int64_t> whole;   // as many, if all are whole; else none
  std::vector<std::size_t> extents;  // the length at each depth
  bool only_flags = true;
  bool only_ints = true;    // that any dtype of numbers holds exactly
  std::string long_number;  // one that a double may not hold
};

// A number, or lists that are nested equally deep. False after an error.
[[nodiscard]] bool flatten(Reporter& report, const Operand& data, NumberRow& row);

}  // namespace mtf::host
