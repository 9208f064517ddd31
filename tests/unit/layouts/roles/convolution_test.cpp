// Convolutions and pooling whose windows lie over split dims: one rank's bits, and the borders of
// its neighbours for all that a rank receives.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

struct Moved {
  std::int64_t halo = 0;   // elements that a rank receives in halo exchanges
  std::int64_t other = 0;  // in other collectives
};

// Of a function body with `x`, `k` and their sizes, with the rules given as (dim, axis).
Moved moved_by(const std::string& body, const std::vector<std::int64_t>& mesh,
               const std::vector<std::pair<std::string, AxisId>>& rules) {
  Layout layout{.name = "split", .mesh = mesh_of(mesh), .rules = {}};
  for (const auto& [dim, axis] : rules) {
    layout.rules.push_back({.dim = dim, .axes = {axis}, .span = {}});
  }
  DiagSink diags;
  const std::optional<SpmdProgram> plan =
      lower(program_of("dim n = 2, h = 16, w = 8, f_h = 3, f_w = 3, in = 4, out = 6\n"
                       "fn case(x: f32[n, h, w, in], k: f32[f_h, f_w, in, out]) {\n" +
                       body + "\n}\n"),
            layout, op_table(), diags);
  REQUIRE(plan);
  Moved moved;
  for (const Step& step : plan->steps) {
    if (step.kind == StepKind::kHaloExchange) {
      moved.halo += step.received;
    } else if (is_collective(step.kind)) {
      moved.other += step.received;
    }
  }
  return moved;
}

const std::string kConv =
    "conv(x, k -> [n, h, w, out], window = [h, w], taps = [f_h, f_w], padding = \"same\")";

TEST_CASE("a convolution over four blocks of rows receives its two border rows") {
  const Moved moved = moved_by("return " + kConv, {4}, {{"h", 0}});
  CHECK(moved.halo == 2 * 2 * 8 * 4);
  CHECK(moved.other == 0);
}

TEST_CASE("a convolution over blocks of rows and columns receives what is around a block") {
  const Moved moved = moved_by("return " + kConv, {4, 2}, {{"h", 0}, {"w", 1}});
  CHECK(moved.halo == 2 * 4 * (6 * 5 - 4 * 4));
  CHECK(moved.other == 0);
}

TEST_CASE("the gradients of a split convolution move borders and one sum") {
  const Moved moved = moved_by("return grad(sum(square(" + kConv + ")), [x, k])", {4}, {{"h", 0}});
  // The borders of x, which forward and backward share, and of the result's gradient; the kernel's
  // gradient is a sum for each block of the batch, finished over the axis.
  CHECK(moved.halo == 2 * 2 * 8 * 4 + 2 * 2 * 8 * 6);
  CHECK(moved.other <= 2 * 2 * 3 * 3 * 4 * 6);
}

TEST_CASE("pooling side by side receives nothing, and overlapping windows what they reach over") {
  CHECK(moved_by("return pool(x, window = [h, w], size = 2)", {4}, {{"h", 0}}).halo == 0);
  const Moved moved = moved_by("return pool(x, window = [h, w], size = 3, stride = 2, padding = 1)",
                               {4}, {{"h", 0}});
  CHECK(moved.halo == 2 * 8 * 4);
  CHECK(moved.other == 0);
}

std::string with_gradients(const std::string& result, const std::string& sizes) {
  return sizes + "\nfn case() {\n  let x = normal([n, h, w, in], seed = 1)\n" +
         "  let k = normal([f_h, f_w, in, out], seed = 2)\n  let r = " + result +
         "\n  let weight = normal(shape(r), seed = 9)\n  let total = sum(r * weight)\n" +
         "  let dx = grad(total, x)\n  let dk = grad(total, k)\n" +
         "  let second = grad(sum(dx * x) + sum(dk * dk), k)\n  return r, dx, dk, second\n}\n";
}

void check_layouts(const std::string& text, const std::vector<std::vector<std::int64_t>>& meshes) {
  INFO(text);
  const Report report = compare_all(program_of(text), meshes);
  CHECK(report.legal >= 4);
  CHECK(report.first_difference == "");
}

struct Windows {
  int taps = 1;
  int stride = 1;
  int dilation = 1;
  bool same = true;

  // So many that there are eight windows.
  [[nodiscard]] int size_for(int of_taps) const {
    return same ? 8 * stride : 7 * stride + (of_taps - 1) * dilation + 1;
  }
};

Program program_with(const Windows& windows) {
  const int across = windows.taps == 1 ? 1 : windows.taps - 1;
  const auto text = [](int number) { return std::to_string(number); };
  const std::string sizes = "dim n = 2, in = 2, out = 2, rows = 8, cols = 8, h = " +
                            text(windows.size_for(windows.taps)) +
                            ", w = " + text(windows.size_for(across)) +
                            ", f_h = " + text(windows.taps) + ", f_w = " + text(across);
  return program_of(with_gradients(
      "conv(x, k -> [n, rows, cols, out], window = [h, w], taps = [f_h, f_w], padding = \"" +
          std::string(windows.same ? "same" : "valid") + "\", stride = " + text(windows.stride) +
          ", dilation = " + text(windows.dilation) + ")",
      sizes));
}

// Windows, and what they lie over where it comes out even, over the axes of a mesh.
std::vector<Layout> split_windows(const Windows& windows, const Mesh& mesh) {
  std::vector<Layout> layouts;
  for (const auto& [down, across] : {std::pair(true, false), {false, true}, {true, true}}) {
    Layout layout{.name = "split", .mesh = mesh, .rules = {}};
    const auto add = [&](const char* dim, std::size_t axis) {
      layout.rules.push_back({.dim = dim, .axes = {static_cast<AxisId>(axis)}, .span = {}});
    };
    const std::size_t most = mesh.axes.size() - 1;  // the longest axis
    if (down) {
      add("rows", most);
    }
    if (across) {
      add("cols", down ? 0 : most);
    }
    if (down && windows.same) {
      add("h", most);
    }
    if (across && windows.same) {
      add("w", down ? 0 : most);
    }
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

void check_windows(const Windows& windows) {
  const Program program = program_with(windows);
  const Layout one{.name = "one", .mesh = mesh_of({1}), .rules = {}};
  const std::optional<Outcome> wanted = run_under({&program, 1}, one);
  REQUIRE(wanted);
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{2, 2}, {1, 8}}) {
    for (const Layout& layout : split_windows(windows, mesh_of(sizes))) {
      INFO(windows.taps << " taps, stride " << windows.stride << ", dilation " << windows.dilation
                        << (windows.same ? ", same" : ", valid") << " under " << to_string(layout));
      const std::optional<Outcome> found = run_under({&program, 1}, layout);
      REQUIRE(found);
      CHECK(found->problem == "");
      CHECK(found->promised);
      CHECK(same_values(*wanted, *found));
    }
  }
}

TEST_CASE("convolutions of any windows give one rank's bits, forward and backward") {
  for (const int taps : {1, 2, 3, 4, 5, 6, 7}) {
    for (const int stride : {1, 2, 3}) {
      for (const int dilation : {1, 2}) {
        for (const bool same : {true, false}) {
          check_windows({.taps = taps, .stride = stride, .dilation = dilation, .same = same});
        }
      }
    }
  }
}

TEST_CASE("all layouts of convolutions give one rank's bits, forward and backward") {
  const std::string sizes = "dim n = 4, h = 8, w = 8, in = 4, out = 4, f_h = 3, f_w = 2";
  for (
      const std::string result :
      {"conv(x, k -> [n, h, w, out], window = [h, w], taps = [f_h, f_w], padding = \"same\")",
       "conv(x, k -> [n, out, rows, cols], window = [h, w], taps = [f_h, f_w], padding = \"same\", "
       "stride = 2)",
       "conv_transpose(x, k -> [n, rows, cols, out], window = [h, w], taps = [f_h, f_w], padding = "
       "\"same\", stride = 2)",
       "conv(x, k -> [n, h, w, out, in], window = [h, w], taps = [f_h, f_w], padding = \"same\")",
       "sum(conv(x, sum(k, over = out) -> [n, h, w], window = [h, w], taps = [f_h, f_w], padding = "
       "\"same\") * sum(k))",
       "conv(x, k[in: 0..2] -> [n, h, w, out], window = [h, w], taps = [f_h, f_w], padding = "
       "\"same\", groups = 2)"}) {
    check_layouts(with_gradients(result, sizes), {{2}, {4}, {2, 2}});
  }
}

// Of 64 channels on, in Winograd's products; blocks of rows and columns begin at odd ones, too, and
// of bf16, inside of its larger tiles. The sums of blocks of a kernel's gradient would be more than
// its operands.
void check_many_channels(const std::string& dtype) {
  for (const std::string result :
       {"conv(x, k -> [n, h, w, out], window = [h, w], taps = [f_h, f_w], padding = \"same\"",
        "conv(x, k -> [out, cols, n, rows], window = [h, w], taps = [f_h, f_w], padding = [[2, 2], "
        "[1, 2]]",
        "conv_transpose(x, k -> [n, out, rows, cols], window = [h, w], taps = [f_h, f_w], padding "
        "= [[1, 1], [0, 1]]"}) {
    check_layouts(
        "dim n = 2, h = 12, w = 6, in = 64, out = 64, f_h = 3, f_w = 3\nfn case() {\n"
        "  let x = cast(normal([n, h, w, in], seed = 1), " +
            dtype + ")\n  let k = cast(normal([f_h, f_w, in, out], seed = 2), " + dtype +
            ")\n  let r = " + result +
            ", dtype = f32)\n  let weight = normal(shape(r), seed = 9)\n"
            "  return r, grad(sum(r * weight), x)\n}\n",
        {{2}, {4}, {2, 2}});
  }
}

TEST_CASE("all layouts of convolutions with many channels give one rank's bits") {
  check_many_channels("f32");
}

TEST_CASE("all layouts of bf16's convolutions with many channels give one rank's bits") {
  check_many_channels("bf16");
}

// In Winograd's products, a block's last tile being a part of one, and in stages where a rank has
// more than one block around a split dim.
TEST_CASE("all layouts of the gradient of a kernel of bf16 give one rank's bits") {
  const std::string sizes = "dim n = 2, h = 32, w = 36, in = 64, out = 64, f_h = 3, f_w = 3\n";
  for (const std::string result :
       {"conv_kernel(x, y -> [f_h, f_w, in, out]", "conv_kernel(x, y -> [out, in, f_w, f_h]"}) {
    for (const std::string order : {"[n, h, w, in]", "[n, in, h, w]", "[h, in, n, w]"}) {
      const std::string text = sizes + "fn case() {\n  let x = cast(normal(" + order +
                               ", seed = 1), bf16)\n  let y = cast(normal([n, h, w, out], seed = "
                               "2), bf16)\n  return " +
                               result +
                               ", window = [h, w], taps = [f_h, f_w], padding = \"same\", dtype = "
                               "f32)\n}\n";
      const SpmdProgram plan = lowered(program_of(text), one_rank());
      CHECK(std::ranges::any_of(plan.steps, [](const Step& step) {
        return step.kind == StepKind::kKernel &&
               step.calls.front().split->space->way == "conv.winograd.bf16";
      }));
      check_layouts(text, {{2}});
    }
  }
}

// No element is summed over ranks, so bits are those of one rank where blocks are uneven, too.
void check_uneven_channels(const std::string& dtype) {
  const Program program = program_of(R"(
dim n = 5, h = 13, w = 7, in = 64, out = 33, f_h = 3, f_w = 3
fn case() {
  let x = cast(normal([n, h, w, in], seed = 1), )" +
                                     dtype + R"()
  let k = cast(normal([f_h, f_w, in, out], seed = 2), )" +
                                     dtype + R"()
  let y = conv(x, k -> [n, h, w, out], window = [h, w], taps = [f_h, f_w], padding = "same",
               dtype = f32)
  return y, grad(sum(y * y), x)
}
)");
  const std::optional<Outcome> wanted = run_under({&program, 1}, one_rank());
  REQUIRE(wanted);
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{2, 3}, {5, 2}}) {
    Mesh mesh = mesh_of(sizes);
    mesh.uneven = true;
    for (const auto& [first, second] : {std::pair("h", "w"), {"w", "h"}, {"n", "h"}, {"w", "n"}}) {
      const Layout layout{.name = "split",
                          .mesh = mesh,
                          .rules = {{.dim = first, .axes = {0}, .span = {}},
                                    {.dim = second, .axes = {1}, .span = {}}}};
      INFO(to_string(layout));
      for (const int threads : {1, 3}) {
        const std::optional<Outcome> found =
            run_under({&program, 1}, layout, {.threads = threads, .least_share = 0});
        REQUIRE(found);
        CHECK(found->problem == "");
        CHECK(same_values(*wanted, *found));
      }
    }
  }
}

TEST_CASE("uneven blocks of rows and columns of many channels give one rank's bits") {
  check_uneven_channels("f32");
}

TEST_CASE("uneven blocks of rows and columns of many channels of bf16 give one rank's bits") {
  check_uneven_channels("bf16");
}

TEST_CASE("all layouts of pooling give one rank's bits, forward and backward") {
  for (const std::string result :
       {"pool(x, window = [h, w], size = 2)",
        "pool(x -> [n, in, rows, cols], window = [h, w], size = 3, stride = 2, padding = \"same\")",
        "pool(x, window = [h, w], size = [3, 2], stride = 1, padding = \"same\", by = \"mean\")",
        "pool(x, window = h, size = 4, by = \"sum\")",
        "pool(x, window = [w, in], size = 2, by = \"min\", dilation = 2, stride = 1)"}) {
    check_layouts(
        "dim n = 4, h = 8, w = 8, in = 4\nfn case() {\n"
        "  let x = round(3 * normal([n, h, w, in], seed = 1))\n  let r = " +
            result +
            "\n  let weight = normal(shape(r), seed = 9)\n"
            "  return r, grad(sum(r * weight), x)\n}\n",
        {{2}, {4}, {2, 2}});
  }
}

}  // namespace
}  // namespace mtf::tests
