// What each step reads and makes, apart from the steps, which are large: orders of them are tried
// on this alone, and no step is moved before one of them is taken.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/loops/loops.h"
#include "lowering/spmd.h"

namespace mtf {

enum class UseKind : std::uint8_t { kRead, kResult, kPartial };

struct Use {
  SpmdId value;
  UseKind kind = UseKind::kRead;
};

[[nodiscard]] bool reads(std::span<const Use> uses, SpmdId id);

// Of a step, which is in SpmdProgram::steps at `step`.
struct StepUse {
  std::uint32_t step = 0;
  std::uint32_t begin = 0;  // in StepUses::all: call by call, what it reads before what it makes
  std::uint32_t end = 0;
  bool is_kernel = false;
  bool is_collective = false;
  bool is_lone = false;  // has one call
  bool has_effect = false;
  bool makes_number = false;  // of none, or of such as are there at first: may go before all else
  bool in_pieces = false;     // a call done part by part
  bool with_next = false;     // goes in one message with the next step
  bool passes = false;        // gathers what the next step that does not reads in pieces
  LoopMark mark = LoopMark::kNone;
};

// Of a value on a rank, in bytes.
struct ValueBytes {
  std::int64_t local = 0;
  std::int64_t held = 0;
};

class StepUses {
 public:
  explicit StepUses(const SpmdProgram& program);

  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  [[nodiscard]] const StepUse& operator[](std::size_t step) const { return steps_[step]; }
  [[nodiscard]] const std::vector<StepUse>& steps() const { return steps_; }
  [[nodiscard]] std::span<const Use> of(std::size_t step) const {
    return std::span(all_).subspan(steps_[step].begin, steps_[step].end - steps_[step].begin);
  }
  [[nodiscard]] const ValueBytes& bytes(SpmdId id) const { return bytes_[at(id)]; }
  // As done_at of the program.
  [[nodiscard]] std::size_t done(std::size_t step) const;
  // The step that ends its message, or itself: what it makes is there behind that.
  [[nodiscard]] std::size_t sent(std::size_t step) const;
  [[nodiscard]] std::vector<LoopMark> marks() const;

  // `order`: the present number of each step, in their new order.
  void reorder(std::span<const std::size_t> order);
  void restore(std::vector<StepUse> steps) { steps_ = std::move(steps); }

 private:
  std::vector<Use> all_;
  std::vector<StepUse> steps_;
  std::vector<ValueBytes> bytes_;  // per value
};

}  // namespace mtf
