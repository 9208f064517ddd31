// The slices of one rank, cut from whole tensors and put back, for the tests of kernels on slices.

#pragma once

#include <algorithm>
#include <cstring>

#include <catch2/catch.hpp>

#include "ir/kernel.h"
#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {

class NoHost final : public KernelHost {
 public:
  void print(std::string_view /*line*/) override {}
  void fail(DiagKind /*kind*/, std::string text) override { FAIL(text); }
  void warn(DiagKind /*kind*/, std::string /*text*/) override {}
  [[nodiscard]] std::uint64_t seed() const override { return 5; }
  [[nodiscard]] std::uint64_t execution() const override { return 3; }
  [[nodiscard]] bool first_rank() const override { return true; }
};

struct Box {
  std::vector<std::int64_t> offset;
  Shape shape;
};

// What a rank with these shares has of a tensor; nullopt where its part of a dim is not a range.
inline std::optional<Box> box_of(const Shape& whole, const DimMap& map, const IterationSpace& space,
                                 const std::vector<LoopShare>& shares) {
  Box box;
  std::vector<Dim> dims;
  for (std::size_t d = 0; d < whole.rank(); ++d) {
    std::int64_t parts = 1;
    std::int64_t index = 0;
    bool major_is_split = true;  // completely, so that a minor loop may be split too
    for (const std::size_t loop : map[d]) {
      if (shares[loop].parts > 1 && !major_is_split) {
        return std::nullopt;
      }
      major_is_split = major_is_split && shares[loop].parts == space.loops[loop].size;
      parts *= shares[loop].parts;
      index = index * shares[loop].parts + shares[loop].index;
    }
    dims.push_back({.name = whole[d].name, .size = whole[d].size / parts});
    box.offset.push_back(index * dims.back().size);
  }
  box.shape = Shape(std::move(dims));
  return box;
}

// Visits the elements of a box: f(index in the whole, index in the box).
template <typename F>
inline void for_each_element(const Shape& whole, const Box& box, F&& f) {
  const std::vector<std::int64_t> steps = strides_of(whole);
  const std::vector<std::int64_t> own = strides_of(box.shape);
  for (std::int64_t i = 0; i < box.shape.volume(); ++i) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < whole.rank(); ++d) {
      at += (i / own[d] % box.shape[d].size + box.offset[d]) * steps[d];
    }
    f(static_cast<std::size_t>(at), static_cast<std::size_t>(i));
  }
}

inline HostTensor cut(const HostTensor& whole, const Box& box) {
  const std::size_t width = bytes_of(whole.type.dtype);
  HostTensor part{.type = {.dtype = whole.type.dtype, .shape = box.shape}, .data = {}};
  part.data.resize(static_cast<std::size_t>(part.type.bytes()));
  for_each_element(whole.type.shape, box, [&](std::size_t at, std::size_t i) {
    std::memcpy(part.data.data() + i * width, whole.data.data() + at * width, width);
  });
  return part;
}

// What computes with an element.
template <typename T>
auto number(T element) {
  if constexpr (std::is_arithmetic_v<T>) {
    return element;
  } else {
    return static_cast<float>(element);
  }
}

// a = combine(a, b), element by element.
inline void combine(Combine how, HostTensor& a, const HostTensor& b) {
  with_stored(a.type.dtype, [&](auto type) {
    using T = decltype(type);
    const std::size_t n = a.data.size() / sizeof(T);
    for (std::size_t i = 0; i < n; ++i) {
      T x{};
      T y{};
      std::memcpy(&x, a.data.data() + i * sizeof(T), sizeof(T));
      std::memcpy(&y, b.data.data() + i * sizeof(T), sizeof(T));
      const auto c = number(x);
      const auto d = number(y);
      const T all = static_cast<T>(how == Combine::kSum   ? c + d
                                   : how == Combine::kMax ? std::max(c, d)
                                   : how == Combine::kMin ? std::min(c, d)
                                                          : c * d);
      std::memcpy(a.data.data() + i * sizeof(T), &all, sizeof(T));
    }
  });
}

inline TensorView view_of(const HostTensor& tensor, std::vector<std::int64_t> offset) {
  return {.data = const_cast<std::byte*>(tensor.data.data()),
          .shape = tensor.type.shape,
          .offset = std::move(offset),
          .dtype = tensor.type.dtype};
}

}  // namespace mtf::tests
