// What a kernel is given: one rank's slices, and where in the whole tensors they lie.
//
// A kernel does not communicate or know what a mesh is. It may ask for its share of each loop dim,
// which is all that keeping one order of summation on every layout needs (runtime/EXACT.md).

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op.h"
#include "ir/support/cpu.h"
#include "ir/support/interval.h"

namespace mtf {

// Services of the process around a kernel: output, files, random streams.
class KernelHost {
 public:
  virtual ~KernelHost() = default;
  virtual void print(std::string_view line) = 0;           // on rank 0 only
  virtual void fail(DiagKind kind, std::string text) = 0;  // stops all ranks after the step
  virtual void warn(DiagKind kind, std::string text) = 0;
  // Of a training, at this step or else the one in progress; on rank 0 only.
  virtual void metric(std::string_view /*name*/, double /*value*/,
                      std::optional<std::int64_t> /*step*/) {}
  [[nodiscard]] virtual std::uint64_t seed() const = 0;       // `--seed`
  [[nodiscard]] virtual std::uint64_t execution() const = 0;  // counts runs of units
  [[nodiscard]] virtual bool first_rank() const = 0;          // writes files
  [[nodiscard]] virtual Cpu cpu() const { return {}; }        // what a kernel may use of it

 protected:  // hosts are moved as what they are, not as this
  KernelHost() = default;
  KernelHost(const KernelHost&) = default;
  KernelHost(KernelHost&&) = default;
  KernelHost& operator=(const KernelHost&) = default;
  KernelHost& operator=(KernelHost&&) = default;
};

struct TensorView {
  void* data = nullptr;              // row-major, dense, unless there are strides
  Shape shape;                       // of this slice
  std::vector<std::int64_t> offset;  // of this slice in the whole tensor, per dim
  DType dtype = DType::kF32;
  std::vector<std::int64_t> strides = {};  // of elements, per dim; only where OpDef::strided
};

// One rank's share of a loop dim.
struct LoopShare {
  std::int64_t parts = 1;  // how many ways it is split
  std::int64_t index = 0;  // which part is this rank's
  std::int64_t offset = 0;
  std::int64_t extent = 1;
};

// What a kernel has worked out from everything but the data, for its next run of the same call;
// several threads may be in such runs.
struct KernelNotes {
  std::once_flag once = {};
  std::shared_ptr<const void> made = {};
};

// Where ranks have parts of a dim that is scanned or selected from, two calls do the operation; in
// between, digests (IterationSpace::digest) change ranks.
enum class CallPart : std::uint8_t {
  kAll,
  kDigest,  // the result is the digest of the rank's part
  kRest,    // the last operand of a scan is the digest of all parts before the rank's; the only one
            // of a selection those of all parts; of a sort it is the rank's part of what all have,
            // sorted
};

// What may become of a result where it is made, instead of being written: each of its elements is
// handed over once, by one of the threads of a rank, some neighbours at a time.
struct KernelEpilogue {
  // `values` has the first of these elements, in the order in which they would be written; what is
  // there next time is the next ones.
  std::function<void(int thread, Interval elements, const void* values)> take;
  bool done = false;  // by the kernel; otherwise it has written its result
};

// How a result may be left that is 0 but for some runs of elements: they lie one behind the other
// from the first place of the result on, and nothing else is written.
struct KernelRuns {
  std::int64_t length = 0;           // of each
  std::vector<std::int64_t> begins;  // in the result, ascending
  bool done = false;                 // by the kernel; otherwise it has written its result
};

struct KernelCall {
  const OpCall& call;  // global types, args
  const IterationSpace& space;
  std::span<const TensorView> in;
  TensorView out;
  std::span<const LoopShare> shares;  // one per loop
  std::uint64_t ordinal = 0;          // place in the program, the same for every layout
  CallPart part = CallPart::kAll;
  bool exact = true;        // canonical order; otherwise any
  bool accumulate = false;  // out = out + result; only where OpDef::strided
  KernelHost& host;
  std::shared_ptr<KernelNotes> notes = nullptr;  // null: of a call that runs once
  KernelEpilogue* epilogue = nullptr;            // only products look whether there is one
  KernelRuns* runs = nullptr;                    // only sums of rows in a table do

  // Canonical blocks of a loop that lie on this rank.
  [[nodiscard]] std::int64_t blocks(std::size_t loop) const;
};

// What the notes of the call say; made(), a shared pointer, is noted where nothing is yet.
template <typename Made, typename F>
[[nodiscard]] std::shared_ptr<const Made> made_once(const KernelCall& call, const F& made) {
  if (call.notes == nullptr) {
    return made();
  }
  std::call_once(call.notes->once, [&] { call.notes->made = made(); });
  return std::static_pointer_cast<const Made>(call.notes->made);
}

// Whether some dim of the tensor is made of the loop, alone or with others.
[[nodiscard]] bool runs_over(const DimMap& map, std::size_t loop);

// Into how many blocks each loop is cut for summation, whatever the layout: a function of the sizes
// and the order of the reduced loops alone (runtime/EXACT.md). A scanned loop has gcd(16, n), other
// loops 1.
[[nodiscard]] std::vector<std::int64_t> canonical_blocks(const IterationSpace& space);
// How many of them lie on each of the ranks that split the loop in so many parts; 1 if they do not
// come out even.
[[nodiscard]] std::int64_t blocks_of_share(const IterationSpace& space, std::size_t loop,
                                           std::int64_t parts);
// The same rule for people.
[[nodiscard]] std::string canonical_order();

template <typename T>
[[nodiscard]] std::span<T> elements(const TensorView& view) {
  return {static_cast<T*>(view.data), static_cast<std::size_t>(view.shape.volume())};
}

}  // namespace mtf
