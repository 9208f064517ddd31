// Every operation of the table, on calls made up from its definition: what one rank computes,
// forward and backward, under every layout of its dims, with sizes that axes divide and sizes that
// they do not. No operation is listed, so that none can be left out.

#include "stdlib/ops/table.h"

#include <map>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "ir/rewrite/autodiff.h"
#include "lowering/lower.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/stdlib/ops/calls.h"

namespace mtf::tests {
namespace {

OpArgs source_args(const Shape& shape, double low, double high, std::int64_t seed) {
  OpArgs args;
  args.set("shape", shape);
  args.set("low", low);
  args.set("high", high);
  args.set("seed", seed);
  return args;
}

ValueId cast(Builder& builder, ValueId from, DType to) {
  OpArgs args;
  args.set("dtype", to);
  return builder.emit("cast", {from}, args);
}

// Numbers of all kinds: of every other call positive ones; whole ones are places in a dim, some of
// them outside.
ValueId operand(Builder& builder, const TensorType& type, std::int64_t seed) {
  const bool truth = type.dtype == DType::kBool;
  const double low = !is_float(type.dtype) || seed % 2 == 0 ? -2 : 0.125;
  const double high = is_float(type.dtype) || truth ? 2 : 12;
  const ValueId drawn = builder.emit("uniform", {}, source_args(type.shape, low, high, seed));
  return truth ? builder.emit("greater", {drawn, builder.scalar(0, DType::kF32)})
         : type.dtype == DType::kF32 ? drawn
                                     : cast(builder, drawn, type.dtype);
}

// Of matrices, the diagonal is raised, so that they have what can be computed of them.
ValueId with_raised_diagonal(Builder& builder, const DrawnCall& call, ValueId x) {
  const TensorType type = builder.type_of(x);
  const auto* rows = call.args.get<std::vector<Dim>>("rows");
  const auto* cols = call.args.get<std::vector<Dim>>("cols");
  if (!is_of_matrices(*call.op) || rows == nullptr || cols == nullptr || !is_float(type.dtype) ||
      !type.shape.has(rows->front().name) || !type.shape.has(cols->front().name) ||
      rows->front().name == cols->front().name) {
    return x;
  }
  OpArgs along;
  along.set("dim", *rows);
  OpArgs hot;
  hot.set("dim", *cols);
  hot.set("dtype", type.dtype);
  const ValueId one = builder.emit("one_hot", {builder.emit("range", {}, along)}, hot);
  const auto size = static_cast<double>(2 * rows->front().size);
  return builder.emit("add", {x, builder.emit("mul", {one, builder.scalar(size, type.dtype)})});
}

// The call, and the gradients of a weighted sum of its result.
Program program_of(const DrawnCall& call, std::int64_t seed) {
  Program program;
  DiagSink diags;
  Builder builder(program, op_table(), diags);
  program.name = "call";
  std::vector<ValueId> operands;
  std::vector<ValueId> targets;
  for (const TensorType& type : call.operands) {
    const ValueId drawn = operand(builder, type, seed + 2 * std::ssize(operands));
    operands.push_back(operands.empty() ? with_raised_diagonal(builder, call, drawn) : drawn);
    if (is_float(type.dtype)) {
      targets.push_back(operands.back());
    }
  }
  const std::optional<ValueId> made = builder.call(*call.op, operands, call.args);
  if (!made) {
    throw std::logic_error(to_string(call) + ": " + diags.diags().back().text);
  }
  const ValueId result = *made;
  if (call.op->effect) {
    return program;
  }
  program.outputs.push_back(result);
  const TensorType type = program.at(result).type;
  if (is_float(type.dtype) && !targets.empty()) {
    const ValueId weight = cast(
        builder, builder.emit("uniform", {}, source_args(type.shape, 0.5, 1.5, 99)), type.dtype);
    const ValueId loss =
        builder.emit("sum", {builder.emit("mul", {result, weight})}, to_shape(Shape()));
    for (const ValueId gradient : gradients(builder, loss, targets)) {
      if (gradient.valid()) {
        program.outputs.push_back(gradient);
      }
    }
  }
  return program;
}

// Of each dim, all sizes that values have it in.
std::map<std::string, std::set<std::int64_t>> sizes_of(const Program& program) {
  std::map<std::string, std::set<std::int64_t>> sizes;
  for (const Value& value : program.values) {
    for (const Dim& dim : value.type.shape.dims()) {
      sizes[dim.name].insert(dim.size);
    }
  }
  return sizes;
}

bool must_fit(const std::map<std::string, std::set<std::int64_t>>& sizes, const Layout& layout) {
  return layout.mesh.uneven || std::ranges::all_of(layout.rules, [&](const Rule& rule) {
           return std::ranges::all_of(sizes.at(rule.dim), [&](std::int64_t size) {
             return size % layout.mesh.size_of(rule.axes) == 0;
           });
         });
}

// "" or how the outcome under a layout is not that of one rank.
std::string difference(const Outcome& one, const Outcome& many, bool exact) {
  if (many.problem != one.problem) {
    return many.problem.empty() ? "no failure" : many.problem;
  }
  if (exact && many.printed != one.printed) {
    return "other lines printed";
  }
  if (exact && many.promised) {
    return same_values(one, many) ? "" : "other bits";
  }
  return wrong_tensor(one, many);
}

// How many layouts were legal; failures are recorded.
int check_call(const DrawnCall& call, std::int64_t seed, const Mesh& mesh) {
  const Program program = program_of(call, seed);
  const std::optional<Outcome> one = run_under({&program, 1}, one_rank());
  REQUIRE(one);
  const auto sizes = sizes_of(program);
  int legal = 0;
  for (const Layout& layout : layouts_of(program, mesh)) {
    const std::optional<Outcome> many = run_under({&program, 1}, layout);
    INFO(to_string(call) << " under " << to_string(layout) << "\n" << mtf::to_string(program));
    if (!many) {
      CHECK_FALSE(must_fit(sizes, layout));
      continue;
    }
    ++legal;
    CHECK(difference(*one, *many, !mesh.uneven) == "");
  }
  return legal;
}

// Threads for the least work, so that small calls are cut, too.
void check_threads(const DrawnCall& call, std::int64_t seed, const Mesh& mesh,
                   const std::vector<int>& numbers) {
  const Program program = program_of(call, seed);
  for (const Layout& layout : layouts_of(program, mesh)) {
    const std::optional<Outcome> one = run_under({&program, 1}, layout, {.threads = 1});
    for (const int threads : numbers) {
      const std::optional<Outcome> many =
          run_under({&program, 1}, layout, {.threads = threads, .least_share = 1});
      REQUIRE(many.has_value() == one.has_value());
      if (one) {
        INFO(to_string(call) << " by " << threads << " threads under " << to_string(layout) << "\n"
                             << mtf::to_string(program));
        CHECK(many->problem == one->problem);
        CHECK(many->printed == one->printed);
        CHECK(same_values(*one, *many));
      }
    }
  }
}

template <typename Check>
void for_every_operation(const DrawOptions& options, const Check& check) {
  for (const OpDef* op : op_table()) {
    std::int64_t seed = 1;
    for (const DrawnCall& call :
         is_callable(*op) ? calls_of(*op, options) : std::vector<DrawnCall>()) {
      check(call, seed++);
    }
  }
}

void check_every_operation(const DrawOptions& options, const std::vector<Mesh>& meshes) {
  for (const OpDef* op : op_table()) {
    if (!is_callable(*op)) {
      continue;
    }
    const std::vector<DrawnCall> calls = calls_of(*op, options);
    INFO(op->name);
    CHECK_FALSE(calls.empty());
    std::int64_t seed = 1;
    for (const DrawnCall& call : calls) {
      for (const Mesh& mesh : meshes) {
        CHECK(check_call(call, seed, mesh) > 0);
      }
      ++seed;
    }
  }
}

std::vector<Mesh> meshes_of(const std::vector<std::vector<std::int64_t>>& sizes, bool uneven) {
  std::vector<Mesh> meshes;
  for (const std::vector<std::int64_t>& one : sizes) {
    meshes.push_back(mesh_of(one));
    meshes.back().uneven = uneven;
  }
  return meshes;
}

TEST_CASE("every operation of the table gives one rank's bits under every layout", "[table]") {
  check_every_operation({.dims = {{"a", 16}, {"b", 8}, {"c", 24}}, .count = 4, .narrow = true},
                        meshes_of({{2}, {4}, {8}, {2, 2}, {4, 2}}, false));
}

TEST_CASE("every operation of the table computes the same under every uneven layout", "[table]") {
  check_every_operation({.dims = {{"a", 7}, {"b", 5}, {"c", 3}}, .count = 4, .narrow = true},
                        meshes_of({{2}, {3}, {4}, {8}, {2, 3}}, true));
}

TEST_CASE("every operation of the table gives one thread's bits on any number of them",
          "[threads]") {
  const DrawOptions odd{.dims = {{"a", 7}, {"b", 5}, {"c", 3}}, .count = 2, .narrow = true};
  for_every_operation(odd, [](const DrawnCall& call, std::int64_t seed) {
    check_threads(call, seed, mesh_of({1}), {2, 3, 5});
  });
  Mesh uneven = mesh_of({2});
  uneven.uneven = true;
  for_every_operation(odd, [&uneven](const DrawnCall& call, std::int64_t seed) {
    check_threads(call, seed, uneven, {3});
  });
  const DrawOptions even{.dims = {{"a", 16}, {"b", 8}, {"c", 24}}, .count = 2, .narrow = true};
  for_every_operation(even, [](const DrawnCall& call, std::int64_t seed) {
    check_threads(call, seed, mesh_of({2}), {5});
  });
}

TEST_CASE("every operation of the table gives one rank's bits on three axes", "[.long]") {
  check_every_operation({.dims = {{"a", 16}, {"b", 8}, {"c", 24}}, .count = 12},
                        meshes_of({{2, 2, 2}}, false));
}

}  // namespace
}  // namespace mtf::tests
