// Looks for the first value of a run that is not finite.
//
// A NaN is reported by the operation that makes it: all operands were looked at before. So is an
// infinity, unless an operand has one already or the program wrote it down (a constant, a fill, an
// argument): where an infinity is meant, only the NaN that comes of it is wrong. Gradients that the
// program itself tests (expected.h), and what is computed from them, may be either. What a run is
// given, and what only came from other ranks, is looked at when something is found that was made of
// it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/execute/executor_host.h"
#include "runtime/execute/tensor.h"

namespace mtf {

struct PreparedProgram;

// Elements of a rank's slice: some that lie behind each other in a band of it, which has the shape
// `of` and begins at `at` of the slice along the leading dims.
struct PartOfBand {
  const void* data = nullptr;
  std::int64_t begin = 0;
  std::int64_t count = 0;
  const Shape& of;
  std::span<const std::int64_t> at = {};
};

class FiniteWatch {
 public:
  FiniteWatch(Communicator& communicator, std::vector<RankHost>& hosts)
      : communicator_(communicator), hosts_(hosts) {}

  // Before the first step of a run.
  void begin(const PreparedProgram& prepared);
  // A step is done, whatever it was but a chain.
  void done(const PreparedProgram& prepared, std::size_t step);
  // A chain of such calls begins on a local rank.
  void starts(std::size_t rank, std::span<const LocalCall* const> calls);
  // What a call of the chain makes, where it may be not finite.
  void made(std::size_t rank, const LocalCall& call, const PartOfBand& part);

 private:
  struct Found {
    std::int64_t place = -1;  // of the first NaN, else infinity, row by row
    bool is_nan = false;
    double value = 0;
  };

  enum class Seen : std::uint8_t { kFinite, kInfinite, kExpected, kUnknown };

  // What is looked at: of whom, and what it is made of; `excused`: infinities are meant, or came
  // with that.
  struct Made {
    std::size_t rank = 0;
    const LocalCall* call = nullptr;  // null: of none
    SpmdId id = {};
    std::span<const SpmdId> of = {};
    bool excused = false;
  };

  void look(const Made& made, const PartOfBand& part);
  // Whether the rank has no element of what it is made of: of a maximum that is split, a part of
  // -inf, which is no number of the program.
  [[nodiscard]] bool is_of_nothing(const Made& made) const;
  void look_at_slice(const Made& made);
  void look_at_move(std::size_t rank, const Step& step);
  void look_at_message(std::size_t rank, std::size_t last);
  void report(const Made& made, const Found& found, const PartOfBand& part);
  // The worst of the values; never unknown.
  [[nodiscard]] Seen worst_of(std::size_t rank, std::span<const SpmdId> ids);
  [[nodiscard]] Seen& seen(std::size_t rank, SpmdId id) {
    return seen_[rank][static_cast<std::size_t>(id.index)];
  }
  [[nodiscard]] static Found first_in(DType dtype, const void* data, std::int64_t count);

  Communicator& communicator_;
  std::vector<RankHost>& hosts_;
  const PreparedProgram* prepared_ = nullptr;
  std::vector<bool> expected_;           // per value of the program as it was lowered
  std::vector<std::vector<Seen>> seen_;  // per local rank and value
};

}  // namespace mtf
