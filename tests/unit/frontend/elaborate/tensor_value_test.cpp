// What tensors hold as host values, scans, blocks that are computed again, gradients of one's own.

#include <algorithm>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "tests/unit/frontend/elaborate/harness.h"

namespace mtf::elaborate_test {
namespace {

TEST_CASE("at top level a tensor's elements are numbers and lists of the host") {
  Bench bench;
  bench.device.scalars = {2.75, 2.5, -1, 1};
  bench.run(R"(dim a = 2, b = 3
print int(sum(ones([a]))), float(sum(ones([a])))
print list(fill([a, b], 0, dtype = i32)), list(ones([a]) > 0)
)");
  CHECK(bench.errors().empty());
  CHECK(bench.device.lines == Lines{"2 2.5", "[[-1, 0, 1], [2, 3, 4]] [true, true]"});
}

TEST_CASE("a check knows no elements, and goes on without") {
  Bench bench({.check = true});
  bench.run(R"(dim a = 2
let n = int(sum(ones([a])))
for i in 0..n { print i }
if n > 2 { print ones([c: 3]) } else { print chr(n) + "!" }
let l = list(ones([a]))
print l[0] + 1, len(l)
dim size = n
fn f(x: f32[size]) { return x }
)");
  CHECK(bench.session->build("f", false) == nullptr);
  CHECK(bench.errors().empty());
  CHECK(bench.session->build("f") == nullptr);
  REQUIRE(bench.errors().size() == 1);
  CHECK(bench.errors()[0].starts_with("2:13 bad-argument: `f` is built from what a tensor holds"));
}

TEST_CASE("characters and texts") {
  CHECK(printed(R"(print ord("a"), ord("é"), chr(97) + chr(233) + chr(8364) + chr(128512))") ==
        Lines{"97 233 aé€😀"});
  CHECK(printed(R"(print text(2.5) + text([1, true]) + text("x"), list("aé"), int(-2.9))") ==
        Lines{"2.5[1, true]x [a, é] -2"});
  CHECK(printed("print \"{7:03d} {-7:04d} {2.5:07.2f} {1.5:+06.1f}\"") ==
        Lines{"007 -007 0002.50 +001.5"});
}

TEST_CASE("a scan calls its function for each position, with one set of variables") {
  Bench bench({.check = true});
  bench.run(R"(dim n = 5, io = 2
fn cell(h, x) {
  param w : f32[io] = ones
  let next = h * w + x
  return next, next * 2
}
model net(xs: f32[n, io]) {
  let h, ys = scan(cell, zeros([io]), xs, over = n)
  return ys
}
)");
  REQUIRE(bench.errors().empty());
  CHECK(bench.paths() == Lines{"net/h_ys/w"});
  const Unit* unit = bench.session->build("net");
  REQUIRE(unit != nullptr);
  CHECK(unit->program.at(unit->program.outputs[0]).type.shape.find("n")->size == 5);
}

// The peak of an entry of the program, on one rank.
std::int64_t peak_of_entry(const std::string& text, std::string_view entry) {
  Bench bench({.check = true});
  bench.run(text);
  REQUIRE(bench.errors().empty());
  DiagSink diags;
  const std::optional<SpmdProgram> program =
      lower_simplified(bench.session->build(entry)->program, one_rank(), op_table(), diags);
  REQUIRE(program);
  return program->totals.peak_bytes;
}

std::string deep(const std::string& open, const std::string& close) {
  return R"(dim batch = 4096, io = 8
fn layer(x) {
  param w : f32[io, to: 8] = ones
  return tanh(rename(einsum(x, w -> [batch, to]), to -> io))
}
fn step(x: f32[batch, io]) {
  var y = x
  for i in 0..12 {
    )" + open +
         R"(
      let a = layer(y) as "a{i}"
      let b = square(layer(a) as "b{i}") + (layer(a * a) as "c{i}")
      y = (layer(b) as "d{i}") + y
    )" + close +
         R"(
  }
  return grad(mean(y), x)
}
)";
}

TEST_CASE("a deep network keeps less where its layers are computed again") {
  const std::int64_t kept = peak_of_entry(deep("if true {", "}"), "step");
  const std::int64_t again = peak_of_entry(deep("recompute {", "}"), "step");
  CHECK(again * 2 < kept);
  CHECK(peak_of_entry(deep("recompute { if true { recompute {", "} } }"), "step") == again);
}

TEST_CASE("a gradient of one's own is asked for each tensor of floats") {
  const auto error_of = [](const std::string& body) {
    return printed("dim n = 2\nfn f(x, w, k: int = 2) {\n" + body +
                   "\nreturn x * w\n}\nlet x = ones([n])\nprint grad(sum(f(x, x)), x)")[0];
  };
  CHECK(error_of("gradient dy { return dy * w, dy * x }") == "<f32[n 2]>");
  CHECK(error_of("gradient dy { let dw = dy\nlet dx = 2 * dy }") == "<f32[n 2]>");
  CHECK(
      error_of("gradient dy { return dy }") ==
      "3:22 missing-argument: `gradient` of `f` returns 1 value; one is needed for each parameter "
      "that is a tensor of floats: `x`, `w`");
  CHECK(error_of("gradient dy { let dx = dy }")
            .starts_with("3:10 missing-argument: `gradient` of `f` gives none for `w`"));
  CHECK(error_of("gradient dy { return dy, sum(dy) }") ==
        "3:26 dim-size: the gradient of `w` is a tensor f32[]; `w` is f32[n 2]");
  CHECK(error_of("gradient dy, dz { return dy, dz }").starts_with("3:10 bad-argument: `gradient`"));
  CHECK(error_of("param p : f32[n] = ones\ngradient dy { return dy, dy }")
            .starts_with("3:7 no-gradient: no gradient would reach the param `p`"));
}

}  // namespace
}  // namespace mtf::elaborate_test
