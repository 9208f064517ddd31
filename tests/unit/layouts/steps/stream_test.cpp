// Products whose gathered operands pass through them in pieces: one rank's bits, the plan's counts,
// and no more memory than without.

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lowering/lower.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

using Random = std::mt19937_64;

struct Side {
  std::string name;
  std::int64_t size = 1;
};

// "[m, n]", in random order.
std::string shape_text(std::vector<Side> dims, Random& random) {
  std::ranges::shuffle(dims, random);
  std::string text;
  for (const Side& dim : dims) {
    text += (text.empty() ? "[" : ", ") + dim.name;
  }
  return text + "]";
}

// "[m -> (x, y), n -> z]": most axes to some dim that they divide.
std::string pin_text(const std::vector<Side>& dims, const Mesh& mesh, Random& random) {
  std::vector<std::string> axes(dims.size());
  std::vector<std::int64_t> left;
  for (const Side& dim : dims) {
    left.push_back(dim.size);
  }
  for (const MeshAxis& axis : mesh.axes) {
    const std::size_t d = random() % (dims.size() + 1);
    if (d < dims.size() && left[d] % axis.size == 0) {
      left[d] /= axis.size;
      axes[d] += (axes[d].empty() ? "" : ", ") + axis.name;
    }
  }
  std::string text;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (!axes[d].empty()) {
      text += (text.empty() ? "" : ", ") + dims[d].name + " -> (" + axes[d] + ")";
    }
  }
  return "[" + text + "]";
}

std::string declaration_of(const Mesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes) {
    text += (text.empty() ? "" : ", ") + axis.name + ": " + std::to_string(axis.size);
  }
  return "mesh ranks = [" + text + "]\n";
}

// Both operands gathered along the dim that is summed, as SUMMA's are.
std::string summa_program(const Mesh& mesh, Random& random) {
  constexpr std::int64_t kSizes[] = {64, 80, 96, 112, 128};
  std::string text = declaration_of(mesh);
  for (const char* name : {"m", "n", "k"}) {
    const std::int64_t size = kSizes[random() % std::size(kSizes)];
    text += std::string("dim ") + name + " = " + std::to_string(size) + "\n";
  }
  return text +
         "fn case() {\n  let a = 2 * normal([m, n], seed = 1) @ [m -> x, n -> y]\n"
         "  let b = 2 * normal([n, k], seed = 2) @ [n -> x, k -> y]\n"
         "  return einsum(a, b -> [m, k]) @ [m -> x, k -> y],\n"
         "    a @ [m -> x, n -> y], b @ [n -> x, k -> y]\n}\n";
}

// A product of two tensors with one or two dims that are summed, sometimes a batch of them, every
// tensor kept in a layout of its own.
std::string product_program(const Mesh& mesh, Random& random) {
  constexpr std::int64_t kSizes[] = {8, 12, 16, 24, 32, 48, 80};
  const auto size = [&] { return kSizes[random() % std::size(kSizes)]; };
  std::vector<Side> a = {{"m", size()}, {"n", size()}};
  std::vector<Side> b = {a[1], {"k", size()}};
  std::vector<Side> result = {a[0], b[1]};
  std::vector<Side> all = {a[0], a[1], b[1]};
  const auto add = [&](const Side& side, bool summed) {
    a.push_back(side);
    b.push_back(side);
    all.push_back(side);
    if (!summed) {
      result.push_back(side);
    }
  };
  if (random() % 3 == 0) {
    add({"g", std::int64_t{4} << (random() % 2)}, false);
  }
  if (random() % 3 == 0) {
    add({"o", std::int64_t{4} << (random() % 2)}, true);
  }
  std::string text = declaration_of(mesh);
  for (const Side& side : all) {
    text += "dim " + side.name + " = " + std::to_string(side.size) + "\n";
  }
  const std::vector<std::string> dtypes = {"f32", "f64", "i32"};
  const std::string dtype = dtypes[random() % dtypes.size()];
  const std::string pin_a = pin_text(a, mesh, random);
  const std::string pin_b = pin_text(b, mesh, random);
  const auto tensor = [&](const std::vector<Side>& dims, const std::string& pin, int seed) {
    return "cast(4 * normal(" + shape_text(dims, random) + ", seed = " + std::to_string(seed) +
           "), " + dtype + ") @ " + pin + "\n";
  };
  text += "fn case() {\n  let a = " + tensor(a, pin_a, 1) + "  let b = " + tensor(b, pin_b, 2);
  text += "  return einsum(a, b -> " + shape_text(result, random) + ") @ " +
          pin_text(result, mesh, random);
  const bool kept = random() % 2 == 0;  // or gone when gathered
  return text + (kept ? ", a @ " + pin_a + ", b @ " + pin_b : "") + "\n}\n";
}

struct Streamed {
  int kept = 0;     // products in parts of a dim that the result has
  int summed = 0;   // and of one that it has not
  int waiting = 0;  // those where sums of parts wait for others
};

void note(const SpmdProgram& program, Streamed& streamed) {
  for (const Step& step : program.steps) {
    for (const LocalCall& call : step.calls) {
      if (call.stream->parts > 1) {
        const bool kept = call.split->space->loops[call.stream->loop].role == DimRole::kKept;
        ++(kept ? streamed.kept : streamed.summed);
        streamed.waiting += call.stream->partials.empty() ? 0 : 1;
      }
    }
  }
}

std::optional<SpmdProgram> lowered(const Program& program, const Layout& layout) {
  DiagSink diags;
  return lower(program, layout, op_table(), diags);
}

TEST_CASE("products give one rank's bits when their operands pass in pieces") {
  Streamed streamed;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const std::vector<std::vector<std::int64_t>> meshes = {{4}, {2, 2}, {4, 2}, {2, 2, 2}, {8}};
    const bool is_summa = seed % 4 == 0;
    const Mesh mesh =
        mesh_of(is_summa ? std::vector<std::int64_t>{4, 4} : meshes[random() % meshes.size()]);
    const std::string text = is_summa ? summa_program(mesh, random) : product_program(mesh, random);
    const Program program = program_of(text);
    Layout layout{.name = "stream", .mesh = mesh};
    const std::optional<SpmdProgram> whole = lowered(program, layout);
    REQUIRE(whole);
    layout.stream = std::int64_t{2} + static_cast<std::int64_t>(random() % 15);
    const std::optional<SpmdProgram> parts = lowered(program, layout);
    REQUIRE(parts);
    note(*parts, streamed);
    const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
    const std::optional<Outcome> many = run_under({&program, 1}, layout);
    INFO("seed " << seed << ", stream = " << layout.stream << " on " << mtf::to_string(mesh) << "\n"
                 << text);
    REQUIRE((one && many));
    CHECK(many->problem == "");
    CHECK((same_values(*one, *many) || !many->promised));
    CHECK(parts->totals.peak_bytes <= whole->totals.peak_bytes + 1024);  // windows are rounded
    CHECK(parts->totals.collectives.size() == whole->totals.collectives.size());
  }
  CHECK(streamed.kept > 40);
  CHECK(streamed.summed > 40);
  CHECK(streamed.waiting > 10);
}

}  // namespace
}  // namespace mtf::tests
