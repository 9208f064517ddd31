// Canonical products: the bits are those of the scalar definition, whatever the shape, the order
// of dims, the split, the instruction set and the number of threads.

#include "runtime/products/gemm.h"

#include <algorithm>
#include <limits>
#include <thread>

#include <catch2/catch.hpp>

#include "tests/unit/runtime/products/gemm_reference.h"
#include "tests/unit/runtime/products/random_products.h"

namespace mtf {
namespace {

template <typename T>
std::vector<T> product_of(const Gemm& gemm, std::span<const T> a, std::span<const T> b,
                          std::vector<T> out, Cpu cpu) {
  mtf::gemm(gemm, a.data(), b.data(), out.data(), cpu);
  return out;
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

// What an epilogue is given of a product of so many elements, which it must be given once each.
template <typename T>
std::vector<T> handed_over(const PreparedGemm<T>& product, const std::vector<T>& a,
                           const std::vector<T>& b, std::size_t elements, int threads) {
  std::vector<T> found(elements);
  std::vector<int> times(elements, 0);
  std::vector<std::vector<std::thread::id>> who(static_cast<std::size_t>(threads));
  const bool is_done =
      product.run_to(a.data(), b.data(), [&](int thread, Interval made, const T* values) {
        who.at(static_cast<std::size_t>(thread)).push_back(std::this_thread::get_id());
        for (std::int64_t i = 0; i < made.extent; ++i) {
          const auto at = static_cast<std::size_t>(made.begin + i);
          found.at(at) = values[i];
          ++times.at(at);
        }
      });
  for (const std::vector<std::thread::id>& one : who) {
    REQUIRE((one.empty() || std::ranges::count(one, one.front()) == std::ssize(one)));
  }
  if (!is_done) {
    REQUIRE(std::ranges::count(times, 0) == std::ssize(times));
    return {};
  }
  REQUIRE(std::ranges::count(times, 1) == std::ssize(times));
  return found;
}

TEMPLATE_TEST_CASE("a product that is handed over in bands has the bits of one that is written",
                   "[gemm]", float, double) {
  std::mt19937 random(31);
  int done = 0;
  for (int i = 0; i < 200; ++i) {
    Sized product = random_product(random);
    product.gemm.accumulate = i % 10 == 0;
    const auto a = random_values<TestType>(product.a, random);
    const auto b = random_values<TestType>(product.b, random);
    for (const Isa isa : usable_isas()) {
      INFO("product " << i << ", " << to_string(isa));
      const PreparedGemm<TestType> prepared(product.gemm, {.isa = isa, .threads = 1});
      std::vector<TestType> expected(static_cast<std::size_t>(product.out), 0);
      prepared.run(a.data(), b.data(), expected.data());
      const auto found = handed_over(prepared, a, b, expected.size(), 1);
      REQUIRE((found.empty() || !product.gemm.accumulate));
      REQUIRE((found.empty() || same_bits<TestType>(found, expected)));
      done += found.empty() ? 0 : 1;
    }
  }
  CHECK(done > 50);
}

TEST_CASE("bands of a product: of few rows, of columns that stay in no near cache, of each thread",
          "[gemm]") {
  std::mt19937 random(32);
  for (const auto& [m, k, n] :
       {std::tuple(5, 64, 70), std::tuple(201, 96, 17), std::tuple(130, 512, 700),
        std::tuple(67, 1536, 300), std::tuple(37, 0, 40), std::tuple(300, 64, 5003)}) {
    const Gemm gemm = matrix_product(m, k, n, std::gcd(16, k));
    const auto a = random_values<float>(std::int64_t{m} * k, random);
    const auto b = random_values<float>(std::int64_t{k} * n, random);
    std::vector<float> expected(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    for (const Isa isa : usable_isas()) {
      for (const int threads : {1, 3}) {
        INFO(m << "x" << k << "x" << n << " on " << to_string(isa) << ", threads " << threads);
        const PreparedGemm<float> prepared(gemm, {.isa = isa, .threads = threads});
        prepared.run(a.data(), b.data(), expected.data());
        const auto found = handed_over(prepared, a, b, expected.size(), threads);
        REQUIRE(!found.empty());
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

TEMPLATE_TEST_CASE("sides too long for tables of their places have the bits of their definition",
                   "[gemm]", float, double) {
  std::mt19937 random(10);
  for (const bool of_cols : {false, true}) {
    const Sized sized = long_side(of_cols);
    const auto a = random_values<TestType>(sized.a, random);
    const auto b = random_values<TestType>(sized.b, random);
    std::vector<TestType> expected(static_cast<std::size_t>(sized.out));
    reference_gemm(sized.gemm, a.data(), b.data(), expected.data());
    for (const Isa isa : usable_isas()) {
      INFO((of_cols ? "columns on " : "rows on ") << to_string(isa));
      REQUIRE(same_bits<TestType>(
          product_of<TestType>(sized.gemm, a, b, std::vector<TestType>(expected.size()),
                               {.isa = isa}),
          expected));
    }
  }
}

TEMPLATE_TEST_CASE("leaves of many indices are trees of chains", "[gemm]", float, double) {
  std::mt19937 random(8);
  const std::array<std::array<std::int64_t, 2>, 5> sides = {
      {{1, 1}, {1, 40}, {3, 5}, {40, 1}, {13, 35}}};
  for (const std::int64_t leaf :
       {kLongestChain - 1, kLongestChain + 1, 3 * kLongestChain, 5 * kLongestChain + 7}) {
    for (const auto& [rows, cols] : sides) {
      for (const std::int64_t blocks : {1, 2, 3}) {
        Gemm gemm = matrix_product(rows, leaf * blocks, cols, blocks);
        const std::int64_t a_size = rows * leaf * blocks;
        const std::int64_t b_size = cols * leaf * blocks;
        if (blocks == 2) {
          gemm.terms = {{.a = a_size, .b = b_size}};
        }
        const auto a = random_values<TestType>(2 * a_size, random);
        const auto b = random_values<TestType>(2 * b_size, random);
        std::vector<TestType> expected(static_cast<std::size_t>(rows * cols));
        reference_gemm(gemm, a.data(), b.data(), expected.data());
        INFO(rows << " x " << leaf << " * " << blocks << " x " << cols);
        for (const Isa isa : usable_isas()) {
          REQUIRE(same_bits<TestType>(
              product_of<TestType>(gemm, a, b, std::vector<TestType>(expected.size()),
                                   {.isa = isa}),
              expected));
        }
      }
    }
  }
}

TEST_CASE("products of vectors of a million elements of one sign lose none", "[gemm]") {
  constexpr std::int64_t kMany = 1'000'003;
  std::mt19937 random(9);
  for (const std::int64_t cols : {1, 3}) {
    auto a = random_values<float>(kMany, random);
    std::vector<float> b(static_cast<std::size_t>(cols * kMany));
    std::vector<double> exact(static_cast<std::size_t>(cols));
    for (std::size_t i = 0; i < b.size(); ++i) {
      const float x = a[i / static_cast<std::size_t>(cols)];
      b[i] = x;
      exact[i % static_cast<std::size_t>(cols)] += static_cast<double>(x) * x;
    }
    const Gemm gemm = matrix_product(1, kMany, cols);
    std::vector<float> found(static_cast<std::size_t>(cols));
    std::vector<float> fast = found;
    mtf::gemm(gemm, a.data(), b.data(), found.data(), {.isa = widest_isa()});
    gemm_fast(gemm, a.data(), b.data(), fast.data(), {.isa = widest_isa()});
    for (std::size_t i = 0; i < exact.size(); ++i) {
      REQUIRE(found[i] == Approx(exact[i]).epsilon(1e-6));
      REQUIRE(fast[i] == Approx(exact[i]).epsilon(1e-6));
    }
  }
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
