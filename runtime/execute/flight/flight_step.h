// One flight of a program: all-reduces that begin before one step and land before another.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/steps/flights.h"
#include "runtime/execute/buffer.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct PrepareContext;   // runtime/execute/executor_program.h
struct PreparedProgram;  // the same

class FlightStep {
 public:
  // Collective: makes the group. `slot`: in the totals' collectives.
  FlightStep(const SpmdProgram& program, const Flight& flight, std::size_t slot,
             const PrepareContext& context);

  [[nodiscard]] std::size_t begins() const { return begins_; }
  [[nodiscard]] std::size_t lands() const { return lands_; }
  [[nodiscard]] StepRange message() const { return message_; }
  [[nodiscard]] std::size_t last() const { return message_.end - 1; }
  [[nodiscard]] const Group& group() const { return *group_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }  // what all ranks must agree on
  [[nodiscard]] bool is_on_its_way() const { return number_.has_value(); }
  [[nodiscard]] std::int64_t begun() const { return begun_; }  // when `begin` had returned

  // Both on all local ranks.
  void begin(const PreparedProgram& prepared, Communicator& communicator, BufferPool& pool);
  Landed land(PreparedProgram& prepared, Communicator& communicator);

 private:
  struct Sum {
    SpmdId from;
    SpmdId to;
    std::int64_t begin = 0;  // bytes, in the message
    std::int64_t bytes = 0;
  };

  [[nodiscard]] bool is_packed() const { return sums_.size() > 1; }

  StepRange message_;
  std::size_t begins_;
  std::size_t lands_;
  std::size_t slot_;
  const Group* group_;
  Combination how_;
  std::vector<Sum> sums_;
  std::int64_t bytes_ = 0;  // of the message
  std::uint64_t hash_ = 0;
  // Of a flight that is on its way.
  std::optional<std::size_t> number_;
  std::int64_t begun_ = 0;
  std::vector<Buffer> packed_;  // per local rank
};

}  // namespace mtf
