// One reshard step of a value: what each rank hands over and where what it receives belongs, for
// any two layouts that the kind of step can join.
//
// Slices are boxes of global indices; a block that two ranks exchange is the intersection of what
// one has with what the other needs.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/exchange/box.h"
#include "runtime/exchange/exchange_halo.h"
#include "runtime/exchange/exchange_holders.h"
#include "runtime/exchange/exchange_scan.h"
#include "runtime/exchange/exchange_serve.h"
#include "runtime/exchange/exchange_sort.h"
#include "runtime/exchange/exchange_uneven.h"
#include "runtime/execute/buffer.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

// Memory in which blocks are put together, for all steps of an executor.
struct Staging {
  BufferPool* pool = nullptr;
  std::int64_t limit = std::int64_t{1} << 20;  // bytes, exceeded only by one run per member
  std::vector<Buffer> sent = {};               // per local rank, grown on demand
  std::vector<Buffer> received = {};
  std::vector<const void*> ins = {};  // of the call in progress
  std::vector<void*> outs = {};
  std::vector<Mail> mail = {};
  std::vector<Traffic> before = {};  // per local rank, when it began
  std::vector<Buffer> padding = {};  // for local ranks that hold nothing
  std::vector<const void*> all_ins = {};
  std::vector<void*> all_outs = {};
};

// At least so many bytes in each of the first `ranks` buffers.
void grow(Staging& staging, std::vector<Buffer>& buffers, std::size_t ranks, std::int64_t bytes);

// The first corner of a slice, counted from that of one it lies in.
[[nodiscard]] std::vector<std::int64_t> corner_in(const Slice& inner, const Slice& outer);

// A tensor, and how it lies on the ranks.
struct LaidOut {
  TensorType type;
  ValueLayout layout;
};

struct ExchangeSpec {
  StepKind kind{};  // not kKernel
  TensorType type;  // of the whole tensor
  ValueLayout from;
  ValueLayout to;
  Axes axes;
  Combine combine = Combine::kSum;
  bool exact = true;
  Isa isa = Isa::kPortable;
  Shape result = {};                 // of what a halo exchange or a serve leaves
  std::vector<MovedDim> reads = {};  // kHaloExchange: how that reads the tensor
  // kServe: the same, and the operands that have the indices.
  IterationSpace space = {};
  std::vector<LaidOut> indices = {};
  // kExclusiveScan: what the operand is a digest of, a dim of this size in parts, and its order.
  // kSortExchange: the same size, and the numbers of an element.
  std::int64_t scanned = 0;
  bool from_end = false;
  std::int64_t entry = 1;
};

class Exchange {
 public:
  // Collective: makes the group. requires: the step is possible (see `problem_with`).
  Exchange(Communicator& communicator, const Mesh& mesh, const ExchangeSpec& spec);

  // `indices`: of a serve, for each local rank those of each operand.
  void run(Communicator& communicator, Staging& staging, Ins from, Outs to, Ins indices = {}) const;

  [[nodiscard]] const Group& group() const { return *group_; }
  // Whether a local rank's group does anything: it has a slice, or is to have one.
  [[nodiscard]] bool takes_part(std::size_t rank) const {
    return holders_ ? holders_->takes_part(rank) : holds_.empty() || holds_[rank];
  }

 private:
  struct Blocks {
    BoxCopy copy;
    std::vector<std::vector<std::int64_t>> starts;  // per local rank and member
    bool in_place = false;                          // blocks lie behind each other as they are
  };

  void plan_blocks(const Mesh& mesh, const ExchangeSpec& spec, std::span<const std::int64_t> ranks);
  [[nodiscard]] std::int64_t block_bytes() const;
  [[nodiscard]] std::int64_t part_bytes(const Staging& staging) const;
  [[nodiscard]] Ins pack(Staging& staging, std::int64_t begin, std::int64_t end, Ins from) const;
  [[nodiscard]] Outs landing(Staging& staging, std::int64_t begin, std::int64_t end, Outs to) const;
  void unpack(const Staging& staging, std::int64_t begin, std::int64_t end, Outs to) const;
  void run_all(Communicator& communicator, Staging& staging, Ins from, Outs to) const;
  void run_part(Communicator& communicator, Staging& staging, std::int64_t begin, std::int64_t end,
                Ins from, Outs to) const;

  StepKind kind_;
  const Group* group_;
  Combination joining_;
  std::int64_t width_ = 1;       // bytes of an element
  std::int64_t from_bytes_ = 0;  // of one rank's slice
  std::optional<HaloExchange> halo_;
  std::optional<ScanExchange> scan_;       // instead of all that follows
  std::optional<ServeExchange> serve_;     // instead of all that follows
  std::optional<SortExchange> sort_;       // instead of all that follows
  std::optional<HolderExchange> holders_;  // instead of all that follows
  // Where not all ranks hold slices, which of the local ones do; those that do not take part with
  // memory of no use, or not at all. Empty: all hold theirs.
  std::vector<bool> holds_;
  std::int64_t padding_ = 0;                        // bytes of that memory
  std::optional<UnevenExchange> uneven_;            // instead of the blocks below
  Blocks packed_;                                   // in the `from` slice
  Blocks unpacked_;                                 // in the `to` slice
  std::vector<std::vector<std::int64_t>> sources_;  // of permute
};

// "" or why the kind of step cannot take the value from one layout to the other: an internal error.
[[nodiscard]] std::string problem_with(const Mesh& mesh, const ExchangeSpec& spec);

}  // namespace mtf
