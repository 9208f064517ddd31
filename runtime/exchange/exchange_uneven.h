// A reshard step between slices that are not all of one size. Those of an all-to-all are sent as
// long as they are; otherwise every message is as long as the longest block, and only what belongs
// to a slice is unpacked.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/exchange/box.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct ExchangeSpec;
struct Staging;

// A box of a slice, and where it begins there, in bytes.
struct BoxIn {
  BoxCopy copy;
  std::int64_t start = 0;
};
[[nodiscard]] BoxIn box_in(const Slice& box, const Slice& slice, std::int64_t width);

class UnevenExchange {
 public:
  // requires: the kind is kSlice, kAllGather, kAllToAll or kReduceScatter.
  UnevenExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                 std::span<const std::int64_t> ranks);

  void run(Communicator& communicator, const Group& group, Combination joining, Staging& staging,
           Ins from, Outs to) const;

 private:
  struct OnRank {
    std::vector<BoxIn> packed;    // per member: what it needs of the slice
    std::vector<BoxIn> unpacked;  // per member: what it has for the slice
  };

  // Of each block, which lie `block_bytes_` apart, what belongs to a slice.
  void send_blocks(Communicator& communicator, const Group& group, Staging& staging, Ins packed,
                   Outs landed) const;
  Ins pack(Staging& staging, Ins from) const;
  static Outs room(Staging& staging, std::size_t ranks, std::int64_t bytes);
  void unpack(const Staging& staging, Outs to) const;

  StepKind kind_;
  std::int64_t width_ = 1;
  std::int64_t block_bytes_ = 0;  // of a message, the same on all ranks
  std::vector<OnRank> ranks_;
};

}  // namespace mtf
