// Reductions in three loops: many results side by side, or one over long runs in memory, or short
// ones.

#include "runtime/kernels/reduce/reduce_kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <memory>
#include <span>

#include "runtime/kernels/reduce/long_leaf.h"
#include "runtime/kernels/reduce/reduce_ops.h"
#include "runtime/kernels/reduce/reduce_run.h"
#include "runtime/kernels/reduce/reduction_plan.h"
#include "runtime/kernels/reduce/row_leaves.h"
#include "runtime/kernels/reduce/short_leaves.h"
#include "runtime/kernels/reduce/side_leaf.h"
#include "runtime/kernels/reduce/stored_rows.h"
#include "runtime/vector_math/narrow.h"

namespace mtf {
namespace {

constexpr int kMaxDepth = 96;  // of the tree's stack

// Leaves through the tree: leaf(in offset, place) computes one, `count` results wide.
template <typename Op, typename T, typename Leaf>
void reduce_tree(const TreeLeaves& leaves, std::int64_t count, std::span<T> stack,
                 const Leaf& leaf) {
  std::size_t leaf_index = 0;
  T* top = stack.data();
  for_each(leaves.loops, 0, 0, [&](std::int64_t at, std::int64_t) {
    leaf(at, top);
    top += count;
    for (int m = leaves.merges[leaf_index]; m > 0; --m) {
      top -= count;
      accumulate<Op>(top, count, top - count);
    }
    ++leaf_index;
  });
}

template <typename Op, typename S, typename T>
void reduce_side(const ReductionPlan& plan, const S* in, T* out) {
  SideLeaves<Op, S, T> leaves(plan);
  const std::int64_t most = std::min(Lanes<T>::kMost, plan.side.extent);
  const auto size = static_cast<std::size_t>(kMaxDepth * most);
  const auto memory = std::make_unique_for_overwrite<T[]>(size);  // NOLINT(*-c-arrays)
  const std::span stack(memory.get(), size);
  for_each(plan.results, 0, 0, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t j = 0; j < plan.side.extent; j += most) {
      const std::int64_t count = std::min(most, plan.side.extent - j);
      const S* x = in + from + j * plan.side.in;
      reduce_tree<Op, T>(plan.leaves, count, stack,
                         [&](std::int64_t at, T* place) { leaves.reduce(x + at, count, place); });
      for (std::int64_t i = 0; i < count; ++i) {
        out[to + (j + i) * plan.side.out] = stack[static_cast<std::size_t>(i)];
      }
    }
  });
}

// One result of leaves that lie side by side, as many as a power of two: their tree is perfect.
template <typename Op, typename T, typename S>
T reduce_perfect(const S* x, std::int64_t leaves, std::int64_t length) {
  std::array<T, kMostLeaves> found{};
  const auto count = static_cast<std::size_t>(leaves);
  for (std::size_t l = 0; l < count; ++l) {
    found[l] = reduce_adjacent<Op, T>(x + static_cast<std::int64_t>(l) * length, length);
  }
  for (std::size_t half = count / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      found[l] = Op::apply(found[2 * l], found[2 * l + 1]);
    }
  }
  return found[0];
}

bool is_perfect(const ReductionPlan& plan) {
  const ReduceLoops& leaves = plan.leaves.loops;
  const bool adjacent = leaves.size() == 1 && leaves[0].in == plan.run.extent;
  return plan.inside.empty() && adjacent && leaves[0].extent <= kMostLeaves &&
         std::has_single_bit(static_cast<std::uint64_t>(leaves[0].extent));
}

// One result after the other, of leaves in rows.
template <typename Op, typename S, typename T>
void reduce_rows(const ReductionPlan& plan, const S* in, T* out) {
  RowLeaves<Op, S, T> leaves(plan);
  const std::size_t count = leaves.count();
  std::array<T, kMaxDepth> stack{};
  std::array<T, kMostLeaves> found{};
  const ReduceLoops results = all_results(plan);
  for_each(results, 0, 0, [&](std::int64_t from, std::int64_t to) {
    std::size_t number = 0;
    reduce_tree<Op, T>(plan.leaves, 1, stack, [&](std::int64_t at, T* place) {
      if (number % count == 0) {
        leaves.reduce(in + from + at, std::span<T>(found).first(count));
      }
      *place = found[number++ % count];
    });
    out[to] = stack[0];
  });
}

template <typename Op, typename S, typename T>
void reduce_long(const ReductionPlan& plan, const S* in, T* out) {
  std::array<T, kMaxDepth> stack{};
  const ReduceLoops results = all_results(plan);
  if (is_perfect(plan)) {
    const std::int64_t leaves = plan.leaves.loops[0].extent;
    for_each(results, 0, 0, [&](std::int64_t from, std::int64_t to) {
      out[to] = reduce_perfect<Op, T>(in + from, leaves, plan.run.extent);
    });
    return;
  }
  if (plan.inside.empty()) {
    for_each(results, 0, 0, [&](std::int64_t from, std::int64_t to) {
      reduce_tree<Op, T>(plan.leaves, 1, stack, [&](std::int64_t at, T* place) {
        *place = reduce_adjacent<Op, T>(in + from + at, plan.run.extent);
      });
      out[to] = stack[0];
    });
    return;
  }
  reduce_rows<Op>(plan, in, out);
}

// One result over leaves of short runs, a group of them together.
template <typename Op, typename S, typename T>
void reduce_short(const ReductionPlan& plan, const S* in, T* out) {
  const ShortLeaves& leaves = *plan.short_leaves;
  std::array<T, kMaxDepth> stack{};
  LeafGroup<Op, S, T> group(leaves);
  const ReduceLoops results = all_results(plan);
  if (leaves.groups.merges.size() == 1) {
    for_each(results, 0, 0,
             [&](std::int64_t from, std::int64_t to) { out[to] = group.joined(in + from); });
    return;
  }
  for_each(results, 0, 0, [&](std::int64_t from, std::int64_t to) {
    reduce_tree<Op, T>(leaves.groups, 1, stack,
                       [&](std::int64_t at, T* place) { *place = group.joined(in + from + at); });
    out[to] = stack[0];
  });
}

// Whether leaves are joined one after the other in less time than side by side.
bool has_few_results(const ReductionPlan& plan) {
  constexpr std::int64_t kFewResults = 8;
  return plan.side.extent < kFewResults && plan.leaf_length >= kReduceLanes &&
         !rows_are_adjacent(plan);
}

template <typename Op, typename S, typename T>
void reduce_by(const ReductionPlan& plan, const S* in, T* out) {
  if (plan.leaf_length == 0) {
    const ReduceLoops results = all_results(plan);
    for_each(results, 0, 0, [&](std::int64_t, std::int64_t to) { out[to] = Op::identity(); });
  } else if (plan.short_leaves) {
    if constexpr (has_short_leaves<Op, T>()) {
      reduce_short<Op>(plan, in, out);
    }
  } else if (plan.run.in == 1 && plan.run.extent >= kLongRun) {
    reduce_long<Op>(plan, in, out);
  } else if (has_few_results(plan)) {
    reduce_rows<Op>(plan, in, out);
  } else {
    reduce_side<Op>(plan, in, out);
  }
}

template <typename T>
void reduce_kind(const ReductionPlan& plan, const T* in, T* out) {
  switch (plan.kind) {
    case ReduceKind::kSum:
      return reduce_by<Sum<T>>(plan, in, out);
    case ReduceKind::kProd:
      return reduce_by<Prod<T>>(plan, in, out);
    case ReduceKind::kMax:
      return reduce_by<Max<T>>(plan, in, out);
    case ReduceKind::kMin:
      return reduce_by<Min<T>>(plan, in, out);
  }
}

void sum_narrow(const ReductionPlan& plan, const void* in, void* out) {
  assert(plan.kind == ReduceKind::kSum);
  with_stored(plan.stored, [&](auto type) {
    using S = decltype(type);
    if constexpr (kIsNarrow<S>) {
      using T = WideOf<S>;
      reduce_by<Sum<T>>(plan, static_cast<const S*>(in), static_cast<T*>(out));
    }
  });
}

template <typename Op, typename T>
void combine_by(const T* left, const T* right, std::int64_t n, T* out) {
  if (out == left) {
    return accumulate<Op>(right, n, out);
  }
  if (out == right) {  // all four are commutative
    return accumulate<Op>(left, n, out);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = Op::apply(left[i], right[i]);
  }
}

template <typename T>
void combine_kind(ReduceKind kind, const T* left, const T* right, std::int64_t n, T* out) {
  switch (kind) {
    case ReduceKind::kSum:
      return combine_by<Sum<T>>(left, right, n, out);
    case ReduceKind::kProd:
      return combine_by<Prod<T>>(left, right, n, out);
    case ReduceKind::kMax:
      return combine_by<Max<T>>(left, right, n, out);
    case ReduceKind::kMin:
      return combine_by<Min<T>>(left, right, n, out);
  }
}

}  // namespace

void reduce(const ReductionPlan& plan, const void* in, void* out) {
  if (is_narrow(plan.stored)) {
    return sum_narrow(plan, in, out);
  }
  with_type(plan.dtype, [&](auto type) {
    using T = decltype(type);
    reduce_kind(plan, static_cast<const T*>(in), static_cast<T*>(out));
  });
}

ReduceKind kind_of(Combine how) {
  switch (how) {
    case Combine::kSum:
      return ReduceKind::kSum;
    case Combine::kMax:
      return ReduceKind::kMax;
    case Combine::kMin:
      return ReduceKind::kMin;
    case Combine::kProd:
    case Combine::kLogSumExp:
    case Combine::kRecurrence:
      break;
  }
  return ReduceKind::kProd;
}

void combine(ReduceKind kind, const float* left, const float* right, std::int64_t n, float* out) {
  combine_kind(kind, left, right, n, out);
}

void combine(ReduceKind kind, const double* left, const double* right, std::int64_t n,
             double* out) {
  combine_kind(kind, left, right, n, out);
}

void combine(ReduceKind kind, const std::int32_t* left, const std::int32_t* right, std::int64_t n,
             std::int32_t* out) {
  combine_kind(kind, left, right, n, out);
}

void combine(ReduceKind kind, const std::int64_t* left, const std::int64_t* right, std::int64_t n,
             std::int64_t* out) {
  combine_kind(kind, left, right, n, out);
}

void combine(ReduceKind kind, const std::uint8_t* left, const std::uint8_t* right, std::int64_t n,
             std::uint8_t* out) {
  combine_kind(kind, left, right, n, out);
}

}  // namespace mtf
