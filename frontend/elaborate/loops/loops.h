// Loops on tensors in a function.

#pragma once

#include <string>
#include <vector>

#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/variables.h"

namespace mtf::host {

// Where a block and the blocks in it assign to names, in order.
[[nodiscard]] std::vector<ast::Name> assigned_in(const ast::Block& block);

// A `var` of outside that a body sets, and where.
struct Handed {
  ast::Name name;
  Binding* binding = nullptr;
};
[[nodiscard]] std::vector<Handed> handed_by(const Names& names, const ast::Block& body);

// Tensors of the unit as of now; numbers, too, as scalars. What is neither stays what it is.
// `declared`: where the `var` is.
[[nodiscard]] Value as_tensors(Context& c, const Value& value, SourceSpan span,
                               SourceSpan declared);
// What a trip made of a value, of the type that it had before; nullopt after an error. requires:
// none is unknown, and `before` is from `as_tensors`, but for its lists.
[[nodiscard]] std::optional<Value> after_trip(Context& c, const ast::Name& name,
                                              const Value& before, const Value& set);

// Whether a condition is a tensor whose value is not known while the function is built.
[[nodiscard]] bool is_on_device(const Context& c, const Value& condition);
// The condition of a loop as a bool of the unit; nullopt after an error.
[[nodiscard]] std::optional<ValueId> loop_condition(Context& c, const Operand& condition);

// The variables that the calls around have declared so far: what runs again uses them again.
[[nodiscard]] Declared declared_so_far(const Context& c);
void declare_again(Context& c, const Declared& declared);

// A `while` as a loop on the device. `first`: its condition before the first trip; `declared`:
// before that was evaluated.
[[nodiscard]] Flow run_device_loop(Context& c, const ast::While& loop, const Value& first,
                                   const Declared& declared);

// A turn of `for … while`, which changes nothing where the condition of it, or of one before,
// failed. `alive`: that none has, of the turns so far; invalid before the first.
[[nodiscard]] Flow run_bounded_turn(Context& c, const ast::For& loop, const Value& condition,
                                    ValueId& alive);

}  // namespace mtf::host
