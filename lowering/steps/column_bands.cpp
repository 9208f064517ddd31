#include "lowering/steps/column_bands.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "ir/kernel.h"

namespace mtf {
namespace {

// Bytes side by side, of all tensors, for which a pass goes to another row: with fewer, more time
// goes to finding rows than to what they hold.
constexpr std::int64_t kLeastCut = 8192;

// Of a block that is not cut, and of any band: it takes no longer than where each call has a pass
// of its own.
constexpr std::int64_t kMostBlockBytes = 4 * kMostRowBytes;

// Larger than other bands: they have whole blocks, and what the reductions read of them still stays
// in the cache.
constexpr std::int64_t kColumnBandBytes = 2 * kBandBytes;

// Of a band that is cut into columns. Each of its rows begins in another page, where the hardware
// has to find its stream anew, and is a pass: on a Zen 5, bands of a quarter, with rows of 1 KiB of
// each tensor, took twice as long, and four times what whole rows do.
constexpr std::int64_t kCutBandBytes = 4 * kColumnBandBytes;

// The loop of a dim of the operand; requires: is_reduction(call).
std::size_t loop_of(const LocalCall& call, std::size_t dim) {
  return call.split->space->operands.front()[dim].front();
}

bool reduces(const LocalCall& call, std::size_t dim) {
  return call.split->space->loops[loop_of(call, dim)].role == DimRole::kReduced;
}

// Indices of a canonical block of a dim of the operand that is reduced.
std::int64_t block_of(const SpmdProgram& program, const LocalCall& call, std::size_t dim) {
  const std::size_t loop = loop_of(call, dim);
  const std::int64_t parts = program.mesh.size_of(call.split->loops[loop]);
  return call.split->space->loops[loop].size / parts /
         blocks_of_share(*call.split->space, loop, parts);
}

// So many blocks, a power of two, that they take no more than a band does, but one at least.
std::int64_t rows_of(std::int64_t block, std::int64_t bytes_of_block, std::int64_t band_bytes,
                     std::int64_t extent) {
  const std::int64_t blocks = std::max<std::int64_t>(band_bytes / bytes_of_block, 1);
  const auto together = static_cast<std::int64_t>(std::bit_floor(static_cast<std::size_t>(blocks)));
  return std::min(block * together, extent);
}

// What all such reductions of a chain ask of the first two common dims.
struct Columns {
  std::int64_t outer_block = 1;
  std::int64_t inner_block = 1;
  bool nests = false;     // a tree over blocks of the second dim is inside that of the first
  bool all_equal = true;  // where it is, blocks of the first dim are of one size
  std::vector<const LocalCall*> calls;
};

Columns columns_of(const SpmdProgram& program, const Chain& chain, std::size_t dims) {
  Columns columns;
  std::vector<std::int64_t> nested;
  for (const LocalCall* call : chain) {
    if (!reduces_leading_dim(program, *call)) {
      continue;
    }
    columns.calls.push_back(call);
    const std::int64_t own = block_of(program, *call, 0);
    columns.outer_block = std::max(columns.outer_block, own);
    if (dims > 1 && reduces(*call, 1)) {
      nested.push_back(own);
      columns.inner_block = std::max(columns.inner_block, block_of(program, *call, 1));
    }
  }
  columns.nests = !nested.empty();
  columns.all_equal = std::ranges::all_of(
      nested, [&columns](std::int64_t own) { return own == columns.outer_block; });
  return columns;
}

// Over indices of both dims together. What the second dim keeps may be cut anywhere, so there as
// many rows go together as leave some of it. `bytes`: of one index of both.
Bands bands_of_both(const Columns& columns, const Shape& prefix, std::int64_t bytes) {
  constexpr std::int64_t kLeastRun = 65536;  // bytes side by side, of all tensors
  const std::int64_t outer =
      columns.nests ? columns.outer_block
                    : rows_of(columns.outer_block, columns.outer_block * std::max(bytes, kLeastRun),
                              kCutBandBytes, prefix[0].size);
  const std::int64_t of_block = outer * columns.inner_block * bytes;
  return {.cut = 1,
          .rows = rows_of(columns.inner_block, of_block, kCutBandBytes, prefix[1].size),
          .outer = outer};
}

// Those of columns_of.
Bands bands_of(const Columns& columns, const Shape& prefix, std::int64_t row_bytes) {
  const std::int64_t of_index =
      std::max<std::int64_t>(row_bytes, 1) * (prefix.volume() / prefix[0].size);
  const std::int64_t of_block = columns.outer_block * of_index;
  const Bands whole{
      .cut = 0, .rows = rows_of(columns.outer_block, of_block, kColumnBandBytes, prefix[0].size)};
  if (of_block <= kMostBlockBytes || prefix.rank() == 1 || !columns.all_equal) {
    return whole;
  }
  const std::int64_t of_both = of_index / prefix[1].size;
  const Bands cut = bands_of_both(columns, prefix, of_both);
  return cut.rows * of_both < kLeastCut ? whole : cut;
}

// Whether what bands leave to be joined is small, by itself or beside what they read.
bool leaves_little(const SpmdProgram& program, const Columns& columns, const Shape& prefix,
                   const Bands& bands) {
  constexpr std::int64_t kLittle = 16;
  return std::ranges::all_of(columns.calls, [&](const LocalCall* call) {
    std::int64_t parts = prefix[0].size / (bands.cut == 0 ? bands.rows : bands.outer);
    if (bands.cut == 1 && reduces(*call, 1)) {
      parts *= prefix[1].size / bands.rows;
    }
    const std::int64_t bytes = parts * program.at(call->result).local.bytes();
    return bytes <= kBandBytes / 4 ||
           kLittle * bytes <= program.at(call->operands.front()).local.bytes();
  });
}

}  // namespace

bool reduces_leading_dim(const SpmdProgram& program, const LocalCall& call) {
  const OpDef& op = call.op();
  const bool joins_parts = op.tile == nullptr && op.algebra != Algebra::kEinsum &&
                           is_reduction(call) && reduces(call, 0);
  if (!joins_parts ||
      call.split->call.result.dtype != wide_of(call.split->call.operands.front().dtype)) {
    return false;
  }
  const std::vector<LoopDim>& loops = call.split->space->loops;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    const bool whole =
        loops[l].size > 0 && loops[l].size % program.mesh.size_of(call.split->loops[l]) == 0;
    if (loops[l].role == DimRole::kReduced && !whole) {
      return false;
    }
  }
  return program.at(call.operands.front()).layout->where == program.at(call.result).layout->where;
}

Bands column_bands(const SpmdProgram& program, const Chain& chain, const Shape& prefix,
                   std::int64_t row_bytes) {
  return bands_of(columns_of(program, chain, prefix.rank()), prefix, row_bytes);
}

bool may_run_in_column_bands(const SpmdProgram& program, const Chain& chain, const Shape& prefix,
                             std::int64_t row_bytes) {
  if (prefix.volume() == 0) {
    return false;
  }
  const Columns columns = columns_of(program, chain, prefix.rank());
  const Bands bands = bands_of(columns, prefix, row_bytes);
  std::int64_t rows = bands.outer * bands.rows;
  for (std::size_t d = bands.cut + 1; d < prefix.rank(); ++d) {
    rows *= prefix[d].size;
  }
  return rows * row_bytes <= kMostBlockBytes && leaves_little(program, columns, prefix, bands);
}

}  // namespace mtf
