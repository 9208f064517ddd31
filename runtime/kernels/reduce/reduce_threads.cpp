// A reduction as several on threads: of parts of the results, or of subtrees whose results are then
// combined as one thread would.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <utility>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/reduce/reduction_plan.h"
#include "runtime/kernels/reduce/short_leaves.h"
#include "runtime/kernels/thread_team.h"
#include "runtime/kernels/tree.h"

namespace mtf {
namespace {

constexpr std::int64_t kAdjacent = 16;  // results of a thread at least, where they lie side by side

template <typename T>
T* advanced(T* data, std::int64_t elements, DType dtype) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(data) + elements * static_cast<std::int64_t>(bytes_of(dtype));
}

// ---- results -----------------------------------------------------------------------------------

// In the plan or a copy of it.
template <typename Plan>
auto& result_loop(Plan& plan, std::size_t number) {
  return number < plan.results.size() ? plan.results[number] : plan.side;
}

std::int64_t units_of(const ReduceLoop& loop) {
  return loop.in == 1 ? loop.extent / kAdjacent : loop.extent;
}

// The outermost loop that has enough for all threads, or the one that has most.
std::size_t loop_to_cut(const ReductionPlan& plan, std::int64_t threads) {
  std::size_t best = 0;
  for (std::size_t i = 0; i <= plan.results.size(); ++i) {
    const std::int64_t units = units_of(result_loop(plan, i));
    if (units > units_of(result_loop(plan, best))) {
      best = i;
    }
    if (units >= threads) {
      break;
    }
  }
  return best;
}

void reduce_results(const ReductionPlan& plan, std::size_t number, const void* in, void* out,
                    int threads) {
  run_in_parts(threads, result_loop(plan, number).extent, [&](Interval part) {
    ReductionPlan mine = plan;
    ReduceLoop& loop = result_loop(mine, number);
    loop.extent = part.extent;
    reduce(mine, advanced(in, part.begin * loop.in, plan.stored),
           advanced(out, part.begin * loop.out, plan.dtype));
  });
}

// ---- subtrees ----------------------------------------------------------------------------------

// Leaves that are a power of two have a perfect tree, of which each so many neighbours are a
// subtree.
struct Subtrees {
  ReductionPlan plan;  // of one, whose results lie behind each other
  ReduceLoops loops;   // over them
  std::int64_t count = 1;
  std::int64_t results = 1;
};

// The first `count` of loops over a power of two are left there, the others taken.
ReduceLoops take_inner(ReduceLoops& loops, std::int64_t count) {
  ReduceLoops inner;
  for (ReduceLoop& loop : loops) {
    const std::int64_t outer = std::min(count, loop.extent);
    const ReduceLoop rest{.extent = loop.extent / outer, .in = loop.in};
    loop = {.extent = outer, .in = loop.in * rest.extent};
    count /= outer;
    if (rest.extent > 1) {
      inner.push_back(rest);
    }
  }
  return inner;
}

Subtrees subtrees_of(const ReductionPlan& plan, std::int64_t count) {
  Subtrees trees{.plan = plan, .loops = plan.leaves.loops, .count = count};
  const std::int64_t leaves = trips_of(plan.leaves.loops) / count;
  trees.plan.leaves = {.loops = take_inner(trees.loops, count),
                       .merges = combine_tree_blocks({&leaves, 1})};
  if (plan.short_leaves) {
    trees.plan.short_leaves = short_leaves_of(trees.plan);
  }
  for (std::size_t i = plan.results.size() + 1; i-- > 0;) {
    ReduceLoop& loop = result_loop(trees.plan, i);
    loop.out = trees.results;
    trees.results *= loop.extent;
  }
  return trees;
}

// Of dtype `dtype`, for combine(…), whose types are many.
void combine_rows(const ReductionPlan& plan, const std::byte* left, const std::byte* right,
                  std::int64_t n, std::byte* out) {
  with_type(plan.dtype, [&](auto type) {
    using T = decltype(type);
    combine(plan.kind, reinterpret_cast<const T*>(left), reinterpret_cast<const T*>(right), n,
            reinterpret_cast<T*>(out));
  });
}

void reduce_subtrees(const ReductionPlan& plan, const Subtrees& trees, const void* in, void* out,
                     int threads) {
  std::vector<std::int64_t> begins;
  for_each(trees.loops, 0, 0, [&](std::int64_t at, std::int64_t) { begins.push_back(at); });
  const auto row = static_cast<std::size_t>(trees.results) * bytes_of(plan.dtype);
  std::vector<std::byte> rows(begins.size() * row);
  run_in_parts(threads, trees.count, [&](Interval part) {
    for (auto tree = static_cast<std::size_t>(part.begin);
         tree < static_cast<std::size_t>(part.end()); ++tree) {
      reduce(trees.plan, advanced(in, begins[tree], plan.stored), rows.data() + tree * row);
    }
  });
  for (std::size_t half = begins.size() / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      combine_rows(plan, rows.data() + 2 * i * row, rows.data() + (2 * i + 1) * row, trees.results,
                   rows.data() + i * row);
    }
  }
  const ReduceLoops results = all_results(plan);
  const std::byte* found = rows.data();
  for_each(results, 0, 0, [&](std::int64_t, std::int64_t to) {
    std::copy_n(found, bytes_of(plan.dtype),
                static_cast<std::byte*>(advanced(out, to, plan.dtype)));
    found += bytes_of(plan.dtype);
  });
}

}  // namespace

void reduce(const ReductionPlan& plan, const void* in, void* out, const Cpu& cpu) {
  const int threads = threads_for(cpu, elements_of(plan));
  if (threads == 1) {
    return reduce(plan, in, out);
  }
  const std::size_t loop = loop_to_cut(plan, threads);
  const auto leaves = static_cast<std::uint64_t>(trips_of(plan.leaves.loops));
  const bool are_few = 2 * units_of(result_loop(plan, loop)) <= threads;
  if (are_few && leaves > 1 && std::has_single_bit(leaves)) {
    constexpr std::uint64_t kEach = 4;  // of a thread, so that they come out even
    const std::uint64_t count =
        std::min(leaves, std::bit_ceil(kEach * static_cast<std::uint64_t>(threads)));
    return reduce_subtrees(plan, subtrees_of(plan, static_cast<std::int64_t>(count)), in, out,
                           threads);
  }
  reduce_results(plan, loop, in, out, threads);
}

}  // namespace mtf
