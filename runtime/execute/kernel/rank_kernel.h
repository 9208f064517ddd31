// A kernel's call on the slices of one rank, cut along kept loops into calls on slices of these,
// one for each thread.
//
// A cut is where the result's slices lie behind each other in memory and those of each operand do,
// too, or are the whole operand: along the result's leading dim, and inside of it, where that has
// too few indices for all threads, along the next one.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/kernel.h"

namespace mtf {

// What a call is on: views without addresses, and the shares of the loops.
struct CallSlices {
  std::vector<TensorView> in;
  TensorView out;
  std::vector<LoopShare> shares;
};

class RankKernel {
 public:
  // `call` has everything else; its host and what it refers to outlive this. `work`: so many
  // elements, or operations on them.
  RankKernel(CallSlices slices, const KernelCall& call, double work);

  // What a call that is not cut may do with its result.
  struct Ends {
    KernelEpilogue* epilogue = nullptr;
    KernelRuns* runs = nullptr;
  };

  void run(std::span<void* const> in, void* out, const Ends& ends);
  // Of the result.
  [[nodiscard]] std::int64_t elements() const { return whole_.out.shape.volume(); }
  // As the last run had it.
  [[nodiscard]] const TensorView& operand(std::size_t i) const { return whole_.in[i]; }

 private:
  // Slices, and where they begin in those of the rank, in bytes.
  struct Part {
    CallSlices slices;
    std::vector<std::int64_t> in;
    std::int64_t out = 0;
    std::unique_ptr<KernelCall> call = nullptr;  // refers to the slices
  };

  [[nodiscard]] static std::vector<Part> cut(const Part& part, const KernelCall& call,
                                             std::int64_t threads);

  CallSlices whole_;
  std::vector<Part> parts_;
};

}  // namespace mtf
