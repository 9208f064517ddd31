// Products, and what moves, makes or looks up elements, on one rank.

#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

#include "stdlib/ops/random/philox.h"
#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {
namespace {

using List = std::vector<double>;

List counted(std::int64_t n, double first = 1) {
  List numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// ---- einsum ----------------------------------------------------------------------------------

// The sum of products by definition: a loop over all dims.
List reference(const std::vector<HostTensor>& operands, const Shape& to) {
  Shape all = to;
  for (const HostTensor& operand : operands) {
    for (const Dim& dim : operand.type.shape.dims()) {
      all = all.has(dim.name) ? all : all.with(dim);
    }
  }
  const auto index = [&](const Shape& shape, std::int64_t i) {
    const std::vector<std::int64_t> steps = strides_of(all);
    const std::vector<std::int64_t> own = strides_of(shape);
    std::int64_t at = 0;
    for (std::size_t d = 0; d < all.rank(); ++d) {
      if (const auto j = shape.index_of(all[d].name)) {
        at += i / steps[d] % all[d].size * own[*j];
      }
    }
    return static_cast<std::size_t>(at);
  };
  std::vector<List> numbers;
  for (const HostTensor& operand : operands) {
    numbers.push_back(numbers_of(operand));
  }
  List result(static_cast<std::size_t>(to.volume()), 0.0);
  for (std::int64_t i = 0; i < all.volume(); ++i) {
    double product = 1;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      product *= numbers[o][index(operands[o].type.shape, i)];
    }
    result[index(to, i)] += product;
  }
  return result;
}

void check_einsum(const std::vector<Shape>& shapes, const Shape& to) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kI32, DType::kI64}) {
    Sketch s;
    std::vector<ValueId> x;
    for (const Shape& of : shapes) {
      x.push_back(s.input({.dtype = dtype, .shape = of}, counted(of.volume(), -3)));
    }
    const ValueId y = s.call("einsum", x, args("to", to));
    INFO(to_string(s.type_of(y)));
    CHECK(s.type_of(y) == TensorType{.dtype = dtype, .shape = to});
    CHECK(s.numbers(y) == reference(s.inputs(), to));
  }
}

TEST_CASE("einsum is the sum of products, by definition") {
  const Dim a{"a", 3};
  const Dim b{"b", 4};
  const Dim c{"c", 5};
  const Dim d{"d", 2};
  const auto of = [](std::vector<Dim> list) { return Shape(std::move(list)); };
  check_einsum({of({a, b}), of({b, c})}, of({a, c}));
  check_einsum({of({a, b}), of({b, c})}, of({c, a}));
  check_einsum({of({b, a}), of({c, b})}, of({a, c}));
  check_einsum({of({a, b}), of({a, b})}, of({a}));
  check_einsum({of({a, b}), of({a, b})}, of({}));
  check_einsum({of({a, b}), of({b, a})}, of({b, a}));
  check_einsum({of({d, a, b}), of({b, d, c})}, of({a, d, c}));
  check_einsum({of({d, a, b}), of({b, a, c})}, of({c, d}));
  check_einsum({of({a, b}), of({b, c})}, of({c}));
  check_einsum({of({a, b}), of({b, c})}, of({a, b, c}));
  check_einsum({of({a}), of({b})}, of({b, a}));
  check_einsum({of({a, b}), of({})}, of({b}));
  check_einsum({of({a, b}), of({b, c}), of({c, d})}, of({d, a}));
  check_einsum({of({a, b}), of({b, c}), of({c, d}), of({d, a})}, of({}));
  check_einsum({of({a, b, c})}, of({c, a}));
  check_einsum({of({a, b, c})}, of({c, b, a}));
  check_einsum({of({a, b})}, of({a, b}));
}

TEST_CASE("without a shape einsum keeps the dims that appear once") {
  Sketch s;
  const ValueId x = s.input(f32({{"a", 2}, {"b", 3}}), counted(6));
  const ValueId y = s.input(f32({{"b", 3}, {"c", 1}}), counted(3));
  CHECK(s.type_of(s.call("einsum", {x, y})) == f32({{"a", 2}, {"c", 1}}));
}

TEST_CASE("a product of two tensors stays one einsum, and others become steps") {
  const auto ops_of = [](const Sketch& s) {
    std::string text;
    for (const Value& value : s.program().values) {
      text += value.op == nullptr ? "" : std::string(value.op->name) + " ";
    }
    return text;
  };
  Sketch two;
  const ValueId x = two.input(f32({{"a", 2}, {"b", 3}}), counted(6));
  const ValueId y = two.input(f32({{"b", 3}, {"c", 1}}), counted(3));
  two.call("einsum", {x, y});
  CHECK(ops_of(two) == "einsum ");
  Sketch own;
  const ValueId u = own.input(f32({{"a", 2}, {"b", 3}}), counted(6));
  const ValueId v = own.input(f32({{"a", 2}}), counted(2));
  own.call("einsum", {u, v}, args("to", shape({{"a", 2}})));
  CHECK(ops_of(own) == "sum mul ");
}

// ---- shapes ----------------------------------------------------------------------------------

TEST_CASE("broadcast, transpose, rename and reshape") {
  Sketch s;
  const ValueId x = s.input(f32({{"a", 2}, {"b", 3}}), counted(6));
  const ValueId wide = s.call("broadcast", {x}, args("to", shape({{"b", 3}, {"c", 2}, {"a", 2}})));
  CHECK(s.numbers(wide) == List{1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6});
  CHECK(s.numbers(s.call("transpose", {x}, args("to", shape({{"b", 3}, {"a", 2}})))) ==
        List{1, 4, 2, 5, 3, 6});
  const ValueId renamed = s.call("rename", {x}, args("dim", dim("a"), "to", dim("z")));
  CHECK(s.type_of(renamed) == f32({{"z", 2}, {"b", 3}}));
  CHECK(s.numbers(renamed) == counted(6));
  const ValueId flat = s.call("reshape", {x}, args("to", shape({{"n", 6}})));
  CHECK(s.numbers(flat) == counted(6));
}

TEST_CASE("a transpose of many elements") {
  for (const DType dtype : {DType::kU8, DType::kF32, DType::kF64}) {
    Sketch s;
    List numbers(5 * 37 * 41);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<double>(i % 251);
    }
    const ValueId x =
        s.input({.dtype = dtype, .shape = shape({{"a", 5}, {"b", 37}, {"c", 41}})}, numbers);
    for (const std::vector<Dim>& to : {std::vector<Dim>{{"c", 41}, {"b", 37}, {"a", 5}},
                                       {{"b", 37}, {"a", 5}, {"c", 41}},
                                       {{"c", 41}, {"a", 5}, {"b", 37}}}) {
      const ValueId y = s.call("transpose", {x}, args("to", shape(to)));
      const ValueId z = s.call("transpose", {y}, args("to", s.type_of(x).shape));
      CHECK(s.numbers(z) == numbers);
      const List turned = s.numbers(y);
      const std::vector<std::int64_t> steps = strides_of(s.type_of(y).shape);
      const auto step = [&](const char* name) {
        return steps[s.type_of(y).shape.index_of(name).value()];
      };
      CHECK(turned[static_cast<std::size_t>(3 * step("a") + 30 * step("b") + 7 * step("c"))] ==
            numbers[(3 * 37 + 30) * 41 + 7]);
    }
  }
}

// ---- indexing --------------------------------------------------------------------------------

TEST_CASE("index, slice and pad") {
  Sketch s;
  const ValueId x = s.input(f32({{"a", 2}, {"b", 3}}), counted(6));
  const auto index = [&](const char* name, std::int64_t at) {
    return s.numbers(s.call("index", {x}, args("dim", dim(name), "at", at)));
  };
  CHECK(index("a", 1) == List{4, 5, 6});
  CHECK(index("b", -1) == List{3, 6});
  const OpArgs range = args("dim", dim("b"), "begin", std::int64_t{1}, "end", std::int64_t{3});
  const ValueId part = s.call("slice", {x}, range);
  CHECK(s.type_of(part) == f32({{"a", 2}, {"b", 2}}));
  CHECK(s.numbers(part) == List{2, 3, 5, 6});
  OpArgs as = range;
  as.set("to", dim("c"));
  CHECK(s.type_of(s.call("slice", {x}, as)) == f32({{"a", 2}, {"c", 2}}));
  const ValueId padded =
      s.call("pad", {x}, args("dim", dim("a"), "begin", std::int64_t{1}, "size", std::int64_t{4}));
  CHECK(s.numbers(padded) == List{0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0});
}

TEST_CASE("concat, stack and shift") {
  Sketch s;
  const ValueId x = s.input(f32({{"a", 2}, {"b", 2}}), counted(4));
  const ValueId y = s.input(f32({{"b", 1}, {"a", 2}}), {10, 20});
  const ValueId joined = s.call("concat", {x, y}, args("over", dim("b")));
  CHECK(s.type_of(joined) == f32({{"a", 2}, {"b", 3}}));
  CHECK(s.numbers(joined) == List{1, 2, 10, 3, 4, 20});
  const ValueId z = s.call("transpose", {x}, args("to", shape({{"b", 2}, {"a", 2}})));
  const ValueId stacked = s.call("stack", {x, z}, args("dim", dim("n")));
  CHECK(s.type_of(stacked) == f32({{"n", 2}, {"a", 2}, {"b", 2}}));
  CHECK(s.numbers(stacked) == List{1, 2, 3, 4, 1, 2, 3, 4});

  const ValueId v = s.input(i32({{"a", 4}}), counted(4));
  const auto shift = [&](std::int64_t by, bool wrap) {
    return s.numbers(s.call("shift", {v}, args("over", dim("a"), "by", by, "wrap", wrap)));
  };
  CHECK(shift(1, false) == List{0, 1, 2, 3});
  CHECK(shift(-3, false) == List{4, 0, 0, 0});
  CHECK(shift(1'000'000'000'000, false) == List{0, 0, 0, 0});
  CHECK(shift(1, true) == List{4, 1, 2, 3});
  CHECK(shift(-5, true) == List{2, 3, 4, 1});
  const auto roll = [&](std::int64_t by) {
    return s.numbers(s.call("roll", {v}, args("dim", dim("a"), "by", by)));
  };
  CHECK(roll(1) == List{4, 1, 2, 3});
  CHECK(roll(-5) == List{2, 3, 4, 1});
  CHECK(roll(4'000'000'000'001) == List{4, 1, 2, 3});
  CHECK(roll(0) == List{1, 2, 3, 4});
}

TEST_CASE("gather and scatter_add") {
  Sketch s;
  const ValueId table = s.input(f32({{"v", 3}, {"d", 2}}), counted(6));
  const ValueId ids = s.input(i32({{"n", 4}}), {2, -1, 0, 2});
  const ValueId rows = s.call("gather", {table, ids}, args("over", dim("v")));
  CHECK(s.type_of(rows) == f32({{"n", 4}, {"d", 2}}));
  CHECK(s.numbers(rows) == List{5, 6, 0, 0, 1, 2, 5, 6});
  const ValueId sums = s.call("scatter_add", {rows, ids}, args("over", dim("v", 3)));
  CHECK(s.numbers(sums) == List{1, 2, 0, 0, 10, 12});
  const ValueId turned = s.call("scatter_add", {rows, ids},
                                args("over", dim("v", 3), "to", shape({{"d", 2}, {"v", 3}})));
  CHECK(s.numbers(turned) == List{1, 0, 10, 2, 0, 12});
}

TEST_CASE("one_hot, range, fill and const") {
  Sketch s;
  const ValueId labels = s.input(i32({{"n", 4}}), {1, 0, 5, -1});
  CHECK(s.numbers(s.call("one_hot", {labels}, args("dim", dim("c", 2)))) ==
        List{0, 1, 1, 0, 0, 0, 0, 0});
  CHECK(s.numbers(s.call("range", {}, args("dim", dim("n", 3)))) == List{0, 1, 2});
  const ValueId half =
      s.call("fill", {}, args("shape", shape({{"n", 2}}), "value", 0.5, "dtype", DType::kF64));
  CHECK(s.numbers(half) == List{0.5, 0.5});
  CHECK(s.numbers(s.call("zeros", {}, args("shape", shape({{"n", 2}})))) == List{0, 0});
  CHECK(s.numbers(s.call("ones", {}, args("shape", shape({})))) == List{1});
  const ValueId truth =
      s.call("fill", {}, args("shape", shape({}), "value", true, "dtype", DType::kBool));
  CHECK(s.numbers(truth) == List{1});
  const ValueId numbers = s.call(
      "const", {}, args("shape", shape({{"n", 3}}), "data", List{1, -2, 3}, "dtype", DType::kI64));
  CHECK(s.numbers(numbers) == List{1, -2, 3});
}

// ---- random numbers --------------------------------------------------------------------------

TEST_CASE("Philox has the published answers") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) ==
        PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

List drawn(std::string_view op, std::int64_t n, OpArgs more, const EvaluateOptions& options = {}) {
  Sketch s;
  more.set("shape", shape({{"n", n}}));
  const ValueId x = s.call(op, {}, std::move(more));
  return numbers_of(s.run(options).at(x));
}

TEST_CASE("random numbers have the moments of their distribution") {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const OpArgs type = args("dtype", dtype, "seed", std::int64_t{3});
    constexpr std::int64_t kCount = 200'001;
    double sum = 0;
    double squares = 0;
    for (const double x : drawn("normal", kCount, type)) {
      sum += x;
      squares += x * x;
    }
    CHECK(sum / kCount == Approx(0).margin(0.01));
    CHECK(squares / kCount == Approx(1).margin(0.01));
    OpArgs between = type;
    between.set("low", -1.0);
    between.set("high", 3.0);
    sum = 0;
    for (const double x : drawn("uniform", kCount, between)) {
      CHECK((x >= -1 && x <= 3));
      sum += x;
    }
    CHECK(sum / kCount == Approx(1).margin(0.02));
  }
}

TEST_CASE("a seed gives the same numbers every time, the program's stream fresh ones") {
  const OpArgs seeded = args("seed", std::int64_t{7});
  CHECK(drawn("normal", 9, seeded, {.seed = 1, .execution = 2}) == drawn("normal", 9, seeded));
  CHECK(drawn("normal", 9, {}) == drawn("normal", 9, {}));
  CHECK(drawn("normal", 9, {}, {.execution = 1}) != drawn("normal", 9, {}));
  CHECK(drawn("normal", 9, {}, {.seed = 1}) != drawn("normal", 9, {}));
  CHECK(drawn("uniform", 9, seeded) != drawn("uniform", 9, args("seed", std::int64_t{8})));
  // A shorter tensor is the beginning of a longer one.
  const List nine = drawn("normal", 9, seeded);
  CHECK(drawn("normal", 2'000, seeded)[8] == nine[8]);
}

}  // namespace
}  // namespace mtf::tests
