// Random programs on the ranks that the test was started among: each gets from them the bits that
// it computes by itself. tests/exact/long_random runs more of them.

#include <cstdlib>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/distributed/main.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

// In one line, or in two halves where there are as many.
Mesh random_mesh(std::int64_t ranks, std::mt19937_64& random) {
  return ranks < 4 || random() % 2 == 0 ? mesh_of({ranks}) : mesh_of({2, ranks / 2});
}

}  // namespace

TEST_CASE("random programs give one rank's bits on real ranks") {
  Communicator& communicator = test::ranks();
  const std::int64_t ranks = communicator.ranks();
  if (ranks < 2 || (ranks & (ranks - 1)) != 0) {
    return;  // other numbers of ranks promise no equal bits
  }
  const std::uint64_t programs = number_from_environment("MTF_RANDOM_PROGRAMS", 40);
  const std::uint64_t first = number_from_environment("MTF_RANDOM_SEED", 1);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    const Program program = random_program(seed);
    const std::vector<Program> entries =
        seed % 2 == 0 ? std::vector{program} : cut_in_two(program, program.values.size() / 2);
    std::mt19937_64 random(seed);
    const Mesh mesh = random_mesh(ranks, random);
    const Layout layout = seed % 3 == 0 ? refined_layout(entries, mesh, random)
                                        : random_layout(entries, mesh, random);
    const std::optional<Outcome> many = run_under(entries, layout, communicator);
    if (!many) {
      continue;  // the layout does not fit
    }
    const std::optional<Outcome> one = run_under(entries, one_rank());
    INFO("seed " << seed << " under " << to_string(layout) << "\n" << mtf::to_string(program));
    CHECK(many->problem == "");
    CHECK((one && same_values(*one, *many)));
    ++compared;
  }
  CHECK(compared > programs / 2);
}

}  // namespace mtf::tests
