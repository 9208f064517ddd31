// Operators on host values: exact whole numbers, and errors where NumPy would wrap or warn.

#pragma once

#include <optional>

#include "frontend/elaborate/host/value.h"
#include "frontend/elaborate/report.h"

namespace mtf::host {

// A value and the text it comes from.
struct Operand {
  Value value;
  SourceSpan span;
};

// requires: no operand is a tensor.
[[nodiscard]] Value host_binary(Reporter& report, OpTable ops, ast::BinaryOp op, const Operand& a,
                                const Operand& b, SourceSpan span);
[[nodiscard]] Value host_unary(Reporter& report, ast::UnaryOp op, const Operand& a,
                               SourceSpan span);

// Numbers, and dims as their size.
[[nodiscard]] std::optional<std::int64_t> as_int(const Value& value);
[[nodiscard]] std::optional<double> as_real(const Value& value);  // ints too
// A shape, or what can stand for one: a dim, an empty list.
[[nodiscard]] std::optional<Shape> as_shape(const Value& value);
// And those of a list of these, each once: of `[from, to]`, where both may be several dims.
[[nodiscard]] std::optional<Shape> dims_in(const Value& value);

}  // namespace mtf::host
