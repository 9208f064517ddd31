// The IR: a list of values in SSA form, each one operation on earlier values, or an input.
//
// A program is one unit of execution: the body of a function called at top level, or one top-level
// statement. It says nothing about ranks.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/op.h"

namespace mtf {

struct ValueId {
  std::int32_t index = -1;

  [[nodiscard]] bool valid() const { return index >= 0; }
  friend auto operator<=>(ValueId, ValueId) = default;  // NOLINT(modernize-use-nullptr): clang 14
};
[[nodiscard]] inline std::size_t at(ValueId id) {
  return static_cast<std::size_t>(id.index);
}

// The call that led to a value; chains end at -1.
struct Frame {
  std::string function;
  SourceSpan call;
  std::int32_t parent = -1;
};

// What `recompute` blocks compute is computed again for gradients, in copies of its own.
struct Recomputation {
  std::int32_t block = -1;  // that the value was made in, in the order of the program, or none
  std::int32_t again = 0;   // made anew for a gradient: equal only to values of the same number
  ValueId of = {};          // of a copy: what it is a copy of
  // Of a draw in a program without its copies: its place in the one with them. None: its own.
  std::int32_t drawn_at = -1;
};

struct Value {
  const OpDef* op = nullptr;  // null: an input
  std::vector<ValueId> operands;
  OpArgs args;
  TensorType type;
  SourceSpan span;
  std::int32_t frame = -1;   // in Program::frames
  std::string name;          // as the user bound it, or empty
  bool internal = false;     // made by a rewrite: where the rules do not fit it, they give way
  bool backward = false;     // made by a gradient
  std::int32_t region = -1;  // in Program::regions: made under `with layout`
  std::string variable;      // path of the variable whose layout it takes, or empty
  Recomputation recompute = {};
  const OpDef* written = nullptr;  // of what a definition gives: the operation that was called
};

enum class InputKind : std::uint8_t { kArgument, kCaptured, kParam, kState };

struct Input {
  ValueId value;
  InputKind kind = InputKind::kArgument;
  std::string name;  // of the argument or captured tensor; the path of a param or state

  [[nodiscard]] bool is_variable() const {
    return kind == InputKind::kParam || kind == InputKind::kState;
  }
};

// At the end of the program the variable takes the value.
struct Update {
  std::size_t input = 0;  // in Program::inputs
  ValueId value;
};

// What a `let` called a value, behind the path of the call that it is in: "net/attention/scores".
// The value's gradient and what is computed anew of it have the same.
struct Let {
  std::string path;
  ValueId value;
};

struct Program {
  std::string name;  // the entry: "train_step", or "top level"
  std::vector<Value> values;
  std::vector<Input> inputs;
  std::vector<ValueId> outputs;
  std::vector<Update> updates;
  std::vector<Frame> frames;
  std::vector<Layout> regions;
  std::vector<Let> lets;  // of what rewrites have left

  [[nodiscard]] const Value& at(ValueId id) const {
    return values[static_cast<std::size_t>(id.index)];
  }
  [[nodiscard]] Value& at(ValueId id) { return values[static_cast<std::size_t>(id.index)]; }
  [[nodiscard]] ValueId last() const { return {static_cast<std::int32_t>(values.size()) - 1}; }
};

// The types of a value's operands, with its arguments: what the rules of its operation take.
[[nodiscard]] OpCall call_of(const Program& program, ValueId id);

// The place that draws of random numbers depend on; a copy draws what its original did.
[[nodiscard]] std::uint64_t draw_place(const Program& program, ValueId id);

// How often each value is read: by operations, outputs and updates.
[[nodiscard]] std::vector<int> count_uses(const Program& program);

// "`h`", or "the result of `einsum`", for messages.
[[nodiscard]] std::string describe(const Program& program, ValueId id);
// One note per call that led to the value, innermost first.
[[nodiscard]] std::vector<Note> notes_of(const Program& program, ValueId id);

// Text of the program, one line per value; equal programs have equal text. `--emit ir`.
[[nodiscard]] std::string to_string(const Program& program);
[[nodiscard]] std::string to_string(const OpArgs& args);  // "over = [io]", no operands

// Empty, or what is wrong with the program: an internal error, checked after every phase.
[[nodiscard]] std::string verify(const Program& program);

}  // namespace mtf
