// Uneven layouts: random programs on meshes that divide nothing, some larger than a dim. Sums are
// taken in another order there, so floats are compared with a tolerance.

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/unit/layouts/every_layout.h"
#include "tests/unit/layouts/generate.h"

namespace mtf::tests {
namespace {

template <typename T>
double difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size() / sizeof(T); ++i) {
    T x{};
    T y{};
    std::memcpy(&x, a.data() + i * sizeof(T), sizeof(T));
    std::memcpy(&y, b.data() + i * sizeof(T), sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) == 0 || (x != x && y != y)) {
      continue;
    }
    const double gap = std::abs(static_cast<double>(x) - static_cast<double>(y));
    largest = std::max(largest, gap / (1 + std::abs(static_cast<double>(y))));
  }
  return largest;
}

// What is decided by rounding, as an argmax or a comparison, may differ by it.
std::string wrong_tensor(const Outcome& one, const Outcome& many) {
  for (std::size_t i = 0; i < one.seen.size(); ++i) {
    const DType dtype = one.seen[i].type.dtype;
    const std::vector<std::byte>& is = many.seen[i].data;
    const std::vector<std::byte>& was = one.seen[i].data;
    if (is.size() != was.size()) {
      return "tensor " + std::to_string(i) + " has another size";
    }
    const double gap = dtype == DType::kF32   ? difference<float>(is, was)
                       : dtype == DType::kF64 ? difference<double>(is, was)
                                              : 0;
    if (!(gap < 1e-3)) {
      return "tensor " + std::to_string(i) + " differs by " + std::to_string(gap);
    }
  }
  return "";
}

TEST_CASE("random programs compute the same under uneven layouts") {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Program program = random_program(seed);
    const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
    REQUIRE(one);
    std::mt19937_64 random(seed);
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{3}, {5}, {2, 3}, {7}, {3, 2, 2}}) {
      Mesh mesh = mesh_of(sizes);
      mesh.uneven = true;
      const std::vector<Layout> layouts = layouts_of(program, mesh);
      for (int tries = 0; tries < 3; ++tries) {
        Layout layout = layouts[random() % layouts.size()];
        layout.stream = 1 + static_cast<std::int64_t>(random() % 5);
        const std::optional<Outcome> many = run_under({&program, 1}, layout);
        if (!many) {
          continue;  // an axis twice in one tensor
        }
        ++compared;
        INFO("seed " << seed << ", " << to_string(layout) << "\n" << mtf::to_string(program));
        CHECK(many->problem == "");
        CHECK(wrong_tensor(*one, *many) == "");
      }
    }
  }
  CHECK(compared > 300);
}

// Its blocks were not those of the reshape's loops, so it was gathered on the way, as if it were
// finished, and finished twice.
TEST_CASE("a reshape of a pending sum finishes it once") {
  std::mt19937_64 random(1);
  int pending = 0;
  for (int round = 0; round < 60; ++round) {
    const auto size = [&] { return static_cast<std::int64_t>(1 + random() % 9); };
    const std::int64_t b = size();
    const std::int64_t c = size();
    const std::string text = "dim a = " + std::to_string(size()) + ", b = " + std::to_string(b) +
                             ", c = " + std::to_string(c) + ", bc = " + std::to_string(b * c) + R"(
fn case() {
  let x = cast(cast(uniform([a, b], low = 0, high = 9, seed = 1), i32), f32)
  let u = cast(cast(uniform([a, c], low = 0, high = 9, seed = 2), i32), f32)
  let y = reshape(einsum(x, u -> [b, c]) -> [bc])
  return y, sum(y * y), grad(sum(y * y), x)
}
)";
    const Program program = program_of(text);
    const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
    REQUIRE(one);
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{3, 2}, {2, 3}, {2, 2}, {5, 2}, {3, 2, 2}}) {
      Mesh mesh = mesh_of(sizes);
      mesh.uneven = true;
      const std::vector<Layout> layouts = layouts_of(program, mesh);
      const Layout& layout = layouts[random() % layouts.size()];
      const std::optional<Outcome> many = run_under({&program, 1}, layout);
      if (many) {
        INFO(text << to_string(layout));
        CHECK(many->problem == "");
        CHECK(same_values(*one, *many));
        pending += many->promised ? 0 : 1;
      }
    }
  }
  CHECK(pending > 60);
}

}  // namespace
}  // namespace mtf::tests
