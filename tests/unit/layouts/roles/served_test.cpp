// Elements read at indices known only at run time: ranks send each other what is asked for, and
// nothing is added up.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/roles/plan_of.h"

namespace mtf::tests {
namespace {

const std::vector<std::string> kOneServe = {"serve"};

Program case_of(const std::string& result) {
  return program_of(
      "dim vocab = 512, d = 6, batch = 32, length = 2, high = 64, wide = 48, window = 16\n"
      "fn case(table: f32[vocab, d], plane: f32[high, wide, d], ids: i32[batch, length],\n"
      "        at: i32[]) {\n  return " +
      result + "\n}\n");
}

Layout both(std::int64_t ranks, bool uneven = false) {
  Layout layout = over_all("vocab", ranks, uneven);
  for (const char* dim : {"batch", "high"}) {
    layout.rules.push_back({.dim = dim, .axes = {0}, .span = {}});
  }
  return layout;
}

TEST_CASE("each rank receives the rows that it asks for") {
  const Program program = case_of("gather(table, ids, over = vocab)");
  const std::vector<std::string> kinds = {"all_gather", "serve"};
  for (const std::int64_t ranks : {2, 4, 8}) {
    const Moves moves = moves_of(program, both(ranks));
    CHECK(moves.kinds == kinds);
    const std::int64_t own = 64 / ranks;
    CHECK(moves.received == own * (ranks - 1) + own * 6);  // all indices, and its own rows
    const Moves whole = moves_of(program, over_all("vocab", ranks));
    CHECK(whole.kinds == kOneServe);
    CHECK(whole.received == 64 * 6);
  }
  CHECK(moves_of(program, both(3, /*uneven=*/true)).kinds == kinds);
}

TEST_CASE("a small table is gathered") {
  const Program program = program_of(
      "dim vocab = 16, d = 6, batch = 64\nfn case(table: f32[vocab, d], ids: i32[batch]) {\n"
      "  return gather(table, ids, over = vocab)\n}\n");
  const Moves moves = moves_of(program, both(4));
  CHECK(moves.kinds == std::vector<std::string>{"all_gather"});
  CHECK(moves.received == 12 * 6);
}

TEST_CASE("indices along several dims are served alike") {
  const Program program =
      case_of("gather(plane, [ids[length: 0], ids[length: 1]], over = [high, wide])");
  const Moves moves = moves_of(program, over_all("high", 4));
  CHECK(moves.kinds == kOneServe);
  CHECK(moves.received == 32 * 6);
}

TEST_CASE("a window at a position known at run time moves as much as it holds") {
  const Moves moves = moves_of(case_of("dynamic_slice(table, at -> [window, d], over = vocab)"),
                               over_all("vocab", 4));
  CHECK(moves.kinds == kOneServe);
  CHECK(moves.received == 16 * 6);
  const Program update = program_of(
      "dim vocab = 512, d = 6, window = 16\n"
      "fn case(table: f32[vocab, d], part: f32[window, d], at: i32[]) {\n"
      "  return dynamic_update(table, part, at, over = vocab)\n}\n");
  CHECK(moves_of(update, over_all("vocab", 4)).kinds.empty());
}

TEST_CASE("served elements have one rank's bits, forward and backward, under every layout") {
  for (const std::string result :
       {"gather(x, i, over = a)", "gather(x, j, over = b)", "gather(x, [j, j], over = [a, c])",
        "gather(x, [i, j], over = [c, a], clip = true)", "gather(x, k, over = a)",
        "gather(x, [k, i], over = [a, c])", "scatter_add(x, [k, k % 4], over = [p, q])",
        "scatter_add(x, [k % 4, k] -> [a, q, c, p], over = [q, p])",
        "dynamic_slice(x, at -> [window, b, c], over = a)",
        "dynamic_slice(x, [at, 3 * at] -> [c, window, other], over = [a, b])",
        "dynamic_slice(x, k -> [b, window, c], over = a)",
        "dynamic_update(x, x[a: 8..12 as window], at, over = a)",
        "dynamic_update(x, x[a: 8], at, over = a)",
        "dynamic_update(x, x[a: 8..12 as window], k, over = a)"}) {
    INFO(result);
    // Some are outside.
    const Report report = compare_all(
        program_of("dim a = 16, b = 8, c = 4, n = 8, p = 8, q = 4, window = 4, other = 2\n"
                   "fn case() {\n"
                   "  let x = normal([a, b, c], seed = 1)\n"
                   "  let i = integers([b, n], low = -1, high = 18, seed = 2)\n"
                   "  let j = integers([n], low = -2, high = 9, seed = 3)\n"
                   "  let k = integers([b], low = -1, high = 18, seed = 4)\n"
                   "  let at = integers([], low = 0, high = 12, seed = 5)\n"
                   "  let r = " +
                   result +
                   "\n  let weight = normal(shape(r), seed = 9)\n"
                   "  return r, grad(sum(r * weight), x)\n}\n"),
        {{2}, {4}, {8}, {2, 2}, {4, 2}});
    CHECK(report.legal >= 8);
    CHECK(report.first_difference == "");
  }
}

}  // namespace
}  // namespace mtf::tests
