// The product of two tensors, out[batch, row, col] = sum over inner of a * b, operands read and
// result written in place whatever the order of their dims.
//
// Canonical order, which `gemm` keeps on every layout and instruction set: the inner dims, in the
// order given, are cut into equal blocks; a leaf is one block per dim; its value is one chain
// acc = fma(a, b, acc) from acc = 0 over its indices in row-major order; leaves are added in the
// tree of runtime/kernels/tree.h. Where several products are added up, the chain of a leaf runs
// over the first product's indices, then over the next one's. A leaf of more than kLongestChain
// indices, as a dim of 1,000,003 has, is itself a tree, of chains of so many but for the last: in
// one chain of a million terms of one sign, small ones would be lost. Bits are equal for all values
// but the payload and sign of NaNs.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "ir/dtype.h"
#include "ir/support/interval.h"
#include "runtime/kernels/cpu.h"

namespace mtf {

inline constexpr std::int64_t kLongestChain = 1536;

// One loop of a product, with its element stride in each tensor (0 where a tensor lacks it).
struct GemmDim {
  std::int64_t extent = 1;
  std::int64_t a = 0;
  std::int64_t b = 0;
  std::int64_t out = 0;
  std::int64_t blocks = 1;  // inner dims only: canonical blocks on this rank; divides the extent
};

// Another product of the same shape and strides that is added: where its operands begin, in
// elements from those that are given.
struct GemmTerm {
  std::int64_t a = 0;
  std::int64_t b = 0;
  friend bool operator==(const GemmTerm&, const GemmTerm&) = default;
};

struct Gemm {
  std::vector<GemmDim> batch;        // strides a, b, out
  std::vector<GemmDim> rows;         // strides a, out
  std::vector<GemmDim> cols;         // strides b, out
  std::vector<GemmDim> inner;        // strides a, b; first dim is the slowest of a chain
  std::vector<GemmTerm> terms = {};  // besides the operands given
  bool accumulate = false;           // out = out + product instead of out = product
  // Of bf16 only: a holds words (pack/gemm_words.h), in twice the room of its elements, or where
  // two of these lie side by side in theirs. Of two indices, those for even ones of a leaf are
  // read.
  bool a_words = false;
};

// Of how many indices a word is: of two bf16, or of one that is widened.
[[nodiscard]] std::int64_t indices_in_word(Cpu cpu);
// The same, whose words are of one.
[[nodiscard]] Cpu with_single_words(Cpu cpu);
// Whether a product of bf16 whose a is words can be done: it is read where it is.
[[nodiscard]] bool reads_words(const Gemm& product, Cpu cpu);

// `out` must not overlap the operands, nor itself. Extents may be 0: an empty sum is 0.
void gemm(const Gemm& product, const float* a, const float* b, float* out, Cpu cpu);
void gemm(const Gemm& product, const double* a, const double* b, double* out, Cpu cpu);
// Of bf16, widened while it is packed.
void gemm(const Gemm& product, const BFloat16* a, const BFloat16* b, float* out, Cpu cpu);

// Takes what a product has made, on one of its threads: these elements of the result, of which
// `values` has the first. The next ones come to the same place.
template <typename T>
using GemmEpilogue = std::function<void(int thread, Interval elements, const T* values)>;

// The same for a product that is done again and again: what depends on its shape alone is worked
// out once. For float, double, and float of stored BFloat16.
template <typename T, typename S = T>
class PreparedGemm {
 public:
  PreparedGemm(const Gemm& product, Cpu cpu);
  ~PreparedGemm();
  PreparedGemm(const PreparedGemm&) = delete;
  PreparedGemm& operator=(const PreparedGemm&) = delete;
  PreparedGemm(PreparedGemm&&) = delete;
  PreparedGemm& operator=(PreparedGemm&&) = delete;

  void run(const S* a, const S* b, T* out) const;
  // Each element of the result goes to the epilogue once, in bands of rows that stay in a near
  // cache, and nowhere else. False: nothing is done, as the result of such a product does not lie
  // row by row, or is better made otherwise.
  bool run_to(const S* a, const S* b, const GemmEpilogue<T>& epilogue) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

// The same value in any summation order, from what is fastest: for float, and for bf16 where there
// are instructions for it, oneDNN, which may take for 0 what is subnormal.
void gemm_fast(const Gemm& product, const float* a, const float* b, float* out, Cpu cpu);
void gemm_fast(const Gemm& product, const BFloat16* a, const BFloat16* b, float* out, Cpu cpu);
void gemm_fast(const Gemm& product, const double* a, const double* b, double* out, Cpu cpu);

}  // namespace mtf
