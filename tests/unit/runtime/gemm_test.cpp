// Canonical products: the bits are those of the scalar definition, whatever the shape, the order
// of dims, the split, the instruction set and the number of threads.

#include "runtime/products/gemm.h"

#include <algorithm>
#include <limits>

#include <catch2/catch.hpp>

#include "tests/unit/runtime/gemm_reference.h"

namespace mtf {
namespace {

std::vector<Isa> usable_isas() {
  std::vector<Isa> result;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= widest_isa()) {
      result.push_back(isa);
    }
  }
  return result;
}

std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

template <typename T>
std::vector<T> product_of(const Gemm& gemm, std::span<const T> a, std::span<const T> b,
                          std::vector<T> out, Cpu cpu) {
  mtf::gemm(gemm, a.data(), b.data(), out.data(), cpu);
  return out;
}

// Strides that lay the dims, each once in a tensor, in a random order in memory.
void lay_out(std::vector<std::pair<GemmDim*, std::int64_t GemmDim::*>> dims, std::mt19937& random) {
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

std::vector<GemmDim> random_dims(std::mt19937& random, int most, std::int64_t extent, bool blocks) {
  std::vector<GemmDim> dims(static_cast<std::size_t>(pick(random, 0, most)));
  for (GemmDim& dim : dims) {
    dim.blocks = blocks ? std::int64_t{1} << pick(random, 0, 3) : 1;
    dim.extent = dim.blocks * std::max<std::int64_t>(1, pick(random, 1, extent) / dim.blocks);
  }
  return dims;
}

Sized random_product(std::mt19937& random) {
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

}  // namespace

TEMPLATE_TEST_CASE("a product of any dims in any order has the bits of its definition", "[gemm]",
                   float, double) {
  std::mt19937 random(1);
  for (int i = 0; i < 400; ++i) {
    const Sized sized = random_product(random);
    const auto a = random_values<TestType>(sized.a, random);
    const auto b = random_values<TestType>(sized.b, random);
    const auto before = random_values<TestType>(sized.out, random);
    auto expected = before;
    reference_gemm(sized.gemm, a.data(), b.data(), expected.data());
    for (const Isa isa : usable_isas()) {
      const auto found = product_of<TestType>(sized.gemm, a, b, before, {.isa = isa, .threads = 1});
      INFO("product " << i << " on " << to_string(isa));
      REQUIRE(same_bits<TestType>(found, expected));
    }
  }
}

// Random bf16, and the same as floats.
struct Narrow {
  std::vector<BFloat16> stored;
  std::vector<float> wide;
};

Narrow narrow_values(std::int64_t n, std::mt19937& random) {
  Narrow result;
  for (const float x : random_values<float>(n, random)) {
    result.stored.emplace_back(x);
    result.wide.push_back(static_cast<float>(result.stored.back()));
  }
  return result;
}

TEST_CASE("a product of bf16 has the bits of that of the same floats", "[gemm]") {
  std::mt19937 random(2);
  const auto check = [&](const Sized& sized) {
    const Narrow a = narrow_values(sized.a, random);
    const Narrow b = narrow_values(sized.b, random);
    const auto before = random_values<float>(sized.out, random);
    for (const Isa isa : usable_isas()) {
      const Cpu cpu{.isa = isa, .threads = 1};
      const auto expected = product_of<float>(sized.gemm, a.wide, b.wide, before, cpu);
      auto found = before;
      mtf::gemm(sized.gemm, a.stored.data(), b.stored.data(), found.data(), cpu);
      REQUIRE(same_bits<float>(found, expected));
      auto fast = before;
      gemm_fast(sized.gemm, a.stored.data(), b.stored.data(), fast.data(), cpu);
      for (std::size_t i = 0; i < fast.size(); ++i) {
        REQUIRE(fast[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-2));
      }
    }
  };
  for (int i = 0; i < 300; ++i) {
    check(random_product(random));
  }
  // Sizes of whole tiles, few rows, and all transpositions.
  for (const std::int64_t m : {1, 3, 40, 130}) {
    for (const int turned : {0, 1, 2, 3}) {
      const std::int64_t k = 192;
      const std::int64_t n = 200;
      check({.gemm = {.rows = {{.extent = m, .a = turned % 2 == 0 ? k : 1, .out = n}},
                      .cols = {{.extent = n, .b = turned / 2 == 0 ? 1 : k, .out = 1}},
                      .inner = {{.extent = k,
                                 .a = turned % 2 == 0 ? 1 : m,
                                 .b = turned / 2 == 0 ? n : 1,
                                 .blocks = 16}}},
             .a = m * k,
             .b = k * n,
             .out = m * n});
    }
  }
}

TEMPLATE_TEST_CASE("every transposition of matrices has the bits of its definition", "[gemm]",
                   float, double) {
  std::mt19937 random(2);
  for (int i = 0; i < 96; ++i) {
    const std::int64_t m = pick(random, 1, 90);
    const std::int64_t n = pick(random, 1, 90);
    const std::int64_t blocks = std::int64_t{1} << pick(random, 0, 4);
    const std::int64_t k = blocks * pick(random, 1, 300 / blocks);
    const bool ta = (i & 1) != 0;
    const bool tb = (i & 2) != 0;
    const bool tc = (i & 4) != 0;
    const Gemm gemm = {
        .rows = {{.extent = m, .a = ta ? 1 : k, .out = tc ? 1 : n}},
        .cols = {{.extent = n, .b = tb ? k : 1, .out = tc ? m : 1}},
        .inner = {{.extent = k, .a = ta ? m : 1, .b = tb ? 1 : n, .blocks = blocks}}};
    const auto a = random_values<TestType>(m * k, random);
    const auto b = random_values<TestType>(k * n, random);
    std::vector<TestType> expected(static_cast<std::size_t>(m * n));
    reference_gemm(gemm, a.data(), b.data(), expected.data());
    for (const Isa isa : usable_isas()) {
      const auto found = product_of<TestType>(gemm, a, b, std::vector<TestType>(expected.size()),
                                              {.isa = isa, .threads = 1});
      INFO(m << "x" << k << "x" << n << " ta " << ta << " tb " << tb << " tc " << tc << " on "
             << to_string(isa));
      REQUIRE(same_bits<TestType>(found, expected));
    }
  }
}

TEST_CASE("rows and columns split anywhere have the bits of the whole", "[gemm]") {
  std::mt19937 random(3);
  const Cpu cpu = {.isa = widest_isa(), .threads = 1};
  for (int i = 0; i < 600; ++i) {
    const std::int64_t m = pick(random, 2, 200);
    const std::int64_t n = pick(random, 2, 200);
    const std::int64_t blocks = std::int64_t{1} << pick(random, 0, 4);
    const std::int64_t k = blocks * pick(random, 1, 900 / blocks);
    const std::int64_t row = pick(random, 1, m - 1);
    const std::int64_t col = pick(random, 1, n - 1);
    const auto a = random_values<float>(m * k, random);
    const auto b = random_values<float>(k * n, random);
    std::vector<float> whole(static_cast<std::size_t>(m * n));
    std::vector<float> parts(whole.size());
    Gemm gemm = matrix_product(m, k, n, blocks);
    mtf::gemm(gemm, a.data(), b.data(), whole.data(), cpu);
    for (const auto& [r0, r1] : {std::pair(std::int64_t{0}, row), std::pair(row, m)}) {
      for (const auto& [c0, c1] : {std::pair(std::int64_t{0}, col), std::pair(col, n)}) {
        gemm.rows[0].extent = r1 - r0;
        gemm.cols[0].extent = c1 - c0;
        mtf::gemm(gemm, a.data() + r0 * k, b.data() + c0, parts.data() + r0 * n + c0, cpu);
      }
    }
    INFO(m << "x" << k << "x" << n << " at " << row << ", " << col);
    REQUIRE(same_bits<float>(parts, whole));
  }
}

TEMPLATE_TEST_CASE("large products have the same bits on every instruction set and thread count",
                   "[gemm]", float, double) {
  std::mt19937 random(4);
  for (const auto& [m, k, n] :
       {std::tuple(700, 1600, 70), std::tuple(40, 3072, 300), std::tuple(1, 2048, 500),
        std::tuple(600, 2048, 1), std::tuple(30, 1024, 640), std::tuple(2, 640, 2500),
        std::tuple(1300, 48, 10), std::tuple(37, 1040, 1), std::tuple(50, 112, 3)}) {
    const Gemm gemm = matrix_product(m, k, n, 16);
    const auto a = random_values<TestType>(std::int64_t{m} * k, random);
    const auto b = random_values<TestType>(std::int64_t{k} * n, random);
    std::vector<TestType> expected(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    reference_gemm(gemm, a.data(), b.data(), expected.data());
    for (const Isa isa : usable_isas()) {
      for (const int threads : {1, 2, 3}) {
        const auto found = product_of<TestType>(gemm, a, b, std::vector<TestType>(expected.size()),
                                                {.isa = isa, .threads = threads});
        INFO(m << "x" << k << "x" << n << " on " << to_string(isa) << ", threads " << threads);
        REQUIRE(same_bits<TestType>(found, expected));
      }
    }
  }
}

TEST_CASE("a prepared product does any data, again and again", "[gemm]") {
  std::mt19937 random(7);
  for (const auto& [m, k, n] : {std::tuple(70, 96, 50), std::tuple(1, 64, 40), std::tuple(9, 0, 8),
                                std::tuple(300, 256, 200)}) {
    const Gemm gemm = matrix_product(m, k, n, std::gcd(16, k));
    for (const Isa isa : usable_isas()) {
      const PreparedGemm<float> prepared(gemm, {.isa = isa, .threads = 2});
      for (int run = 0; run < 3; ++run) {
        const auto a = random_values<float>(std::int64_t{m} * k, random);
        const auto b = random_values<float>(std::int64_t{k} * n, random);
        std::vector<float> expected(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
        std::vector<float> found(expected.size());
        reference_gemm(gemm, a.data(), b.data(), expected.data());
        prepared.run(a.data(), b.data(), found.data());
        INFO(m << "x" << k << "x" << n << " on " << to_string(isa) << ", run " << run);
        REQUIRE(same_bits<float>(found, expected));
      }
    }
  }
}

TEST_CASE("products of ranks that each own consecutive blocks add up to the bits of one rank",
          "[gemm]") {
  std::mt19937 random(5);
  const Cpu cpu = {.isa = widest_isa(), .threads = 1};
  for (const std::int64_t ranks : {2, 4, 8, 16}) {
    const std::int64_t m = 45;
    const std::int64_t n = 77;
    const std::int64_t k = 16 * 67;
    const auto a = random_values<float>(m * k, random);
    const auto b = random_values<float>(k * n, random);
    std::vector<float> whole(static_cast<std::size_t>(m * n));
    mtf::gemm(matrix_product(m, k, n, 16), a.data(), b.data(), whole.data(), cpu);
    const std::int64_t part = k / ranks;
    std::vector<std::vector<float>> partial(static_cast<std::size_t>(ranks), whole);
    for (std::int64_t r = 0; r < ranks; ++r) {
      Gemm gemm = matrix_product(m, k, n, 16);
      gemm.inner[0].extent = part;
      gemm.inner[0].blocks = 16 / ranks;
      mtf::gemm(gemm, a.data() + r * part, b.data() + r * part * n,
                partial[static_cast<std::size_t>(r)].data(), cpu);
    }
    for (std::size_t step = 1; step < partial.size(); step *= 2) {
      for (std::size_t r = 0; r < partial.size(); r += 2 * step) {
        for (std::size_t i = 0; i < whole.size(); ++i) {
          partial[r][i] += partial[r + step][i];
        }
      }
    }
    INFO(ranks << " ranks");
    REQUIRE(same_bits<float>(partial[0], whole));
  }
}

TEST_CASE("infinities, NaNs and zeros go through a product as through its definition", "[gemm]") {
  std::mt19937 random(6);
  const float infinity = std::numeric_limits<float>::infinity();
  const float specials[] = {0.0F, -0.0F, infinity, -infinity, std::nanf(""), 1e-40F, 3e38F};
  const Gemm gemm = matrix_product(37, 64, 53, 4);
  auto a = random_values<float>(37 * 64, random);
  auto b = random_values<float>(64 * 53, random);
  for (int i = 0; i < 20; ++i) {
    a[static_cast<std::size_t>(pick(random, 0, 37 * 64 - 1))] = specials[i % 7];
    b[static_cast<std::size_t>(pick(random, 0, 64 * 53 - 1))] = specials[(i + 3) % 7];
  }
  std::vector<float> expected(37 * 53);
  reference_gemm(gemm, a.data(), b.data(), expected.data());
  for (const Isa isa : usable_isas()) {
    REQUIRE(same_bits<float>(
        product_of<float>(gemm, a, b, std::vector<float>(expected.size()), {.isa = isa}),
        expected));
  }
}

TEST_CASE("an empty sum is 0 and an empty side writes nothing", "[gemm]") {
  const std::vector<float> a(100, 1.0F);
  std::vector<float> out(12, 7.0F);
  gemm(matrix_product(3, 0, 4, 4), a.data(), a.data(), out.data(), {.isa = widest_isa()});
  REQUIRE(out == std::vector<float>(12, 0.0F));
  out.assign(12, 7.0F);
  gemm(matrix_product(0, 5, 4), a.data(), a.data(), out.data(), {.isa = widest_isa()});
  gemm(matrix_product(3, 5, 0), a.data(), a.data(), out.data(), {.isa = widest_isa()});
  REQUIRE(out == std::vector<float>(12, 7.0F));
}

TEST_CASE("the fast product is the canonical one up to rounding", "[gemm]") {
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const Sized sized = random_product(random);
    const auto a = random_values<float>(sized.a, random);
    const auto b = random_values<float>(sized.b, random);
    auto expected = random_values<float>(sized.out, random);
    auto found = expected;
    gemm(sized.gemm, a.data(), b.data(), expected.data(), {.isa = widest_isa()});
    gemm_fast(sized.gemm, a.data(), b.data(), found.data(), {.isa = widest_isa()});
    for (std::size_t j = 0; j < found.size(); ++j) {
      REQUIRE(found[j] == Approx(expected[j]).margin(1e-4));
    }
  }
}

}  // namespace mtf
