// Statements, run one after the other. At top level each is complete, on the device too, before the
// next one starts; in a function they add to the unit under construction.

#pragma once

#include <span>

#include "frontend/elaborate/context.h"
#include "frontend/elaborate/host/operators.h"

namespace mtf::host {

// In the order in which one outweighs the other.
enum class Flow : std::uint8_t {
  kNext,
  kContinue,
  kBreak,
  kReturn,
  kEnd,  // a check that went on for long enough
};

[[nodiscard]] Flow run_block(Context& c, const ast::Block& block);  // in a scope of its own
[[nodiscard]] Flow run_statements(Context& c, std::span<const ast::Stmt> statements);

// control.cpp
[[nodiscard]] Flow run_for(Context& c, const ast::For& loop);
[[nodiscard]] Flow run_while(Context& c, const ast::While& loop, SourceSpan span);
[[nodiscard]] Flow run_recompute(Context& c, const ast::Recompute& region);
[[nodiscard]] Flow run_if(Context& c, const ast::If& choice);

// output.cpp
void run_print(Context& c, const ast::Print& print, SourceSpan span);
void run_assert(Context& c, const ast::Assert& assertion, SourceSpan span);

// host/checkpoint.cpp
void run_checkpoint(Context& c, const ast::Checkpoint& checkpoint, SourceSpan span);
// Whether a turn of the loop saves, or would if a run that is to end asks for it.
[[nodiscard]] bool has_place_to_save(const Context& c, const ast::Block& body);
// Of an `if` whose condition does not hold, for a run that is to end: the saves alone, if the rest
// of its block assigns nothing, as what evaluates and tells of it.
void run_saves(Context& c, const ast::If& choice);

// variable.cpp
void declare_variable(Context& c, const ast::Variable& variable, SourceSpan span);
void run_update(Context& c, const ast::Update& update, SourceSpan span);
// A value for a variable of the type; nullopt after an error.
[[nodiscard]] std::optional<ValueId> fitted(Units& units, const Operand& operand,
                                            const TensorType& type);

// differentiate.cpp
void run_minimize(Context& c, const ast::Minimize& minimize, SourceSpan span);

}  // namespace mtf::host
