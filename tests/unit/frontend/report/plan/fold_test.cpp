// Blocks that a plan repeats, found whatever their values are called.

#include "frontend/report/plan/fold.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

PlanLine input(const std::string& name) {
  return {.kind = LineKind::kInput, .name = name, .type = "f32[a 4]", .op = "param net/" + name};
}

PlanLine step(const std::string& name, const std::string& op) {
  return {.kind = LineKind::kStep, .name = name, .type = "f32[a 4]", .op = op};
}

// Four steps on a variable of its own.
void add_layer(std::vector<PlanLine>& lines, const std::string& variable, const std::string& before,
               const std::string& after, int number) {
  const auto name = [number](int i) { return "%" + std::to_string(10 * number + i); };
  lines.push_back(step(name(0), "einsum(" + before + ", " + variable + ")"));
  lines.push_back(step(name(1), name(0) + " + 1"));
  lines.push_back(step(name(2), "exp(" + name(1) + ")"));
  lines.push_back(step(after, name(2) + " * " + before));
}

std::vector<PlanLine> network(const std::string& scope, int layers) {
  std::vector<PlanLine> lines = {step("x", "first()")};
  for (int i = 0; i < layers; ++i) {
    lines.push_back(input(scope + std::to_string(i) + "/w"));
  }
  for (int i = 0; i < layers; ++i) {
    add_layer(lines, scope + std::to_string(i) + "/w", i == 0 ? "x" : "x." + std::to_string(i + 1),
              "x." + std::to_string(i + 2), i + 1);
  }
  lines.push_back(step("y", "last(x)"));
  return lines;
}

std::vector<PlanPart> whole(const std::vector<PlanLine>& lines) {
  return folded(lines, names_in(lines));
}

}  // namespace

TEST_CASE("layers are folded by what they do, whatever they are called") {
  for (const std::string scope : {"layer_", "block_", "stage"}) {
    const std::vector<PlanPart> parts = whole(network(scope, 12));
    REQUIRE(parts.size() == 4);
    CHECK(parts[1].times == 12);
    CHECK(parts[1].end - parts[1].begin == 1);
    CHECK(parts[2].times == 12);
    CHECK(parts[2].end - parts[2].begin == 4);
    CHECK(parts[2].names == scope + "1 … " + scope + "11 as " + scope + "0");
  }
}

TEST_CASE("a block in a block is folded, too") {
  std::vector<PlanLine> lines;
  for (int outer = 0; outer < 3; ++outer) {
    for (int inner = 0; inner < 6; ++inner) {
      const std::string name = "%" + std::to_string(outer * 10 + inner);
      lines.push_back(step(name, "exp(v)"));
    }
    lines.push_back(step("%" + std::to_string(outer * 10 + 7), "sum()"));
  }
  const std::vector<PlanPart> parts = whole(lines);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].times == 3);
  REQUIRE(parts[0].parts.size() == 2);
  CHECK(parts[0].parts[0].times == 6);
}

TEST_CASE("turns of a loop are folded as far as positions go on evenly") {
  std::vector<PlanLine> lines = {step("x", "first()")};
  const std::vector<int> positions = {2, 5, 8, 11, 12, 13};
  for (const int at : positions) {
    const std::string turn = std::to_string(at);
    lines.push_back(step("%" + turn, "index(x, dim = tick, at = " + turn + ")"));
    lines.push_back(step("y." + turn, "%" + turn + " + 1"));
    lines.push_back(step("z." + turn, "exp(y." + turn + ")"));
  }
  const std::vector<PlanPart> parts = whole(lines);
  REQUIRE(parts.size() >= 2);
  CHECK(parts[1].times == 4);
  CHECK(parts[1].end - parts[1].begin == 3);
  CHECK(parts[1].names == "at = 5 … at = 11 as at = 2");
}

TEST_CASE("what is wired otherwise, or does another thing, is no repetition") {
  std::vector<PlanLine> lines = network("layer_", 3);
  std::vector<PlanPart> parts = whole(lines);
  REQUIRE(parts.size() == 6);  // three inputs are too few to fold
  CHECK(parts[4].times == 3);

  lines[lines.size() - 2].op = "%32 * %32";  // the last layer squares
  parts = whole(lines);
  CHECK(parts[4].times == 2);

  lines = network("layer_", 2);
  lines[5].type = "f32[a 2/4]";
  for (const PlanPart& part : whole(lines)) {
    CHECK(part.times == 1);
  }
}

TEST_CASE("some lines of layers are folded as all of them are") {
  const std::vector<PlanLine> lines = network("layer_", 9);
  std::vector<PlanLine> some;
  for (const PlanLine& line : lines) {
    if (line.op.starts_with("einsum")) {
      some.push_back(line);
    }
  }
  const std::vector<PlanPart> parts = folded(some, names_in(lines));
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].times == 9);
  CHECK(parts[0].names == "layer_1 … layer_8 as layer_0");
}

TEST_CASE("every line of a plan is in one part, or in a repetition of one") {
  const std::vector<PlanLine> lines = network("layer_", 7);
  std::size_t next = 0;
  for (const PlanPart& part : whole(lines)) {
    CHECK(part.begin == next);
    next = part.begin + (part.end - part.begin) * static_cast<std::size_t>(part.times);
  }
  CHECK(next == lines.size());
}

}  // namespace mtf
