#include "runtime/products/offsets.h"

#include <algorithm>
#include <utility>

namespace mtf {
namespace {

constexpr std::int64_t kLongTable = 1 << 18;  // elements; longer ones there are none

using Loops = std::pmr::vector<OffsetLoop>;

// The loops over `dims` in one tensor, as few as walk it.
Loops loops_of(const Dims& dims, Stride stride) {
  Loops loops(dims.get_allocator());
  loops.reserve(dims.size());
  for (const GemmDim& dim : dims) {
    if (dim.extent == 1) {
      continue;
    }
    if (!loops.empty() && loops.back().stride == dim.extent * (dim.*stride)) {
      loops.back() = {.extent = loops.back().extent * dim.extent, .stride = dim.*stride};
    } else {
      loops.push_back({.extent = dim.extent, .stride = dim.*stride});
    }
  }
  return loops;
}

void count_runs(Offsets& offsets) {
  offsets.runs.assign(offsets.table.size(), 1);
  for (std::size_t i = offsets.table.size(); i-- > 1;) {
    if (offsets.table[i] == offsets.table[i - 1] + 1) {
      offsets.runs[i - 1] = offsets.runs[i] + 1;
    }
  }
}

void fill_table(const Loops& loops, Offsets& offsets) {
  if (offsets.size == 0) {
    return;
  }
  offsets.table.resize(static_cast<std::size_t>(offsets.size));
  // Each loop, from the fastest, repeats what is there so far.
  std::size_t filled = 1;
  for (std::size_t d = loops.size(); d-- > 0;) {
    const auto extent = static_cast<std::size_t>(loops[d].extent);
    for (std::size_t i = 1; i < extent; ++i) {
      const std::int64_t shift = static_cast<std::int64_t>(i) * loops[d].stride;
      for (std::size_t j = 0; j < filled; ++j) {
        offsets.table[i * filled + j] = offsets.table[j] + shift;
      }
    }
    filled *= extent;
  }
  count_runs(offsets);
}

// Which index of one product it is, and of which product.
std::pair<std::int64_t, std::size_t> product_at(const Offsets& offsets, std::int64_t i) {
  if (offsets.shifts.empty()) {
    return {i, 0};
  }
  const auto products = static_cast<std::int64_t>(offsets.shifts.size());
  const std::int64_t part = i / offsets.leaf;
  return {part / products * offsets.leaf + i % offsets.leaf,
          static_cast<std::size_t>(part % products)};
}

}  // namespace

std::int64_t Offsets::work_out(std::int64_t i) const {
  auto [rest, product] = product_at(*this, i);
  std::int64_t offset = shifts.empty() ? 0 : shifts[product];
  for (std::size_t d = loops.size(); d-- > 0;) {
    offset += rest % loops[d].extent * loops[d].stride;
    rest /= loops[d].extent;
  }
  return offset;
}

std::int64_t Offsets::work_out_run(std::int64_t i) const {
  if (loops.empty() || loops.back().stride != 1) {
    return 1;
  }
  const auto [index, product] = product_at(*this, i);
  const std::int64_t in_loop = loops.back().extent - index % loops.back().extent;
  return shifts.empty() ? in_loop : std::min(in_loop, leaf - i % leaf);
}

Offsets offsets_of(const Dims& dims, Stride stride) {
  const auto memory = dims.get_allocator();
  Loops loops = loops_of(dims, stride);
  Offsets result = {.size = 1,
                    .even = loops.size() < 2,
                    .step = loops.empty() ? 0 : loops.back().stride,
                    .table = Int64s(memory),
                    .runs = Int64s(memory),
                    .loops = Loops(memory),
                    .shifts = Int64s(memory)};
  for (const GemmDim& dim : dims) {
    result.size *= dim.extent;
  }
  if (!result.even && result.size <= kLongTable) {
    fill_table(loops, result);
  }
  result.loops = std::move(loops);
  return result;
}

Offsets offsets_of(const std::vector<GemmDim>& dims, Stride stride) {
  return offsets_of(Dims(dims.begin(), dims.end()), stride);
}

Offsets with_terms(Offsets one, std::int64_t leaf, const std::vector<GemmTerm>& terms,
                   std::int64_t GemmTerm::*side) {
  if (terms.empty() || one.size == 0) {
    return one;
  }
  const auto memory = one.table.get_allocator();
  const auto products = static_cast<std::int64_t>(terms.size()) + 1;
  Offsets all = {.size = one.size * products,
                 .even = false,
                 .step = 0,
                 .table = Int64s(memory),
                 .runs = Int64s(memory),
                 .loops = Loops(memory),
                 .leaf = leaf,
                 .shifts = Int64s(memory)};
  all.shifts.push_back(0);
  for (const GemmTerm& term : terms) {
    all.shifts.push_back(term.*side);
  }
  if (all.size > kLongTable) {
    all.loops = std::move(one.loops);
    return all;
  }
  all.table.reserve(static_cast<std::size_t>(all.size));
  for (std::int64_t begin = 0; begin < one.size; begin += leaf) {
    for (const std::int64_t shift : all.shifts) {
      for (std::int64_t i = begin; i < begin + leaf; ++i) {
        all.table.push_back(one.at(i) + shift);
      }
    }
  }
  count_runs(all);
  return all;
}

}  // namespace mtf
