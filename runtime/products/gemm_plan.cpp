// Plans of products. Order of rows, columns and batches is free (no bit depends on it) and chosen
// for the memory; the order of inner indices is the canonical one.

#include "runtime/products/gemm_plan.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <utility>

#include "ir/support/interval.h"
#include "runtime/kernels/tree.h"

namespace mtf {
namespace {

constexpr std::int64_t kShortLeaf = 24;   // indices of a leaf that shares registers with another
constexpr std::int64_t kShortWords = 32;  // or words of two

std::int64_t volume(const Dims& dims) {
  std::int64_t result = 1;
  for (const GemmDim& dim : dims) {
    result *= dim.extent;
  }
  return result;
}

bool has_unit_stride(const Dims& dims, Stride stride) {
  return std::ranges::any_of(
      dims, [stride](const GemmDim& dim) { return dim.*stride == 1 && dim.extent > 1; });
}

// Small strides of the result innermost, so that a tile of it is a few long rows.
void sort_by_out_stride(Dims& dims) {
  for (std::size_t i = 1; i < dims.size(); ++i) {
    for (std::size_t j = i; j > 0 && std::abs(dims[j].out) > std::abs(dims[j - 1].out); --j) {
      std::swap(dims[j], dims[j - 1]);
    }
  }
}

struct Sides {
  Dims batch;
  Dims rows;
  Dims cols;
  Dims inner;
};

void swap_sides(Sides& product) {
  std::swap(product.rows, product.cols);
  for (Dims* dims : {&product.batch, &product.rows, &product.cols, &product.inner}) {
    for (GemmDim& dim : *dims) {
      std::swap(dim.a, dim.b);
    }
  }
}

// Of 16 lanes, how many a side of this extent keeps busy.
std::int64_t busy_lanes(std::int64_t extent, std::int64_t lanes) {
  const std::int64_t registers = std::max<std::int64_t>(1, (extent + lanes - 1) / lanes);
  return 16 * extent / (registers * lanes);
}

// Leaves in canonical order, and inside a leaf its indices: block dims first, then what is in them.
Dims leaf_major(const Dims& inner) {
  Dims dims(inner.get_allocator());
  dims.reserve(2 * inner.size());
  for (const GemmDim& dim : inner) {
    assert(dim.blocks > 0 && dim.extent % dim.blocks == 0);
    const std::int64_t length = dim.extent / dim.blocks;
    dims.push_back({.extent = dim.blocks, .a = dim.a * length, .b = dim.b * length});
  }
  for (const GemmDim& dim : inner) {
    dims.push_back({.extent = dim.extent / dim.blocks, .a = dim.a, .b = dim.b});
  }
  return dims;
}

// Whether rows are windows apart, which may be read where they are, and would have to be packed as
// columns. Elements that lie side by side are two apart where each has a word.
bool has_windows(const Sides& product, bool a_words) {
  const bool side_by_side = std::ranges::any_of(product.rows, [a_words](const GemmDim& dim) {
    return dim.extent > 1 && (dim.a == 1 || (a_words && dim.a == 2));
  });
  std::int64_t leaf = 1;
  for (const GemmDim& dim : product.inner) {
    leaf *= dim.extent / dim.blocks;
  }
  return leaf >= kGatheredLeaf && !side_by_side &&
         !offsets_of(leaf_major(product.inner), &GemmDim::a).even;
}

bool wants_swap(const Sides& product, std::int64_t lanes, bool a_words) {
  const std::int64_t rows = busy_lanes(volume(product.rows), lanes);
  const std::int64_t cols = busy_lanes(volume(product.cols), lanes);
  if (2 * cols < rows) {
    return !has_windows(product, a_words);
  }
  return 2 * rows >= cols && has_unit_stride(product.rows, &GemmDim::out) &&
         !has_unit_stride(product.cols, &GemmDim::out);
}

// How many rows, from each multiple of that on, are the same distance apart; 0: not in all lines.
std::int64_t line_of(const Offsets& rows) {
  const std::int64_t step = rows.size > 1 ? rows.at(1) - rows.at(0) : 0;
  std::int64_t line = 1;
  while (line < rows.size && rows.at(line) - rows.at(0) == line * step) {
    ++line;
  }
  for (std::int64_t i = 0; i < rows.size; ++i) {
    const std::int64_t in_line = i % line;
    if (rows.at(i) - rows.at(i - in_line) != in_line * step) {
      return 0;
    }
  }
  return line;
}

// Takes one chain after the other, or leaves that share a part.
class ChainCutter {
 public:
  struct Lengths {
    std::int64_t longest = 0;  // of the chains
    std::int64_t panel = 1;
  };

  ChainCutter(Lengths lengths, int leaves, std::pmr::memory_resource* memory)
      : chain_{.parts = std::pmr::vector<ChainPart>(memory),
               .panels = std::pmr::vector<ChainPanel>(memory),
               .leaves = leaves},
        panel_length_(lengths.panel) {
    // Panels are whole subtrees where they can be: then little waits from one to the next.
    const std::int64_t together_at_most =
        std::max<std::int64_t>(1, lengths.panel / std::max<std::int64_t>(1, lengths.longest));
    parts_of_panel_ = std::bit_floor(static_cast<std::uint64_t>(together_at_most));
  }

  void reserve(std::size_t parts) { chain_.parts.reserve(parts); }

  // Of so many indices, with so many merges behind it.
  void add(std::int64_t length, int merges) {
    // Pieces of a chain are of nearly equal length.
    const std::int64_t pieces =
        chain_.leaves > 1 ? 1 : std::max<std::int64_t>(1, ceil_div(length, panel_length_));
    const auto piece_begin = [pieces, length](std::int64_t i) {
      return pieces == 1 ? i * length : i * length / pieces;  // divisions take long
    };
    for (std::int64_t i = 0; i < pieces; ++i) {
      const Interval piece = from_to(begin_ + piece_begin(i), begin_ + piece_begin(i + 1));
      const bool subtree = i == 0 && chains_ % parts_of_panel_ == 0;
      if (subtree || piece.end() - chain_.panels.back().begin > panel_length_) {
        chain_.carried_depth = std::max(chain_.carried_depth, i > 0 ? depth_ + 1 : depth_);
        chain_.panels.push_back({.begin = piece.begin, .first_part = chain_.parts.size()});
      }
      ChainPanel& panel = chain_.panels.back();
      chain_.parts.push_back({.begin = piece.begin - panel.begin,
                              .length = piece.extent / chain_.leaves,
                              .depth = depth_,
                              .merges = i + 1 == pieces ? merges : 0,
                              .resumes = i > 0});
      panel.length = piece.end() - panel.begin;
      panel.last_part = chain_.parts.size();
    }
    chain_.max_depth = std::max(chain_.max_depth, depth_ + 1);
    depth_ += 1 - merges;
    begin_ += length;
    ++chains_;
  }

  [[nodiscard]] Chain take() { return std::move(chain_); }

 private:
  Chain chain_;
  std::int64_t panel_length_;
  std::uint64_t parts_of_panel_ = 1;
  std::int64_t begin_ = 0;
  std::uint64_t chains_ = 0;
  int depth_ = 0;
};

}  // namespace

int merges_behind(const Chain& chain, const ChainPart& part, int leaf) {
  return merges_after(leaf, chain.leaves) + (leaf + 1 == chain.leaves ? part.merges : 0);
}

GemmPlan plan_gemm(const Gemm& asked, std::int64_t lanes, std::pmr::memory_resource* memory) {
  const auto dims = [memory](const std::vector<GemmDim>& list) {
    return Dims(list.begin(), list.end(), memory);
  };
  Sides sides = {.batch = dims(asked.batch),
                 .rows = dims(asked.rows),
                 .cols = dims(asked.cols),
                 .inner = dims(asked.inner)};
  const bool swapped = wants_swap(sides, lanes, asked.a_words);
  if (swapped) {
    swap_sides(sides);
  }
  sort_by_out_stride(sides.rows);
  sort_by_out_stride(sides.cols);
  std::vector<std::int64_t> blocks;
  for (const GemmDim& dim : sides.inner) {
    blocks.push_back(dim.blocks);
  }
  const Dims inner = leaf_major(sides.inner);
  GemmPlan plan = {.swapped = swapped,
                   .accumulate = asked.accumulate,
                   .a_words = asked.a_words,
                   .a_row = offsets_of(sides.rows, &GemmDim::a),
                   .a_inner = offsets_of(inner, &GemmDim::a),
                   .b_col = offsets_of(sides.cols, &GemmDim::b),
                   .b_inner = offsets_of(inner, &GemmDim::b),
                   .out_row = offsets_of(sides.rows, &GemmDim::out),
                   .out_col = offsets_of(sides.cols, &GemmDim::out),
                   .a_batch = offsets_of(sides.batch, &GemmDim::a),
                   .b_batch = offsets_of(sides.batch, &GemmDim::b),
                   .out_batch = offsets_of(sides.batch, &GemmDim::out),
                   .merges = combine_tree_blocks(blocks)};
  const auto leaves = static_cast<std::int64_t>(plan.merges.size());
  const std::int64_t leaf = plan.inner() / leaves;
  plan.a_inner =
      with_terms(std::move(plan.a_inner), leaf, asked.terms, swapped ? &GemmTerm::b : &GemmTerm::a);
  plan.b_inner =
      with_terms(std::move(plan.b_inner), leaf, asked.terms, swapped ? &GemmTerm::a : &GemmTerm::b);
  plan.leaf_length = plan.inner() / leaves;
  if (!plan.a_inner.table.empty()) {
    plan.line = line_of(plan.a_row);
    plan.line_step = plan.line > 1 ? plan.a_row.at(1) - plan.a_row.at(0) : 0;
  }
  return plan;
}

int leaves_together(const GemmPlan& plan, std::int64_t together) {
  const std::int64_t length = ceil_div(plan.leaf_length, together);
  int leaves = length <= (together == 1 ? kShortLeaf : kShortWords) ? kLeavesTogether : 1;
  while (!are_subtrees(plan.merges, leaves)) {
    leaves /= 2;
  }
  return leaves;
}

Chain cut_chain(const GemmPlan& plan, const ChainCut& cut, std::pmr::memory_resource* memory) {
  const std::int64_t leaf_length = ceil_div(plan.leaf_length, cut.together);
  const int leaves = std::min(leaves_together(plan, cut.together), cut.most_leaves);
  const std::int64_t longest = leaves * std::min(leaf_length, kLongestChain / cut.together);
  const std::int64_t chains = longest == 0 ? 1 : ceil_div(leaves * leaf_length, longest);
  const auto step = static_cast<std::size_t>(leaves);
  ChainCutter cutter({.longest = longest, .panel = cut.panel_length}, leaves, memory);
  cutter.reserve(plan.merges.size() / step * static_cast<std::size_t>(chains));
  for (std::size_t leaf = step - 1; leaf < plan.merges.size(); leaf += step) {
    for (std::int64_t c = 0; c + 1 < chains; ++c) {
      cutter.add(longest, merges_after(c, chains));
    }
    cutter.add(
        leaves * leaf_length - (chains - 1) * longest,
        merges_after(chains - 1, chains) + plan.merges[leaf] - merges_after(leaves - 1, leaves));
  }
  return cutter.take();
}

}  // namespace mtf
