// Reductions in two loops: many results side by side, or one result over long runs in memory.

#include "runtime/kernels/reduce_kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <span>

#include "runtime/kernels/reduce_kernel_ops.h"
#include "runtime/kernels/reduce_run.h"
#include "runtime/kernels/tree.h"
#include "runtime/vector_math/narrow.h"

namespace mtf {
namespace {

constexpr std::int64_t kWidth = 64;    // results side by side
constexpr std::int64_t kLongRun = 32;  // reduced elements side by side
constexpr int kMaxDepth = 96;          // of the tree's stack
constexpr std::int64_t kMostLeaves = 16;

struct Loop {
  std::int64_t extent = 1;
  std::int64_t in = 0;
  std::int64_t out = 0;
};

using Loops = std::vector<Loop>;

}  // namespace

// A reduction as loops: over results, over leaves, and inside a leaf; last is fastest.
struct ReductionPlan {
  ReduceKind kind = ReduceKind::kSum;
  DType dtype = DType::kF32;
  DType stored = DType::kF32;  // of the operand; `dtype` is what it is widened to
  Loops results;               // without `side`
  Loop side;                   // results that are done together
  Loops leaves;
  Loops inside;  // without `run`
  Loop run;      // the fastest
  std::int64_t leaf_length = 1;
  std::vector<int> merges;  // per leaf
};

namespace {

// Appends a loop inside the others, as a longer one where memory goes on.
void append(Loops& loops, const Loop& loop) {
  if (loop.extent == 1) {
    return;
  }
  if (!loops.empty() && loops.back().in == loop.extent * loop.in &&
      loops.back().out == loop.extent * loop.out) {
    loops.back() = {.extent = loops.back().extent * loop.extent, .in = loop.in, .out = loop.out};
  } else {
    loops.push_back(loop);
  }
}

Loop take(Loops& loops, std::size_t i) {
  const Loop loop = loops[i];
  loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
  return loop;
}

// The loop whose results lie side by side, if it has enough of them, or the longest.
Loop take_side(Loops& loops) {
  if (loops.empty()) {
    return {};
  }
  std::size_t best = 0;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const bool adjacent = loops[i].in == 1 && loops[i].extent >= kWidth / 4;
    if (adjacent || loops[i].extent > loops[best].extent) {
      best = i;
    }
    if (adjacent) {
      break;
    }
  }
  return take(loops, best);
}

// Calls visit(in, out) for all index tuples, row-major.
template <typename Visit>
void for_each(std::span<const Loop> loops, std::int64_t in, std::int64_t out, const Visit& visit) {
  if (loops.empty()) {
    visit(in, out);
    return;
  }
  for (std::int64_t i = 0; i < loops[0].extent; ++i) {
    for_each(loops.subspan(1), in + i * loops[0].in, out + i * loops[0].out, visit);
  }
}

// Lanes of `count` results: lane l of result j is at [l * kWidth + j].
template <typename T>
struct Lanes {
  alignas(64) std::array<T, static_cast<std::size_t>(kReduceLanes* kWidth)> at;

  T* lane(std::int64_t i) { return at.data() + i * kWidth; }
};

// Operands are stored as S, here and below, and widened as they are read.
template <typename Op, typename S, typename T>
void accumulate(const S* __restrict x, std::int64_t count, T* __restrict out) {
  for (std::int64_t j = 0; j < count; ++j) {
    out[j] = Op::apply(out[j], static_cast<T>(x[j]));
  }
}

// Combines one element per result, `stride` apart, with a lane that is new or not.
template <typename Op, typename S, typename T>
void add_elements(const S* x, std::int64_t stride, std::int64_t count, bool is_new, T* lane) {
  if (is_new) {
    for (std::int64_t j = 0; j < count; ++j) {
      lane[j] = Op::apply(Op::identity(), static_cast<T>(x[j * stride]));
    }
  } else if (stride == 1) {
    accumulate<Op>(x, count, lane);
  } else {
    for (std::int64_t j = 0; j < count; ++j) {
      lane[j] = Op::apply(lane[j], static_cast<T>(x[j * stride]));
    }
  }
}

// The leaf at `x` of `count` results side by side.
template <typename Op, typename S, typename T>
void reduce_leaf(const ReductionPlan& plan, const S* x, std::int64_t count, Lanes<T>& lanes,
                 T* out) {
  std::int64_t number = 0;
  for_each(plan.inside, 0, 0, [&](std::int64_t at, std::int64_t) {
    for (std::int64_t i = 0; i < plan.run.extent; ++i) {
      add_elements<Op>(x + at + i * plan.run.in, plan.side.in, count, number < kReduceLanes,
                       lanes.lane(number % kReduceLanes));
      ++number;
    }
  });
  const std::int64_t used = std::min<std::int64_t>(kReduceLanes, plan.leaf_length);
  for (std::int64_t half = kReduceLanes / 2; half > 0; half /= 2) {
    for (std::int64_t l = 0; l < half && l + half < used; ++l) {
      accumulate<Op>(lanes.lane(l + half), count, lanes.lane(l));
    }
  }
  std::copy_n(lanes.lane(0), count, out);
}

// A leaf of one result, over runs that lie side by side.
template <typename Op, typename T, typename S>
T reduce_long_leaf(const ReductionPlan& plan, const S* x) {
  if (plan.inside.empty()) {
    return reduce_run<Op, T>(x, plan.run.extent);
  }
  alignas(64) std::array<T, kReduceLanes> lanes{};
  lanes.fill(Op::identity());
  std::size_t phase = 0;
  for_each(plan.inside, 0, 0, [&](std::int64_t at, std::int64_t) {
    const S* run = x + at;
    std::int64_t i = 0;
    for (; phase != 0 && i < plan.run.extent; ++i) {
      lanes[phase] = Op::apply(lanes[phase], static_cast<T>(run[i]));
      phase = (phase + 1) % kReduceLanes;
    }
    for (; i + kReduceLanes <= plan.run.extent; i += kReduceLanes) {
      for (std::size_t l = 0; l < kReduceLanes; ++l) {
        lanes[l] = Op::apply(lanes[l], static_cast<T>(run[i + static_cast<std::int64_t>(l)]));
      }
    }
    for (; i < plan.run.extent; ++i) {
      lanes[phase] = Op::apply(lanes[phase], static_cast<T>(run[i]));
      ++phase;
    }
  });
  for (std::size_t half = kReduceLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      lanes[l] = Op::apply(lanes[l], lanes[l + half]);
    }
  }
  return lanes[0];
}

// Leaves through the tree: leaf(in offset, place) computes one, `count` results wide.
template <typename Op, typename T, typename Leaf>
void reduce_tree(const ReductionPlan& plan, std::int64_t count, std::span<T> stack,
                 const Leaf& leaf) {
  std::size_t leaf_index = 0;
  T* top = stack.data();
  for_each(plan.leaves, 0, 0, [&](std::int64_t at, std::int64_t) {
    leaf(at, top);
    top += count;
    for (int m = plan.merges[leaf_index]; m > 0; --m) {
      top -= count;
      accumulate<Op>(top, count, top - count);
    }
    ++leaf_index;
  });
}

template <typename Op, typename S, typename T>
void reduce_side(const ReductionPlan& plan, const S* in, T* out) {
  Lanes<T> lanes{};
  std::vector<T> stack(static_cast<std::size_t>(kMaxDepth * kWidth));
  for_each(plan.results, 0, 0, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t j = 0; j < plan.side.extent; j += kWidth) {
      const std::int64_t count = std::min(kWidth, plan.side.extent - j);
      const S* x = in + from + j * plan.side.in;
      reduce_tree<Op, T>(plan, count, stack, [&](std::int64_t at, T* place) {
        reduce_leaf<Op>(plan, x + at, count, lanes, place);
      });
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
    found[l] = reduce_run<Op, T>(x + static_cast<std::int64_t>(l) * length, length);
  }
  for (std::size_t half = count / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) {
      found[l] = Op::apply(found[2 * l], found[2 * l + 1]);
    }
  }
  return found[0];
}

bool is_perfect(const ReductionPlan& plan) {
  const bool adjacent = plan.leaves.size() == 1 && plan.leaves[0].in == plan.run.extent;
  return plan.inside.empty() && adjacent && plan.leaves[0].extent <= kMostLeaves &&
         std::has_single_bit(static_cast<std::uint64_t>(plan.leaves[0].extent));
}

template <typename Op, typename S, typename T>
void reduce_long(const ReductionPlan& plan, const S* in, T* out) {
  std::array<T, kMaxDepth> stack{};
  Loops results = plan.results;
  results.push_back(plan.side);
  if (is_perfect(plan)) {
    const std::int64_t leaves = plan.leaves[0].extent;
    for_each(results, 0, 0, [&](std::int64_t from, std::int64_t to) {
      out[to] = reduce_perfect<Op, T>(in + from, leaves, plan.run.extent);
    });
    return;
  }
  for_each(results, 0, 0, [&](std::int64_t from, std::int64_t to) {
    reduce_tree<Op, T>(plan, 1, stack, [&](std::int64_t at, T* place) {
      *place = reduce_long_leaf<Op, T>(plan, in + from + at);
    });
    out[to] = stack[0];
  });
}

template <typename Op, typename S, typename T>
void reduce_by(const ReductionPlan& plan, const S* in, T* out) {
  if (plan.leaf_length == 0) {
    Loops results = plan.results;
    results.push_back(plan.side);
    for_each(results, 0, 0, [&](std::int64_t, std::int64_t to) { out[to] = Op::identity(); });
  } else if (plan.run.in == 1 && plan.run.extent >= kLongRun) {
    reduce_long<Op>(plan, in, out);
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

std::shared_ptr<const ReductionPlan> plan_reduction(const Reduction& reduction, DType stored) {
  const DType dtype = wide_of(stored);
  // The order of terms shows in the bits.
  const bool ordered =
      is_float(dtype) && reduction.kind != ReduceKind::kMax && reduction.kind != ReduceKind::kMin;
  ReductionPlan plan{.kind = reduction.kind, .dtype = dtype, .stored = stored};
  std::vector<KeptDim> kept = reduction.kept;
  std::ranges::stable_sort(
      kept, [](const KeptDim& x, const KeptDim& y) { return std::abs(x.in) > std::abs(y.in); });
  for (const KeptDim& dim : kept) {
    append(plan.results, {.extent = dim.extent, .in = dim.in, .out = dim.out});
  }
  plan.side = take_side(plan.results);
  std::vector<std::int64_t> blocks;
  for (const ReducedDim& dim : reduction.reduced) {
    blocks.push_back(ordered ? dim.blocks : 1);
    assert(dim.blocks > 0 && dim.extent % dim.blocks == 0);
    const std::int64_t length = dim.extent / blocks.back();
    append(plan.leaves, {.extent = blocks.back(), .in = dim.in * length});
    append(plan.inside, {.extent = length, .in = dim.in});
    plan.leaf_length *= length;
  }
  if (!plan.inside.empty()) {
    plan.run = take(plan.inside, plan.inside.size() - 1);
  }
  plan.merges = combine_tree_blocks(blocks);
  return std::make_shared<const ReductionPlan>(std::move(plan));
}

void reduce(const ReductionPlan& plan, const void* in, void* out) {
  if (is_narrow(plan.stored)) {
    return sum_narrow(plan, in, out);
  }
  with_type(plan.dtype, [&](auto type) {
    using T = decltype(type);
    reduce_kind(plan, static_cast<const T*>(in), static_cast<T*>(out));
  });
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
