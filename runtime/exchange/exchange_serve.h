// Ranks of a group send each other what their slices of a result read at indices
// (StepKind::kServe). All of them have the indices that any of them asks for, so sender and
// receiver walk the same places in the same order, and messages hold rows alone.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/kernels/served/served.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct ExchangeSpec;
struct Staging;

class ServeExchange {
 public:
  ServeExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                std::span<const std::int64_t> ranks);

  // `indices`: for each local rank, those of each operand.
  void run(Communicator& communicator, const Group& group, Staging& staging, Ins from, Outs to,
           Ins indices) const;

 private:
  // Which member of a group has what: the blocks of each served dim, by their beginnings.
  class Owners {
   public:
    Owners() = default;
    // `slices`: of the tensor, one per member.
    Owners(std::span<const ServedDim> served, std::span<const Slice> slices);
    [[nodiscard]] std::size_t of(const Served::Place& place) const;  // kNobody: outside

   private:
    std::vector<std::vector<Interval>> blocks_;
    std::vector<std::size_t> members_;  // by the numbers of their blocks
  };
  struct OnRank {
    std::vector<TensorView> in;  // without data
    std::size_t self = 0;        // among the members
    std::vector<Served> asked;   // by each member of this rank
    Owners owners;
    std::int64_t handed = 0;  // bytes
  };
  // Places of one round.
  struct Round {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };

  void add_rank(const Mesh& mesh, const ExchangeSpec& spec, std::span<const std::int64_t> members,
                std::size_t self);
  [[nodiscard]] ServedIndices indices_on(std::size_t rank, Ins indices) const;
  void send(std::size_t rank, const ServedIndices& indices, Round round, const void* from,
            std::byte* room, Mail& mail) const;
  void expect(std::size_t rank, const ServedIndices& indices, Round round, std::byte* room,
              Mail& mail) const;
  void unpack(std::size_t rank, const ServedIndices& indices, Round round, const void* from,
              const Mail& mail, void* to) const;

  IterationSpace space_;
  std::int64_t width_ = 1;
  std::int64_t places_ = 0;  // most that a member of a group asks for
  std::int64_t row_bytes_ = 1;
  std::vector<OnRank> ranks_;
};

}  // namespace mtf
