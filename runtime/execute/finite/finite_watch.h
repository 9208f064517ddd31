// Looks for the first value of a run that is not finite.
//
// A NaN is reported by the operation that makes it: all operands were looked at before. So is an
// infinity, unless an operand has one already or the program wrote it down (a constant, a fill, an
// argument): where an infinity is meant, only the NaN that comes of it is wrong.

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

class FiniteWatch {
 public:
  FiniteWatch(Communicator& communicator, std::vector<RankHost>& hosts)
      : communicator_(communicator), hosts_(hosts) {}

  // Before the first step of a run.
  void begin(const PreparedProgram& prepared);
  // A step is done, whatever it was but a chain.
  void done(const PreparedProgram& prepared, std::size_t step);
  // Of a band of a chain: what a call made on a local rank, `data`, has that shape and begins at
  // `at` of the rank's slice along the leading dims.
  void made(std::size_t rank, const LocalCall& call, const void* data, const Shape& shape,
            std::span<const std::int64_t> at);

 private:
  struct Found {
    std::int64_t place = -1;  // of the first that is not finite, row by row
    bool has_infinity = false;
    bool is_nan = false;  // that one
    double value = 0;
  };

  void look(std::size_t rank, const LocalCall* call, SpmdId id, bool excused, const void* data,
            const Shape& shape, std::span<const std::int64_t> at);
  void look_at_slice(std::size_t rank, const LocalCall* call, SpmdId id, bool excused);
  void look_at_move(std::size_t rank, const Step& step);
  void look_at_message(std::size_t rank, std::size_t last);
  void report(std::size_t rank, const LocalCall* call, SpmdId id, const Found& found,
              const Shape& shape, std::span<const std::int64_t> at);
  [[nodiscard]] bool had_infinity(std::size_t rank, std::span<const SpmdId> ids) const;
  [[nodiscard]] static Found first_in(DType dtype, const void* data, std::int64_t count);

  Communicator& communicator_;
  std::vector<RankHost>& hosts_;
  const PreparedProgram* prepared_ = nullptr;
  std::vector<std::vector<bool>> infinite_;  // per local rank and value
};

}  // namespace mtf
