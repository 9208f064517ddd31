// A product reduced to what its loops need: one table of element offsets per side and tensor, and
// the chain of inner indices cut into parts that fit the caches.

#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "runtime/products/gemm.h"
#include "runtime/products/offsets.h"

namespace mtf {

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t x, std::int64_t y) {
  return (x + y - 1) / y;
}

inline constexpr int kGatheredRows = 4;           // that share a pointer where a is gathered
inline constexpr std::int64_t kGatheredLeaf = 8;  // words at least, for which it is

// A chain of the canonical order, a piece of a long one, or some short ones. Values wait on a
// stack; `depth` of them lie below this part, whose value goes to place `depth - merges`.
struct ChainPart {
  std::int64_t begin = 0;   // from the panel's first index
  std::int64_t length = 0;  // of one chain
  int depth = 0;
  int merges = 0;
  bool resumes = false;  // goes on with the chain found at place `depth`
};

// Parts whose operands are packed together.
struct ChainPanel {
  std::int64_t begin = 0;
  std::int64_t length = 0;
  std::size_t first_part = 0;
  std::size_t last_part = 0;  // exclusive
};

struct Chain {
  std::pmr::vector<ChainPart> parts;
  std::pmr::vector<ChainPanel> panels;
  int leaves = 1;         // per part: 1, 2 or 4
  int max_depth = 0;      // values that wait at any time
  int carried_depth = 0;  // values that wait from one panel to the next
};

// How many values are added up behind leaf `leaf` of a part, where one leaf comes after the other.
[[nodiscard]] int merges_behind(const Chain& chain, const ChainPart& part, int leaf);

// Rows are broadcast and columns vectorised, so sides change roles where that suits the result.
struct GemmPlan {
  bool swapped = false;  // a is b, and rows are columns
  bool accumulate = false;
  bool a_words = false;
  Offsets a_row;
  Offsets a_inner;
  Offsets b_col;
  Offsets b_inner;
  Offsets out_row;
  Offsets out_col;
  Offsets a_batch;
  Offsets b_batch;
  Offsets out_batch;
  std::vector<int> merges;  // per leaf
  std::int64_t leaf_length = 0;
  // Rows of a come in lines of so many, in which they are as far apart, where what is added for
  // each inner index is in a table; 0 where it is not so.
  std::int64_t line = 0;
  std::int64_t line_step = 0;

  [[nodiscard]] std::int64_t batches() const { return a_batch.size; }
  [[nodiscard]] std::int64_t rows() const { return a_row.size; }
  [[nodiscard]] std::int64_t cols() const { return b_col.size; }
  [[nodiscard]] std::int64_t inner() const { return a_inner.size; }
};

// `lanes`: elements of a register, which narrow sides leave idle. Tables come from `memory`.
[[nodiscard]] GemmPlan plan_gemm(const Gemm& asked, std::int64_t lanes,
                                 std::pmr::memory_resource* memory);

inline constexpr int kLeavesTogether = 4;  // in a part, at most

// How many leaves may share a part, if `together` indices count as one: short ones that are
// subtrees.
[[nodiscard]] int leaves_together(const GemmPlan& plan, std::int64_t together);

// How the chain of a product is cut.
struct ChainCut {
  std::int64_t panel_length = 1;      // of inner indices, at most
  std::int64_t together = 1;          // indices of a leaf that count as one; the last may be fewer
  int most_leaves = kLeavesTogether;  // that share a part, where they are short: 4, 2 or 1
};

[[nodiscard]] Chain cut_chain(const GemmPlan& plan, const ChainCut& cut,
                              std::pmr::memory_resource* memory);

}  // namespace mtf
