// Programs whose chains run band by band, and calls of odd sizes, on several threads of a rank.

#include <array>
#include <string>

#include <catch2/catch.hpp>

#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

constexpr const char* kDims = "dim batch = 37, length = 61, io = 129, vocab = 53, best = 5\n";

struct Part {
  const char* name;
  const char* body;
};
constexpr std::array kParts = {
    Part{.name = "rows",
         .body = "  return softmax(x, over = io), x - mean(x, over = io), max(x, over = io)\n"},
    Part{.name = "columns", .body = "  return sum(x, over = batch), sum(x -> [io]), sum(x)\n"},
    Part{.name = "extremes", .body = "  return max(x), min(x -> [length]), sum(cast(x, i32))\n"},
    Part{.name = "norm",
         .body = "  let y = (x - mean(x, over = io)) * rsqrt(mean(square(x), over = io) + 1e-5)\n"
                 "  return y, sum(y * x, over = io), sum(y -> [io, batch])\n"},
    Part{.name = "column chains",
         .body = "  dim images = 16, row = 32, col = 4, deep = 64\n"
                 "  let y = normal([images, row, col, deep], seed = 7)\n"
                 "  let z = 2 * y - 1\n"
                 "  return sum(z -> [deep]), max(abs(y) -> [row, deep]), sum(y * z -> [deep]),\n"
                 "    sum(square(y)), z\n"},
    Part{.name = "moves",
         .body = "  let y = x[io: 3..100]\n"
                 "  return transpose(x -> [io, length, batch]), concat([y, x], over = io),\n"
                 "    reverse(x, over = length), shift(x, over = batch, by = 2)\n"},
    Part{.name = "scans",
         .body =
             "  return cumsum(x, over = batch), cumsum(x, over = length), cumsum(x, over = io)\n"},
    Part{.name = "order",
         .body = "  return sort(x, over = io), argsort(x, over = batch),\n"
                 "    top_k(x -> [batch, length, best], over = io)\n"},
    Part{.name = "lookups",
         .body = "  let ids = integers([batch, length], high = 60, seed = 3)\n"
                 "  let table = normal([vocab, io], seed = 4)\n"
                 "  return gather(table, ids, over = vocab), one_hot(ids, vocab),\n"
                 "    scatter_add(x, ids, over = vocab)\n"},
    Part{.name = "windows",
         .body = "  dim images = 3, row = 13, col = 11, in = 64, out = 40, down = 3, across = 3\n"
                 "  let y = normal([images, row, col, in], seed = 5)\n"
                 "  let k = normal([down, across, in, out], seed = 6)\n"
                 "  let z = conv(y, k -> [images, row, col, out], window = [row, col],\n"
                 "               taps = [down, across], padding = 1)\n"
                 "  let half = conv(cast(y, bf16), cast(k, bf16) -> [images, row, col, out],\n"
                 "                  window = [row, col], taps = [down, across], padding = 1,\n"
                 "                  dtype = f32)\n"
                 "  return z, half, grad(sum(z * z), [y, k]), grad(sum(half * half), [y, k])\n"},
    Part{.name = "random",
         .body = "  return normal([batch, length, io]), dropout(x, 0.3), gumbel([io, batch], seed "
                 "= 2)\n"}};

// All under the rules that split each dim, and none.
void check(const Part& part) {
  const std::string text = std::string(kDims) + "fn case() {\n" +
                           "  let x = normal([batch, length, io], seed = 1)\n" + part.body + "}\n";
  const Program program = program_of(text);
  Mesh mesh = mesh_of({2});
  mesh.uneven = true;
  for (const Layout& layout : layouts_of(program, mesh)) {
    const std::optional<Outcome> one = run_under({&program, 1}, layout, {.threads = 1});
    REQUIRE(one);
    REQUIRE(one->problem == "");
    for (const int threads : {2, 3, 5}) {
      INFO(part.name << " by " << threads << " threads under " << to_string(layout));
      for (const std::int64_t least : {1'000, 0}) {
        const std::optional<Outcome> many =
            run_under({&program, 1}, layout, {.threads = threads, .least_share = least});
        REQUIRE(many);
        CHECK(many->problem == "");
        CHECK(same_values(*one, *many));
      }
    }
  }
}

TEST_CASE("threads give the bits of one, where rows are uneven and bands are many", "[threads]") {
  for (const Part& part : kParts) {
    check(part);
  }
}

}  // namespace
}  // namespace mtf::tests
