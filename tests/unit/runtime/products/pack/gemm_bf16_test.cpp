// Products of bf16: whether two indices of a chain are done at once or each is widened, bits are
// those of multiply-adds one by one, subnormals being 0.

#include <array>
#include <cmath>

#include <catch2/catch.hpp>

#include "runtime/products/pack/gemm_words.h"
#include "tests/unit/runtime/products/gemm_reference.h"
#include "tests/unit/runtime/products/random_products.h"

namespace mtf {
namespace {

// What is stored, and the same as floats.
struct Narrow {
  std::vector<BFloat16> stored;
  std::vector<float> wide;
};

using Draw = float (*)(std::mt19937&);

float common(std::mt19937& random) {
  return std::uniform_real_distribution<float>(-1, 1)(random);
}

// Products and sums of which are around the least normal float, subnormal, or 0 of either sign.
float tiny(std::mt19937& random) {
  const auto exponent = static_cast<int>(pick(random, -70, -56));
  const std::array<float, 6> odd = {0.0F, -0.0F, 1e-39F, -1e-39F, 0x1p-126F, -0x1p-126F};
  const std::int64_t which = pick(random, 0, 40);
  return which < 6 ? odd[static_cast<std::size_t>(which)] : std::ldexp(common(random), exponent);
}

// With an infinity or NaN now and then.
float wild(std::mt19937& random) {
  const std::int64_t which = pick(random, 0, 60);
  return which == 0   ? INFINITY
         : which == 1 ? -INFINITY
         : which == 2 ? NAN
         : which == 3 ? 3e38F
                      : common(random);
}

Narrow narrow_values(std::int64_t n, Draw draw, std::mt19937& random) {
  Narrow result;
  for (std::int64_t i = 0; i < n; ++i) {
    result.stored.emplace_back(draw(random));
    result.wide.push_back(static_cast<float>(result.stored.back()));
  }
  return result;
}

void check(const Sized& sized, Draw draw, std::mt19937& random) {
  const Narrow a = narrow_values(sized.a, draw, random);
  const Narrow b = narrow_values(sized.b, draw, random);
  std::vector<float> before;
  for (std::int64_t i = 0; i < sized.out; ++i) {
    before.push_back(draw(random));
  }
  auto expected = before;
  reference_gemm<true>(sized.gemm, a.wide.data(), b.wide.data(), expected.data());
  for (const Isa isa : usable_isas()) {
    auto found = before;
    gemm(sized.gemm, a.stored.data(), b.stored.data(), found.data(), {.isa = isa, .threads = 1});
    INFO(to_string(isa));
    REQUIRE(same_bits<float>(found, expected));
  }
}

// All transpositions of matrices.
Sized matrices(std::int64_t m, std::int64_t k, std::int64_t n, int turned, std::int64_t blocks) {
  return {.gemm = {.rows = {{.extent = m, .a = turned % 2 == 0 ? k : 1, .out = n}},
                   .cols = {{.extent = n, .b = turned / 2 == 0 ? 1 : k, .out = 1}},
                   .inner = {{.extent = k,
                              .a = turned % 2 == 0 ? 1 : m,
                              .b = turned / 2 == 0 ? n : 1,
                              .blocks = blocks}}},
          .a = m * k,
          .b = k * n,
          .out = m * n};
}

// Windows of three elements of one dim, `channels` side by side in each, of which a leaf has a
// part: runs of indices as short as that.
Sized windows(std::int64_t places, std::int64_t channels, std::int64_t kernels,
              std::int64_t blocks) {
  return {.gemm = {.rows = {{.extent = places, .a = channels, .out = kernels}},
                   .cols = {{.extent = kernels, .b = 1, .out = 1}},
                   .inner = {{.extent = 3, .a = channels, .b = channels * kernels},
                             {.extent = channels, .a = 1, .b = kernels, .blocks = blocks}}},
          .a = (places + 2) * channels,
          .b = 3 * channels * kernels,
          .out = places * kernels};
}

// The same for `high` lines of places, not side by side.
Sized lines_of_windows(std::int64_t high, std::int64_t wide, std::int64_t channels,
                       std::int64_t kernels) {
  const std::int64_t line = (wide + 2) * channels;
  Sized sized = windows(wide, channels, kernels, 4);
  sized.gemm.rows.insert(sized.gemm.rows.begin(),
                         {.extent = high, .a = line, .out = wide * kernels});
  sized.a = high * line;
  sized.out = high * wide * kernels;
  return sized;
}

// The same product of words: of elements side by side, where indices of a leaf are, or of elements
// `step` apart, which are twice as many, or of one.
void check_words(const Sized& sized, std::int64_t step, Cpu cpu, std::mt19937& random) {
  const Narrow a = narrow_values(sized.a, tiny, random);
  const Narrow b = narrow_values(sized.b, common, random);
  Gemm gemm = sized.gemm;
  gemm.a_words = true;
  std::vector<BFloat16> words = a.stored;
  const bool widens = indices_in_word(cpu) == 1;
  if (step == 1 && !widens) {
    turn_to_words(words.data(), sized.a);
  } else {
    words.resize(2 * words.size());
    make_words(a.stored.data(), sized.a, widens ? sized.a : step, words.data());
    for (std::vector<GemmDim>* dims : {&gemm.rows, &gemm.inner}) {
      for (GemmDim& dim : *dims) {
        dim.a *= 2;
      }
    }
  }
  std::vector<float> expected(static_cast<std::size_t>(sized.out));
  reference_gemm<true>(sized.gemm, a.wide.data(), b.wide.data(), expected.data());
  REQUIRE(reads_words(gemm, cpu));
  std::vector<float> found(expected.size());
  mtf::gemm(gemm, words.data(), b.stored.data(), found.data(), cpu);
  REQUIRE(same_bits<float>(found, expected));
}

// Where a leaf has an odd length, words are of one element.
void check_words(const Sized& sized, std::int64_t step, std::mt19937& random) {
  const GemmDim& last = sized.gemm.inner.back();
  const bool is_odd = last.extent / last.blocks % 2 != 0;
  for (const Isa isa : usable_isas()) {
    for (const int threads : {1, 3}) {
      INFO(to_string(isa) << ", " << threads << " threads");
      const Cpu cpu = {.isa = isa, .threads = threads};
      check_words(sized, step, is_odd ? with_single_words(cpu) : cpu, random);
    }
  }
}

}  // namespace

TEST_CASE("words of bf16 are read where they are, to the same bits", "[gemm]") {
  std::mt19937 random(8);
  for (const std::int64_t places : {5, 12, 50, 200}) {
    INFO(places << " places");
    check_words(windows(places, 64, 37, 4), 1, random);
  }
  for (const std::int64_t wide : {4, 7, 10, 30}) {
    for (const std::int64_t in_a_leaf : {5, 8}) {
      INFO(wide << " places in a line, " << in_a_leaf << " channels in a leaf");
      check_words(lines_of_windows(6, wide, 4 * in_a_leaf, 8), 1, random);
    }
  }
  // Rows are channels, and the indices of a chain places: words are of two places.
  for (const std::int64_t channels : {4, 6, 20, 64}) {
    INFO(channels << " channels");
    const Sized of_places = {.gemm = {.rows = {{.extent = channels, .a = 1, .out = 19}},
                                      .cols = {{.extent = 19, .b = 1, .out = 1}},
                                      .inner = {{.extent = 4, .a = 20 * channels, .b = 16 * 19},
                                                {.extent = 16, .a = channels, .b = 19}}},
                             .a = 4 * 20 * channels,
                             .b = 4 * 16 * 19,
                             .out = channels * 19};
    check_words(of_places, channels, random);
  }
}

TEST_CASE("leaves of many indices of bf16 are trees of chains", "[gemm]") {
  std::mt19937 random(27);
  for (const std::int64_t leaf :
       {kLongestChain - 1, kLongestChain + 1, 2 * kLongestChain, 3 * kLongestChain + 5}) {
    for (int turned = 0; turned < 4; ++turned) {
      INFO(leaf << " indices, turned " << turned);
      check(matrices(1, 2 * leaf, 1, turned, 2), common, random);
      check(matrices(14, leaf, 37, turned, 1), common, random);
      check(matrices(14, 2 * leaf, 3, turned, 2), tiny, random);
    }
  }
}

TEST_CASE("windows over bf16 have these bits whatever channels a leaf has", "[gemm]") {
  std::mt19937 random(5);
  for (const Draw draw : {common, tiny, wild}) {
    for (const std::int64_t in_a_leaf : {1, 2, 3, 4, 5, 6, 7, 8, 11, 14}) {
      for (const std::int64_t places : {5, 12, 27, 50}) {
        INFO(in_a_leaf << " channels in a leaf, " << places << " places");
        check(windows(places, 4 * in_a_leaf, 37, 4), draw, random);
      }
    }
  }
}

TEST_CASE("windows over bf16 of channels with kernels of their own have these bits", "[gemm]") {
  std::mt19937 random(6);
  for (const Draw draw : {common, tiny, wild}) {
    for (const std::int64_t channels : {3, 8, 20, 70}) {
      for (const std::int64_t places : {1, 5, 20}) {
        INFO(channels << " channels, " << places << " places");
        check(own_windows(places, channels, true), draw, random);
        check(own_windows(places, channels, false), draw, random);
        check(of_own_kernels(4, places, channels), draw, random);
      }
    }
  }
}

TEST_CASE("products of bf16 have the bits of one multiply-add after the other", "[gemm]") {
  std::mt19937 random(2);
  for (const Draw draw : {common, tiny, wild}) {
    for (int i = 0; i < 300; ++i) {
      INFO("product " << i);
      check(random_product(random), draw, random);
    }
  }
}

TEST_CASE("matrices of bf16 have these bits in tiles, few rows, odd chains and long ones",
          "[gemm]") {
  std::mt19937 random(3);
  for (const int turned : {0, 1, 2, 3}) {
    for (const std::int64_t m : {1, 3, 13, 40, 130}) {
      check(matrices(m, 192, 200, turned, 16), common, random);
      check(matrices(m, 16 * 7, 70, turned, 16), tiny, random);
      check(matrices(m, 33, 65, turned, 1), tiny, random);
    }
    check(matrices(20, 4501, 40, turned, 1), common, random);
    check(matrices(20, 9002, 33, turned, 2), tiny, random);
  }
}

TEST_CASE("sides of bf16 too long for tables of their places have these bits", "[gemm]") {
  std::mt19937 random(5);
  check(long_side(false), common, random);
  check(long_side(true), common, random);
}

TEST_CASE("products of bf16 in any order are about the same", "[gemm]") {
  std::mt19937 random(4);
  for (int i = 0; i < 100; ++i) {
    const Sized sized = random_product(random);
    const Narrow a = narrow_values(sized.a, common, random);
    const Narrow b = narrow_values(sized.b, common, random);
    const std::vector<float> before(static_cast<std::size_t>(sized.out), 0.5F);
    auto exact = before;
    gemm(sized.gemm, a.stored.data(), b.stored.data(), exact.data(), {.isa = widest_isa()});
    auto fast = before;
    gemm_fast(sized.gemm, a.stored.data(), b.stored.data(), fast.data(), {.isa = widest_isa()});
    for (std::size_t j = 0; j < fast.size(); ++j) {
      REQUIRE(fast[j] == Approx(exact[j]).epsilon(1e-4).margin(1e-2));
    }
  }
}

}  // namespace mtf
