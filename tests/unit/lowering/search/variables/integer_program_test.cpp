// 0-1 programs, against all choices there are.

#include "lowering/search/variables/integer_program.h"

#include <csignal>
#include <optional>
#include <random>

#include <catch2/catch.hpp>

namespace mtf::tests {
namespace {

bool keeps(const IntegerProgram& program, unsigned taken) {
  for (const IntegerProgram::Row& row : program.rows) {
    double sum = 0;
    for (const IntegerProgram::Term& term : row.terms) {
      sum += (taken >> term.choice & 1U) != 0 ? term.weight : 0;
    }
    if (sum > row.most) {
      return false;
    }
  }
  return true;
}

double cost_of(const IntegerProgram& program, unsigned taken) {
  double cost = 0;
  for (std::size_t i = 0; i < program.costs.size(); ++i) {
    cost += (taken >> i & 1U) != 0 ? program.costs[i] : 0;
  }
  return cost;
}

// Of all choices within the rows the least cost.
std::optional<double> least_cost(const IntegerProgram& program) {
  std::optional<double> least;
  for (unsigned taken = 0; taken < 1U << program.costs.size(); ++taken) {
    const double cost = cost_of(program, taken);
    if (keeps(program, taken) && (!least || cost < *least)) {
      least = cost;
    }
  }
  return least;
}

// Seconds and bytes, as searches have them: costs of 1e-6, weights of 1e9. All are whole numbers of
// a unit, so that what is equal is.
IntegerProgram drawn(std::mt19937& random) {
  const auto below = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  IntegerProgram program;
  const int choices = 1 + below(10);
  for (int i = 0; i < choices; ++i) {
    program.costs.push_back((below(200) - 120) * 1e-6);
  }
  for (int rows = below(5); rows > 0; --rows) {
    const bool is_bytes = below(2) == 0;
    IntegerProgram::Row row{.terms = {}, .most = is_bytes ? (below(900) - 200) * 1e6 : 1};
    for (std::size_t i = 0; i < program.costs.size(); ++i) {
      if (below(2) == 0) {
        row.terms.push_back({.choice = i, .weight = is_bytes ? (below(600) - 200) * 1e6 : 1});
      }
    }
    program.rows.push_back(std::move(row));
  }
  return program;
}

TEST_CASE("integer programs cost what the best of all choices costs") {
  REQUIRE(has_integer_solver());
  std::mt19937 random(7);  // NOLINT(*-msc51-cpp): the same on every machine
  int without = 0;
  for (int i = 0; i < 300; ++i) {
    const IntegerProgram program = drawn(random);
    const std::optional<double> least = least_cost(program);
    const std::optional<std::vector<std::size_t>> taken = solve(program);
    INFO("program " << i);
    REQUIRE(taken.has_value() == least.has_value());
    without += least ? 0 : 1;
    if (taken) {
      unsigned set = 0;
      for (const std::size_t choice : *taken) {
        set |= 1U << choice;
      }
      CHECK(keeps(program, set));
      CHECK(cost_of(program, set) == Approx(*least).margin(1e-12));
    }
  }
  CHECK(without > 0);
}

TEST_CASE("integer programs without choices or limits") {
  CHECK(solve({})->empty());
  CHECK(solve({.costs = {1, -1, 0}, .rows = {}})->front() == 1);
  CHECK_FALSE(solve({.costs = {1}, .rows = {{.terms = {{.choice = 0, .weight = 1}}, .most = -1}}}));
}

TEST_CASE("the solver leaves signals to the program") {
  static_cast<void>(std::signal(SIGINT, SIG_IGN));
  static_cast<void>(solve(
      {.costs = {1, -1, -2}, .rows = {{.terms = {{.choice = 1}, {.choice = 2}}, .most = 1}}}));
  CHECK(std::signal(SIGINT, SIG_DFL) == SIG_IGN);
}

}  // namespace
}  // namespace mtf::tests
