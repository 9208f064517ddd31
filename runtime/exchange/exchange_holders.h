// Steps between all ranks of a group and the one of them that holds a slice: `broadcast` from it,
// `reduce` to it. What the others have as a slice has no memory and is not touched.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct ExchangeSpec;

class HolderExchange {
 public:
  // requires: the kind is kBroadcast or kReduce.
  HolderExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                 std::span<const std::int64_t> ranks);

  void run(Communicator& communicator, const Group& group, Combination joining, Ins from,
           Outs to) const;

  [[nodiscard]] bool takes_part(std::size_t rank) const { return holder_[rank] >= 0; }

  // "" or why the members of a group cannot do such a step.
  [[nodiscard]] static std::string problem(const Mesh& mesh, const ExchangeSpec& spec,
                                           std::span<const std::int64_t> members);

 private:
  StepKind kind_;
  std::int64_t bytes_ = 0;            // of a slice
  std::vector<std::int64_t> holder_;  // per local rank: the member that holds it, or -1: none does
};

}  // namespace mtf
