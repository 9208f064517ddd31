// Products of random dims, in random orders in memory, and the instruction sets to do them with.

#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "runtime/products/gemm.h"

namespace mtf {

inline std::vector<Isa> usable_isas() {
  std::vector<Isa> result;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Bf16}) {
    if (isa <= widest_isa()) {
      result.push_back(isa);
    }
  }
  return result;
}

inline std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

// Strides that lay the dims, each once in a tensor, in a random order in memory.
inline void lay_out(std::vector<std::pair<GemmDim*, std::int64_t GemmDim::*>> dims,
                    std::mt19937& random) {
  std::ranges::shuffle(dims, random);
  std::int64_t stride = 1;
  for (const auto& [dim, member] : dims) {
    dim->*member = stride;
    stride *= dim->extent;
  }
}

struct Sized {
  Gemm gemm;
  std::int64_t a = 1;
  std::int64_t b = 1;
  std::int64_t out = 1;
};

inline std::vector<GemmDim> random_dims(std::mt19937& random, int most, std::int64_t extent,
                                        bool blocks) {
  std::vector<GemmDim> dims(static_cast<std::size_t>(pick(random, 0, most)));
  for (GemmDim& dim : dims) {
    dim.blocks = blocks ? std::int64_t{1} << pick(random, 0, 3) : 1;
    dim.extent = dim.blocks * std::max<std::int64_t>(1, pick(random, 1, extent) / dim.blocks);
  }
  return dims;
}

inline Sized random_product(std::mt19937& random) {
  Sized result;
  Gemm& gemm = result.gemm;
  gemm = {.batch = random_dims(random, 2, 2, false),
          .rows = random_dims(random, 2, 8, false),
          .cols = random_dims(random, 2, 8, false),
          .inner = random_dims(random, 3, 9, true),
          .accumulate = pick(random, 0, 3) == 0};
  std::vector<std::pair<GemmDim*, std::int64_t GemmDim::*>> a;
  std::vector<std::pair<GemmDim*, std::int64_t GemmDim::*>> b;
  std::vector<std::pair<GemmDim*, std::int64_t GemmDim::*>> out;
  for (auto* dims : {&gemm.batch, &gemm.rows, &gemm.cols, &gemm.inner}) {
    for (GemmDim& dim : *dims) {
      if (dims != &gemm.cols) {
        a.emplace_back(&dim, &GemmDim::a);
        result.a *= dim.extent;
      }
      if (dims != &gemm.rows) {
        b.emplace_back(&dim, &GemmDim::b);
        result.b *= dim.extent;
      }
      if (dims != &gemm.inner) {
        out.emplace_back(&dim, &GemmDim::out);
        result.out *= dim.extent;
      }
    }
  }
  lay_out(a, random);
  lay_out(b, random);
  lay_out(out, random);
  // Products that are added lie behind the first, in opposite orders.
  const std::int64_t more = std::max<std::int64_t>(0, pick(random, -2, 2));
  for (std::int64_t t = 1; t <= more; ++t) {
    gemm.terms.push_back({.a = t * result.a, .b = (more + 1 - t) * result.b});
  }
  result.a *= more + 1;
  result.b *= more + 1;
  return result;
}

// Windows of 3 over places that are `channels` apart or side by side, each channel with a kernel of
// its own: y[channel, place] = sum over taps.
inline Sized own_windows(std::int64_t places, std::int64_t channels, bool channels_last) {
  const std::int64_t reach = places + 2;
  const std::int64_t place = channels_last ? channels : 1;
  return {.gemm = {.batch = {{.extent = channels,
                              .a = channels_last ? 1 : reach,
                              .b = channels_last ? 1 : 3,
                              .out = channels_last ? 1 : places}},
                   .rows = {{.extent = places, .a = place, .out = place}},
                   .inner = {{.extent = 3, .a = place, .b = channels_last ? channels : 1}}},
          .a = channels * reach,
          .b = 3 * channels,
          .out = channels * places};
}

// The gradient of these kernels: k[tap, channel] = sum over images and places, channels last.
inline Sized of_own_kernels(std::int64_t images, std::int64_t places, std::int64_t channels) {
  const std::int64_t reach = places + 2;
  return {.gemm = {.batch = {{.extent = channels, .a = 1, .b = 1, .out = 1}},
                   .rows = {{.extent = 3, .a = channels, .out = channels}},
                   .inner = {{.extent = images,
                              .a = reach * channels,
                              .b = places * channels,
                              .blocks = images},
                             {.extent = places, .a = channels, .b = channels}}},
          .a = images * reach * channels,
          .b = images * places * channels,
          .out = 3 * channels};
}

// More rows, or columns, than there are tables for of where they lie: in two dims with room between
// them, so in no even steps.
inline Sized long_side(bool of_cols) {
  constexpr std::int64_t kOuter = 900;
  constexpr std::int64_t kInner = 300;
  constexpr std::int64_t kFew = 33;
  constexpr std::int64_t kLength = 8;
  constexpr std::int64_t kRoom = (kInner + 1) * kLength;
  const std::int64_t step = of_cols ? 1 : kFew;  // of results
  std::vector<GemmDim> many = {{.extent = kOuter, .a = kRoom, .out = kInner * step},
                               {.extent = kInner, .a = kLength, .out = step}};
  std::vector<GemmDim> few = {{.extent = kFew, .b = kLength, .out = of_cols ? kOuter * kInner : 1}};
  Sized sized = {
      .gemm = {.rows = many, .cols = few, .inner = {{.extent = kLength, .a = 1, .b = 1}}},
      .a = kOuter * kRoom,
      .b = kFew * kLength,
      .out = kOuter * kInner * kFew};
  if (of_cols) {
    std::swap(sized.gemm.rows, sized.gemm.cols);
    std::swap(sized.a, sized.b);
    for (std::vector<GemmDim>* dims : {&sized.gemm.rows, &sized.gemm.cols}) {
      for (GemmDim& dim : *dims) {
        std::swap(dim.a, dim.b);
      }
    }
  }
  return sized;
}

}  // namespace mtf
