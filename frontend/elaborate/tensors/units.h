// Units: tensor work that is complete, run on the device.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "frontend/elaborate/evaluate.h"
#include "ir/support/number.h"

namespace mtf::host {

// Tensor work of one top-level statement: `evaluate` records it, then it is run, and the tensors of
// the values are the device's. Variables stay what they are, unless `freeze`.
[[nodiscard]] Values compute(Context& c, const std::function<Values()>& evaluate,
                             bool freeze = true);
[[nodiscard]] Value compute(Context& c, const ast::Expr& expr, bool freeze = true);
// The parts of a `print`, joined.
[[nodiscard]] std::optional<Pieces> compute_pieces(Context& c, std::span<const ast::Expr> exprs);

// What a name is bound to: in a function the value of a variable as of now, at top level tensors
// that the device holds.
[[nodiscard]] Value evaluate_bound(Context& c, const ast::Expr& expr);
// A variable as of now; other values as they are. What is in a list of `params` stays a variable.
[[nodiscard]] Value frozen(Units& units, Value value, SourceSpan span);

// Runs a finished unit in the layout of the program; nullopt after an error.
[[nodiscard]] std::optional<std::vector<TensorHandle>> run_unit(
    Reporter& report, Layouts& layouts, Execution& execution, const Unit& unit,
    std::span<const TensorHandle> arguments);
// The value for each position of the dims: repeated, or made anew for each if it is random
// (loops/each.cpp).
[[nodiscard]] std::optional<ValueId> for_each_position(
    Units& units, const Shape& dims, const std::function<std::optional<ValueId>()>& value);
// Of what `each` picks from (loops/picked.cpp): a variable of which no more is seen, what is seen
// of its value or gradient, and the variable with `now` there.
[[nodiscard]] Value picked_variable(Context& c, const Operand& variable);
[[nodiscard]] Value picked_of(Units& units, const Operand& whole,
                              const std::vector<Picked>& picked);
[[nodiscard]] Value with_picked(Context& c, const Tensor& variable, const Operand& now);
// A scalar tensor that the device holds.
[[nodiscard]] std::optional<TensorHandle> device_number(Context& c, const Operand& number,
                                                        DType dtype);

// ---- functions that are built anew for each value of a number (rebuilt.cpp) -----------------

// Before another one is built: of many, the one that was not called for longest goes.
void make_room(Units& units, const ast::Fn& fn);
// Tells, once, of a parameter whose values differ between programs that are the same but for them.
// `calls`: where the arguments of the newest stand, one per parameter.
void warn_of_rebuilt(Units& units, const ast::Fn& fn, std::span<const SourceSpan> calls);

}  // namespace mtf::host
