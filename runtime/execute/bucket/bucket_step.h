// One of the all-reduces of a message: it packs what it sums up. The last of them sends the message
// and brings all sums to where they belong, so none is written before all are packed, and a sum may
// be in the memory of what another one packed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct PrepareContext;   // runtime/execute/executor_program.h
struct PreparedProgram;  // the same
struct Staging;          // runtime/exchange/exchange.h

class BucketStep {
 public:
  // Collective: makes the group. `slot`: in the totals' collectives. requires: the step goes in one
  // message with others.
  BucketStep(const SpmdProgram& program, std::size_t step, std::size_t slot,
             const PrepareContext& context);

  // Whether it is the last one.
  [[nodiscard]] bool sends() const { return !sums_.empty(); }
  [[nodiscard]] const Group& group() const { return *group_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }  // of all of the message

  // On all local ranks; nothing else is staged between the steps of a message.
  void run(PreparedProgram& prepared, Communicator& communicator, Staging& staging) const;

 private:
  struct Packed {
    SpmdId value;
    std::int64_t begin = 0;  // bytes, in the message
    std::int64_t bytes = 0;
  };

  void send(PreparedProgram& prepared, Communicator& communicator, Staging& staging) const;

  std::size_t step_;
  std::size_t slot_;
  const Group* group_;
  Combination how_;
  Packed own_;
  std::int64_t message_bytes_ = 0;
  std::vector<Packed> sums_;  // of all, if it is the last
  std::uint64_t hash_ = 0;
};

}  // namespace mtf
