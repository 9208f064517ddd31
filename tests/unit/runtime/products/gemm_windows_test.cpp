// Products over windows, as convolutions are made of: operands that overlap themselves, whose rows
// are gathered where they come in lines long enough, and packed where they do not.

#include <catch2/catch.hpp>

#include "tests/unit/runtime/products/gemm_reference.h"
#include "tests/unit/runtime/products/random_products.h"

namespace mtf {
namespace {

struct Windows {
  std::int64_t high = 1;  // places
  std::int64_t wide = 1;
  std::int64_t channels = 1;
  std::int64_t blocks = 1;  // of channels or, in the gradient of a kernel, of images
  std::int64_t stride = 1;
  std::int64_t to = 1;
};

constexpr std::int64_t kTaps = 3;

// y[place, to] = sum over taps and channels.
Sized forward(const Windows& x) {
  const std::int64_t wide = x.stride * (x.wide - 1) + kTaps;
  const std::int64_t high = x.stride * (x.high - 1) + kTaps;
  const std::int64_t line = wide * x.channels;
  return {.gemm = {.rows = {{.extent = x.high, .a = x.stride * line, .out = x.wide * x.to},
                            {.extent = x.wide, .a = x.stride * x.channels, .out = x.to}},
                   .cols = {{.extent = x.to, .b = 1, .out = 1}},
                   .inner = {{.extent = kTaps, .a = line, .b = kTaps * x.channels * x.to},
                             {.extent = kTaps, .a = x.channels, .b = x.channels * x.to},
                             {.extent = x.channels, .a = 1, .b = x.to, .blocks = x.blocks}}},
          .a = high * line,
          .b = kTaps * kTaps * x.channels * x.to,
          .out = x.high * x.wide * x.to};
}

// k[taps, channel, to] = sum over images and places.
Sized of_kernel(const Windows& x) {
  const std::int64_t images = 2 * x.blocks;
  const std::int64_t line = (x.wide + kTaps - 1) * x.channels;
  const std::int64_t image = (x.high + kTaps - 1) * line;
  const std::int64_t places = x.high * x.wide;
  return {.gemm = {.rows = {{.extent = kTaps, .a = line, .out = kTaps * x.channels * x.to},
                            {.extent = kTaps, .a = x.channels, .out = x.channels * x.to},
                            {.extent = x.channels, .a = 1, .out = x.to}},
                   .cols = {{.extent = x.to, .b = 1, .out = 1}},
                   .inner = {{.extent = images, .a = image, .b = places * x.to, .blocks = x.blocks},
                             {.extent = x.high, .a = line, .b = x.wide * x.to},
                             {.extent = x.wide, .a = x.channels, .b = x.to}}},
          .a = images * image,
          .b = images * places * x.to,
          .out = kTaps * kTaps * x.channels * x.to};
}

template <typename T>
void check(const Sized& sized, std::mt19937& random) {
  const auto a = random_values<T>(sized.a, random);
  const auto b = random_values<T>(sized.b, random);
  std::vector<T> expected(static_cast<std::size_t>(sized.out));
  reference_gemm(sized.gemm, a.data(), b.data(), expected.data());
  for (const Isa isa : usable_isas()) {
    for (const int threads : {1, 3}) {
      std::vector<T> found(expected.size());
      gemm(sized.gemm, a.data(), b.data(), found.data(), {.isa = isa, .threads = threads});
      INFO(to_string(isa) << ", threads " << threads);
      REQUIRE(same_bits<T>(found, expected));
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("windows have the bits of their definition whatever their rows' length",
                   "[gemm]", float, double) {
  std::mt19937 random(11);
  for (const std::int64_t wide : {1, 3, 4, 5, 7, 8, 10, 14, 20, 30, 32}) {
    for (const std::int64_t in_a_leaf : {1, 2, 3, 8}) {
      for (const std::int64_t stride : {1, 2}) {
        for (const std::int64_t to : {5, 37}) {
          INFO(wide << " places in a row, " << in_a_leaf << " channels in a leaf, stride " << stride
                    << ", to " << to);
          check<TestType>(forward({.high = 13,
                                   .wide = wide,
                                   .channels = 4 * in_a_leaf,
                                   .blocks = 4,
                                   .stride = stride,
                                   .to = to}),
                          random);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("gradients of kernels have the bits of their definition whatever the channels",
                   "[gemm]", float, double) {
  std::mt19937 random(12);
  for (const std::int64_t channels : {1, 4, 6, 16, 24}) {
    for (const std::int64_t to : {5, 40, 130}) {
      INFO(channels << " channels to " << to);
      check<TestType>(
          of_kernel({.high = 5, .wide = 6, .channels = channels, .blocks = 4, .to = to}), random);
    }
  }
}

// Panels of the chain, and more rows than a block has.
TEST_CASE("windows over many channels have the bits of their definition", "[gemm]") {
  std::mt19937 random(13);
  check<float>(forward({.high = 9, .wide = 8, .channels = 256, .blocks = 16, .to = 70}), random);
  for (const std::int64_t wide : {45, 48}) {
    check<float>(forward({.high = 24, .wide = wide, .channels = 128, .blocks = 4, .to = 16}),
                 random);
  }
}

TEST_CASE("gradients of kernels over many places have the bits of their definition", "[gemm]") {
  std::mt19937 random(14);
  for (const std::int64_t channels : {2, 12}) {
    check<float>(of_kernel({.high = 96, .wide = 96, .channels = channels, .blocks = 16, .to = 3}),
                 random);
  }
}

TEMPLATE_TEST_CASE(
    "windows of channels with kernels of their own have the bits of their definition", "[gemm]",
    float, double) {
  std::mt19937 random(15);
  for (const std::int64_t channels : {1, 3, 8, 20, 64, 70, 1100}) {
    for (const std::int64_t places : {1, 5, 16, 40}) {
      INFO(channels << " channels, " << places << " places");
      check<TestType>(own_windows(places, channels, true), random);
      check<TestType>(own_windows(places, channels, false), random);
      check<TestType>(of_own_kernels(4, places, channels), random);
    }
  }
}

}  // namespace mtf
