// A reshape keeps every element in its place in row-major order, whatever the layouts of both
// shapes. (The public Mesh-TensorFlow permutes data in 64 of 851 such cases.)

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t count) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
}

// Up to four factors of `size`, in random order.
std::vector<std::int64_t> random_factors(Random& random, std::int64_t size) {
  std::vector<std::int64_t> factors;
  for (std::int64_t rest = pick(random, 4); rest > 0; --rest) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= size; ++d) {
      if (size % d == 0) {
        divisors.push_back(d);
      }
    }
    factors.push_back(divisors[static_cast<std::size_t>(
        pick(random, static_cast<std::int64_t>(divisors.size())))]);
    size /= factors.back();
  }
  factors.push_back(size);
  std::ranges::shuffle(factors, random);
  return factors;
}

struct Named {
  std::string declarations;  // "dim a0 = 2\n"
  std::string shape;         // "[a0, a1]"
};

Named named(const std::string& letter, const std::vector<std::int64_t>& sizes) {
  Named result = {.declarations = "", .shape = "["};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::string name = letter + std::to_string(i);
    result.declarations += "dim " + name + " = " + std::to_string(sizes[i]) + "\n";
    result.shape += (i == 0 ? "" : ", ") + name;
  }
  result.shape += "]";
  return result;
}

// The same elements before and after the reshape, and how they come back in its gradient.
std::string reshape_program(Random& random) {
  constexpr std::int64_t kSizes[] = {48, 64, 72, 96, 120, 144, 192, 240, 360, 480};
  const std::int64_t size = kSizes[pick(random, std::size(kSizes))];
  const Named from = named("a", random_factors(random, size));
  const Named to = named("b", random_factors(random, size));
  return from.declarations + to.declarations + "fn case() {\n  let x = normal(" + from.shape +
         ", seed = 1)\n  let y = reshape(x -> " + to.shape + ")\n  let w = normal(" + to.shape +
         ", seed = 1)\n  return x, y, w, grad(sum(y * w), x)\n}\n";
}

void check_reshapes(const std::vector<std::int64_t>& mesh, std::uint64_t seed) {
  Random random(seed);
  for (int legal = 0; legal < 64;) {
    const std::string text = reshape_program(random);
    const Program program = program_of(text);
    const std::vector<Layout> layouts = layouts_of(program, mesh_of(mesh));
    const Layout& layout = layouts[random() % layouts.size()];
    const std::optional<Outcome> outcome = run_under({&program, 1}, layout);
    if (!outcome) {
      continue;  // sizes that do not divide, or an axis twice in one shape
    }
    ++legal;
    INFO(text << to_string(layout));
    CHECK(outcome->problem.empty());
    CHECK(outcome->seen[0].data == outcome->seen[1].data);  // x and y
    CHECK(outcome->seen[2].data == outcome->seen[3].data);  // w and the gradient
  }
}

TEST_CASE("64 random reshapes keep every element in its place") {
  check_reshapes({2, 2}, 11);
  check_reshapes({2, 4}, 12);
  check_reshapes({2, 2, 2}, 13);
}

}  // namespace
}  // namespace mtf::tests
