// A product that is done part by part while operands pass in pieces (lowering/steps/stream.h):
// where each part reads and writes, and how the sums of parts become one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/kernel.h"
#include "lowering/spmd.h"
#include "runtime/exchange/exchange_pieces.h"

namespace mtf {

struct PrepareContext;  // runtime/execute/executor_program.h
struct PreparedProgram;
struct Staging;  // runtime/exchange/exchange.h

class StreamStep {
 public:
  // A gather whose result passes; it is done here and not in its place.
  struct Passing {
    SpmdId from;
    SpmdId to;
    std::size_t step = 0;  // its number
    std::size_t slot = 0;  // in the totals' collectives
    std::uint64_t hash = 0;
    PieceExchange exchange;
    std::vector<const void*> slices = {};  // per local rank, in the run in progress
    std::vector<void*> windows = {};
    std::vector<void*> landing = {};
    std::vector<Traffic> moved = {};  // since its first piece
  };

  StreamStep(const SpmdProgram& program, const LocalCall& call, std::vector<Passing> passing,
             const PrepareContext& context);

  [[nodiscard]] const LocalCall& call() const { return *call_; }
  [[nodiscard]] std::int64_t parts() const { return call_->stream->parts; }
  [[nodiscard]] std::span<const Passing> passing() const { return passing_; }

  // The next three for each time, in this order, each on all local ranks.
  void post(const PreparedProgram& prepared, Communicator& communicator, Staging& staging,
            std::int64_t time);
  void land(std::int64_t time);
  void multiply(const PreparedProgram& prepared, std::size_t rank, std::int64_t time);

 private:
  // Where a part of an operand or of the result is.
  struct Place {
    SpmdId value;
    std::int64_t bytes = 0;  // from its begin
  };
  struct Part {
    std::vector<TensorView> in;
    std::vector<Place> places;
    Place out;
    std::vector<LoopShare> shares;
    std::unique_ptr<KernelCall> call;  // refers to `in` and `shares`
  };

  // One rank at one time.
  struct Moment {
    std::size_t index = 0;  // of the rank among the local ones
    std::int64_t rank = 0;
    std::int64_t time = 0;
    std::int64_t part = 0;  // of the loop
  };

  [[nodiscard]] Slice cut(Slice slice, const DimMap& map, std::int64_t part) const;
  void plan_operand(Part& part, const SpmdProgram& program, std::size_t operand,
                    const Moment& now) const;
  [[nodiscard]] LoopShare share_of(const Mesh& mesh, std::size_t loop, const Moment& now) const;
  void plan(Part& part, const SpmdProgram& program, const PrepareContext& context,
            std::size_t index, std::int64_t time) const;
  void join(const PreparedProgram& prepared, std::size_t rank, std::int64_t pair) const;
  [[nodiscard]] SpmdId sum_at(std::int64_t depth) const;

  const LocalCall* call_;
  DType dtype_{};
  std::int64_t count_ = 0;  // elements of the result
  bool exact_ = true;
  std::vector<Passing> passing_;
  std::vector<std::vector<Part>> parts_;  // per local rank and time
  std::vector<void*> sent_;               // of a call in progress
  std::vector<void*> received_;
  std::vector<Traffic> before_;
};

}  // namespace mtf
