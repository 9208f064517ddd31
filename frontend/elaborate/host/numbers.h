// Numbers on the host, and operations on nothing else.

#pragma once

#include <optional>
#include <span>

#include "frontend/elaborate/host/operators.h"
#include "ir/op.h"

namespace mtf::host {

[[nodiscard]] bool is_number(const Value& value);  // int, float, bool, dim
[[nodiscard]] std::optional<double> number_of(const Value& value);
// Whether it is a whole number that a double may not hold.
[[nodiscard]] bool is_beyond_doubles(const Value& value);

// On plain numbers an operation stays on the host: `sqrt(from)`. nullopt: these are no such, or it
// cannot.
[[nodiscard]] std::optional<Value> on_host(Reporter& report, const OpDef& op,
                                           std::span<const Operand> operands, const OpArgs& args,
                                           SourceSpan span);

}  // namespace mtf::host
