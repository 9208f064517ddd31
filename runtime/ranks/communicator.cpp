// Combination the messages of several ranks, the same for every kind of communicator.

#include "runtime/ranks/communicator.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/tree.h"
#include "runtime/vector_math/narrow.h"

namespace mtf {
namespace {

constexpr std::size_t kTileBytes = 4096;

template <typename T>
struct alignas(64) Tile {
  std::array<T, kTileBytes / sizeof(T)> values;
};

// A tree of 2^k leaves needs k + 1 entries on the stack.
std::size_t tree_depth(std::size_t leaves) {
  return static_cast<std::size_t>(std::bit_width(leaves - 1)) + 1;
}

// What the tree of the leaves so far has come to: each entry is a leaf, read where it lies, or a
// sum in the tile of its place on the stack. The tiles of many leaves are more than the stack of a
// thread may hold.
template <typename T>
class TileJoin {
 public:
  TileJoin(ReduceKind kind, Ins parts)
      : kind_(kind),
        parts_(parts),
        stack_(tree_depth(parts.size())),
        // NOLINTNEXTLINE(modernize-avoid-c-arrays)
        tiles_(std::make_unique_for_overwrite<Tile<T>[]>(stack_.size())) {}

  void join(std::int64_t begin, std::int64_t count, T* out) {
    std::size_t top = 0;
    const auto leaves = static_cast<std::int64_t>(parts_.size());
    for (std::int64_t i = 0; i < leaves; ++i) {
      stack_[top++] = static_cast<const T*>(parts_[static_cast<std::size_t>(i)]) + begin;
      for (int merges = merges_after(i, leaves); merges > 0; --merges) {
        --top;
        T* sum = tiles_[top - 1].values.data();
        combine(kind_, stack_[top - 1], stack_[top], count, sum);
        stack_[top - 1] = sum;
      }
    }
    assert(top == 1);
    std::memcpy(out + begin, stack_[0], static_cast<std::size_t>(count) * sizeof(T));
  }

 private:
  ReduceKind kind_;
  Ins parts_;
  std::vector<const T*> stack_;
  std::unique_ptr<Tile<T>[]> tiles_;  // NOLINT(modernize-avoid-c-arrays): not cleared
};

// Widened, piece by piece. Rounding does not show: of what is narrow, ranks only exchange elements
// that one of them has, and others give -0 for.
void combine_narrow(Combination how, Ins parts, std::int64_t count, void* out) {
  constexpr std::size_t kPiece = kTileBytes / sizeof(float);
  const DType narrowed = std::exchange(how.dtype, wide_of(how.dtype));
  const std::size_t width = bytes_of(narrowed);
  std::vector<std::array<std::uint32_t, kPiece>> pieces(parts.size());
  std::vector<const void*> wide(parts.size());
  for (std::size_t begin = 0; begin < static_cast<std::size_t>(count); begin += kPiece) {
    const std::size_t size = std::min(kPiece, static_cast<std::size_t>(count) - begin);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      widen(narrowed, static_cast<const std::byte*>(parts[i]) + begin * width, size,
            pieces[i].data());
      wide[i] = pieces[i].data();
    }
    combine_parts(how, wide, static_cast<std::int64_t>(size), pieces[0].data());
    narrow(narrowed, pieces[0].data(), size, static_cast<std::byte*>(out) + begin * width);
  }
}

Cores alone() {
  const std::vector<std::vector<int>> allowed = {allowed_cores()};
  return with_asked_threads(cores_of(allowed, 0));
}

}  // namespace

Communicator::Communicator(std::size_t local_ranks)
    : traffic_(local_ranks), cores_(with_asked_threads(alone())) {}

void combine_parts(Combination how, Ins parts, std::int64_t count, void* out) {
  if (count == 0) {
    return;
  }
  if (is_narrow(how.dtype)) {
    return combine_narrow(how, parts, count, out);
  }
  const ReduceKind kind = kind_of(how.combine);
  with_type(how.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* to = static_cast<T*>(out);
    if (parts.size() == 1) {
      std::memmove(to, parts[0], static_cast<std::size_t>(count) * sizeof(T));
      return;
    }
    if (parts.size() == 2) {
      combine(kind, static_cast<const T*>(parts[0]), static_cast<const T*>(parts[1]), count, to);
      return;
    }
    const auto tile = static_cast<std::int64_t>(kTileBytes / sizeof(T));
    TileJoin<T> tiles(kind, parts);
    for (std::int64_t begin = 0; begin < count; begin += tile) {
      tiles.join(begin, std::min(tile, count - begin), to);
    }
  });
}

}  // namespace mtf
