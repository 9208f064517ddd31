// Random programs give one rank's bits under random legal layouts, in one entry and cut into two;
// a failing one is shrunk before it is shown.
//
// The short form runs in CI. tests/exact/long_random runs the long one, by these variables, and
// compares the digests of instruction sets.

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"
#include "tests/unit/stdlib/ops/calls.h"

namespace mtf::tests {
namespace {

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoull(text);
}

struct Effort {
  std::uint64_t programs = number_from_environment("MTF_RANDOM_PROGRAMS", 300);
  std::uint64_t layouts = number_from_environment("MTF_RANDOM_LAYOUTS", 4);  // per number of ranks
  std::uint64_t ranks = number_from_environment("MTF_RANDOM_RANKS", 4);      // at most
  std::uint64_t first_seed = number_from_environment("MTF_RANDOM_SEED", 1);
};

const std::map<std::uint64_t, std::vector<std::vector<std::int64_t>>> kMeshes = {
    {2, {{2}}},
    {4, {{4}, {2, 2}}},
    {8, {{8}, {4, 2}, {2, 2, 2}}},
    {16, {{16}, {8, 2}, {4, 4}, {2, 2, 2, 2}}}};

// Of all bits that one rank computes, the sign of a NaN aside.
class Digest {
 public:
  void add(const Outcome& outcome) {
    for (const HostTensor& tensor : outcome.seen) {
      with_stored(tensor.type.dtype, [&](auto zero) { add<decltype(zero)>(tensor); });
    }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  template <typename T>
  void add(const HostTensor& tensor) {
    for (std::size_t i = 0; i < tensor.data.size(); i += sizeof(T)) {
      T element{};
      std::memcpy(&element, tensor.data.data() + i, sizeof element);
      std::uint64_t bits = ~std::uint64_t{0};
      const auto number = static_cast<double>(element);
      if (number == number) {
        bits = 0;
        std::memcpy(&bits, &element, sizeof element);
      }
      value_ = (value_ ^ bits) * 0x100000001b3;  // FNV-1a, by elements
    }
  }

  std::uint64_t value_ = 0xcbf29ce484222325;
};

struct Tally {
  std::uint64_t compared = 0;
  Digest digest;
};

// "" or the first difference from one rank.
std::string first_difference(std::span<const Program> entries, std::uint64_t seed,
                             const Effort& effort, Tally& tally) {
  const std::optional<Outcome> one = run_under(entries, one_rank());
  if (!one || !one->problem.empty()) {
    return "one rank: " + (one ? one->problem : "refused");
  }
  tally.digest.add(*one);
  std::mt19937_64 random(seed);
  for (const auto& [ranks, meshes] : kMeshes) {
    std::uint64_t done = 0;
    for (std::uint64_t tries = 0;
         ranks <= effort.ranks && done < effort.layouts && tries < 8 * effort.layouts; ++tries) {
      const Mesh mesh = mesh_of(meshes[random() % meshes.size()]);
      const Layout layout = random_layout(entries, mesh, random);
      const std::optional<Outcome> many = run_under(entries, layout);
      if (!many) {
        continue;
      }
      ++done;
      if (!many->problem.empty() || !same_values(*one, *many)) {
        return to_string(layout) + ": " + (many->problem.empty() ? "other bits" : many->problem);
      }
    }
    tally.compared += done;
  }
  return "";
}

// Odd seeds run in two entries.
std::vector<Program> entries_of(const Program& program, std::uint64_t seed) {
  return seed % 2 == 0 ? std::vector{program} : cut_in_two(program, program.values.size() / 2);
}

// Compares the program of a seed; a failing one is shrunk before it is shown.
void check_program(const Program& program, std::uint64_t seed, const Effort& effort, Tally& tally) {
  const auto difference = [&](const Program& one) {
    return first_difference(entries_of(one, seed), seed, effort, tally);
  };
  const std::string found = difference(program);
  if (found.empty()) {
    return;
  }
  const Program small =
      shrink(program, [&](const Program& smaller) { return !difference(smaller).empty(); });
  FAIL_CHECK("seed " << seed << ": " << found << "\n"
                     << mtf::to_string(small) << difference(small));
}

TEST_CASE("random programs give one rank's bits under random layouts") {
  const Effort effort;
  Tally tally;
  for (std::uint64_t seed = effort.first_seed; seed < effort.first_seed + effort.programs; ++seed) {
    check_program(random_program(seed), seed, effort, tally);
  }
  CHECK(tally.compared > effort.programs);
  WARN(tally.compared << " runs under layouts compared, digest " << std::hex
                      << tally.digest.value());
}

TEST_CASE("random programs of every operation give one rank's bits under random layouts",
          "[table]") {
  const Effort effort;
  Tally tally;
  for (const OpDef* op : op_table()) {
    if (!drawable(*op)) {
      continue;
    }
    std::map<std::string_view, int> drawn;
    for (std::uint64_t i = 0; i < 2 || (i < 60 && drawn[op->name] == 0); ++i) {
      const std::uint64_t seed = seed_of(op->name) + i;
      INFO(op->name);
      check_program(random_program(seed, {.drawn = &drawn, .focus = op}), seed, effort, tally);
    }
    INFO(op->name << ": no call of it was drawn; what do its parameters need?");
    CHECK(drawn[op->name] > 0);
  }
  CHECK(tally.compared > 0);
}

}  // namespace
}  // namespace mtf::tests
