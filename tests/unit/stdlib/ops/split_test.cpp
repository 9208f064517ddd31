// Kernels on slices: split any loop, or a pair of them, run the kernel once per rank, put the parts
// together as the roles say, and get the bits of one rank.

#include <algorithm>
#include <cstring>
#include <random>

#include <catch2/catch.hpp>

#include "ir/kernel.h"
#include "stdlib/ops/table.h"
#include "tests/unit/stdlib/ops/evaluate.h"
#include "tests/unit/stdlib/ops/split_box.h"

namespace mtf::tests {
namespace {

struct Splitter {
  const OpCall& call;
  IterationSpace space;
  std::vector<HostTensor> operands;
  std::vector<std::int64_t> parts;  // per loop

  [[nodiscard]] std::int64_t ranks() const {
    std::int64_t count = 1;
    for (const std::int64_t p : parts) {
      count *= p;
    }
    return count;
  }

  [[nodiscard]] std::vector<LoopShare> shares_of(std::int64_t rank) const {
    std::vector<LoopShare> shares(parts.size());
    for (std::size_t i = parts.size(); i-- > 0;) {
      const std::int64_t extent = space.loops[i].size / parts[i];
      shares[i] = {.parts = parts[i],
                   .index = rank % parts[i],
                   .offset = rank % parts[i] * extent,
                   .extent = extent};
      rank /= parts[i];
    }
    return shares;
  }

  // nullopt: the loops cannot be split so.
  [[nodiscard]] std::optional<std::pair<HostTensor, Box>> run(std::int64_t rank) const {
    const std::vector<LoopShare> shares = shares_of(rank);
    std::vector<HostTensor> local;
    std::vector<TensorView> in;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::optional<Box> box =
          box_of(operands[i].type.shape, space.operands[i], space, shares);
      if (!box) {
        return std::nullopt;
      }
      local.push_back(cut(operands[i], *box));
      in.push_back(view_of(local.back(), box->offset));
    }
    const std::optional<Box> box = box_of(call.result.shape, space.result, space, shares);
    if (!box) {
      return std::nullopt;
    }
    HostTensor out{.type = {.dtype = call.result.dtype, .shape = box->shape}, .data = {}};
    out.data.assign(static_cast<std::size_t>(out.type.bytes()), std::byte{0xA5});
    NoHost host;
    call.op->kernel({.call = call,
                     .space = space,
                     .in = in,
                     .out = view_of(out, box->offset),
                     .shares = shares,
                     .ordinal = 17,
                     .exact = true,
                     .host = host});
    return std::pair(std::move(out), *box);
  }

  // Neighbouring ranks of a split reduced loop are combined first, as an all-reduce does.
  [[nodiscard]] std::optional<HostTensor> whole() const {
    HostTensor result{.type = call.result, .data = {}};
    result.data.resize(static_cast<std::size_t>(call.result.bytes()));
    std::vector<HostTensor> outs;
    std::vector<Box> boxes;
    for (std::int64_t rank = 0; rank < ranks(); ++rank) {
      auto part = run(rank);
      if (!part) {
        return std::nullopt;
      }
      outs.push_back(std::move(part->first));
      boxes.push_back(std::move(part->second));
    }
    std::int64_t stride = 1;
    for (std::size_t loop = parts.size(); loop-- > 0;) {
      if (space.loops[loop].role == DimRole::kReduced && parts[loop] > 1) {
        for (std::int64_t step = 1; step < parts[loop]; step *= 2) {
          for (std::int64_t rank = 0; rank < ranks(); ++rank) {
            if (rank / stride % parts[loop] % (2 * step) == 0) {
              combine(space.combine, outs[static_cast<std::size_t>(rank)],
                      outs[static_cast<std::size_t>(rank + step * stride)]);
            }
          }
        }
      }
      stride *= parts[loop];
    }
    const std::size_t width = bytes_of(call.result.dtype);
    for (std::int64_t rank = ranks(); rank-- > 0;) {  // last the first, which has the whole sum
      const auto r = static_cast<std::size_t>(rank);
      for_each_element(call.result.shape, boxes[r], [&](std::size_t at, std::size_t i) {
        std::memcpy(result.data.data() + at * width, outs[r].data.data() + i * width, width);
      });
    }
    return result;
  }
};

// Trees nest, so an inner reduced loop can be split only if each rank has one block of the outer
// ones (runtime/EXACT.md).
bool is_exact(const Splitter& split) {
  const std::vector<std::int64_t> blocks = canonical_blocks(split.space);
  bool outer_is_split = true;
  for (std::size_t loop = 0; loop < split.parts.size(); ++loop) {
    if (split.space.loops[loop].role != DimRole::kReduced) {
      continue;
    }
    if (split.parts[loop] > 1 && !outer_is_split) {
      return false;
    }
    outer_is_split = outer_is_split && split.parts[loop] == blocks[loop];
  }
  return true;
}

// What is read through windows is no block, and parts of what is scanned, selected from or read at
// indices need more than themselves: tests/unit/layouts/roles has them.
bool is_more_than_a_block(const IterationSpace& space, std::size_t loop) {
  if (space.loops[loop].role == DimRole::kServed ||
      (space.digest && digested_loop(space) == loop)) {
    return true;
  }
  return std::ranges::any_of(space.windows, [&](const WindowDim& window) {
    return space.operands[window.operand][window.dim].front() == loop;
  });
}

// Tries a split; counts it if the loops allow it.
void check_split(Splitter& split, const HostTensor& wanted, int& tried) {
  for (std::size_t loop = 0; loop < split.parts.size(); ++loop) {
    if (split.space.loops[loop].size % split.parts[loop] != 0 ||
        (split.parts[loop] > 1 &&
         (!may_split(split.space.loops[loop].role) || is_more_than_a_block(split.space, loop)))) {
      return;
    }
  }
  if (!is_exact(split)) {
    return;
  }
  if (const std::optional<HostTensor> found = split.whole()) {
    std::string loops;
    for (std::size_t loop = 0; loop < split.parts.size(); ++loop) {
      loops += split.space.loops[loop].name + "/" + std::to_string(split.parts[loop]) + " ";
    }
    INFO("split " << loops);
    CHECK(found->data == wanted.data);
    ++tried;
  }
}

// Splits the program's last operation in every way.
void check_last(const Sketch& s, std::string_view name, int at_least = 3) {
  const OpCall call = call_of(s.program(), s.program().last());
  REQUIRE(call.op->kernel != nullptr);
  INFO(name << " = " << call.op->name);
  const Evaluation all = s.run();
  std::vector<HostTensor> operands;
  for (const ValueId id : s.program().at(s.program().last()).operands) {
    operands.push_back(all.at(id));
  }
  Splitter split{.call = call, .space = call.op->space(call), .operands = operands, .parts = {}};
  split.parts.assign(split.space.loops.size(), 1);
  const HostTensor wanted = *split.whole();
  int tried = 0;
  for (std::size_t i = 0; i < split.parts.size(); ++i) {
    for (const std::int64_t p : {2, 4, 8}) {
      split.parts[i] = p;
      check_split(split, wanted, tried);
      for (std::size_t j = 0; j < i; ++j) {
        split.parts[j] = 2;
        check_split(split, wanted, tried);
        split.parts[j] = 1;
      }
      split.parts[i] = 1;
    }
  }
  CHECK(tried >= at_least);
}

ValueId drawn(Sketch& s, TensorType type, double scale = 1) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(s.inputs().size()) + 1);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(static_cast<std::size_t>(type.shape.volume()));
  for (double& number : numbers) {
    number = scale * normal(engine);
  }
  return s.input(std::move(type), std::move(numbers));
}

const std::vector<Dim> kDims = {{"a", 8}, {"b", 24}, {"c", 4}};

void check_one(std::string_view op, OpArgs arguments, std::vector<Dim> of = kDims,
               DType dtype = DType::kF32, int at_least = 3) {
  Sketch s;
  const ValueId x = drawn(s, {.dtype = dtype, .shape = shape(std::move(of))}, 10);
  const std::string text = to_string(arguments);
  s.call(op, {x}, std::move(arguments));
  check_last(s, text, at_least);
}

TEST_CASE("split reductions give the bits of one rank") {
  for (const char* op : {"sum", "max", "min", "prod"}) {
    // The product of f32 is made of other operations: one of f64, and casts.
    const DType dtype = op == std::string_view("prod") ? DType::kF64 : DType::kF32;
    check_one(op, args("over", dim("a")), kDims, dtype);
    check_one(op, args("over", dim("b")), kDims, dtype);
    check_one(op, args("to", shape({{"c", 4}, {"b", 24}})), kDims, DType::kF64);
    check_one(op, {}, kDims, dtype);
    check_one(op, args("over", dim("a")), kDims, DType::kI32);
  }
}

TEST_CASE("split products give the bits of one rank") {
  const std::vector<std::vector<Dim>> results = {
      {{"a", 8}, {"d", 8}}, {{"d", 8}, {"a", 8}}, {{"c", 4}, {"a", 8}}, {{"b", 24}}};
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kI64}) {
    for (const std::vector<Dim>& to : results) {
      Sketch s;
      const ValueId x = drawn(s, {.dtype = dtype, .shape = shape(kDims)}, 10);
      const ValueId y =
          drawn(s, {.dtype = dtype, .shape = shape({{"d", 8}, {"b", 24}, {"c", 4}})}, 10);
      s.call("einsum", {x, y}, args("to", shape(to)));
      if (s.program().at(s.program().last()).op->kernel != nullptr) {
        check_last(s, "einsum");
      }
    }
  }
}

TEST_CASE("split moves give the elements of one rank") {
  check_one("transpose", args("to", shape({{"c", 4}, {"a", 8}, {"b", 24}})));
  check_one("rename", args("dim", dim("b"), "to", dim("z")));
  check_one("index", args("dim", dim("b"), "at", std::int64_t{17}));
  for (const auto& [begin, end] : {std::pair{0, 24}, {3, 19}, {20, 24}, {0, 8}}) {
    OpArgs range = args("dim", dim("b"), "begin", std::int64_t{begin}, "end", std::int64_t{end});
    check_one("slice", range);
    range.set("to", dim("z"));
    check_one("slice", range);
  }
  check_one("pad", args("dim", dim("a"), "begin", std::int64_t{3}, "size", std::int64_t{16}));
  for (const bool wrap : {false, true}) {
    for (const std::int64_t by : {0, 1, -7, 13, 40}) {
      check_one("shift", args("over", dim("b"), "by", by, "wrap", wrap));
    }
  }
  for (const char* op : {"concat", "stack"}) {
    Sketch s;
    const ValueId x = drawn(s, f32(kDims));
    const ValueId y = drawn(s, f32({{"c", 4}, {"b", 24}, {"a", 8}}));
    const OpArgs along = op[0] == 'c' ? args("over", dim("b")) : args("dim", dim("n"));
    s.call(op, {x, y, x, y}, along);
    check_last(s, op);
  }
}

TEST_CASE("split reshapes give the elements of one rank") {
  const std::vector<std::vector<Dim>> shapes = {
      {{"all", 768}},
      {{"hi", 2}, {"lo", 4}, {"b", 24}, {"c", 4}},
      {{"p", 16}, {"q", 48}},
      {{"p", 96}, {"q", 8}},
      {{"p", 12}, {"q", 64}},
      {{"p", 3}, {"q", 256}},
      {{"p", 64}, {"q", 12}},
      {{"p", 24}, {"q", 32}},
      {{"one", 1}, {"a", 8}, {"p", 48}, {"two", 1}, {"q", 2}},
  };
  for (const std::vector<Dim>& from : shapes) {
    for (const std::vector<Dim>& to : shapes) {
      check_one("reshape", args("to", shape(to)), from, DType::kF32, 0);
    }
  }
}

TEST_CASE("split lookups give the bits of one rank") {
  const std::vector<Dim> rows = {{"n", 16}, {"m", 4}};
  const auto ids = [&](Sketch& s) {
    std::vector<double> numbers(64);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<double>(i * 7 % 11) - 1;  // -1 and 9 are outside
    }
    return s.input(i32(rows), std::move(numbers));
  };
  Sketch look;
  const ValueId table = drawn(look, f32({{"v", 8}, {"d", 6}}));
  look.call("gather", {table, ids(look)}, args("over", dim("v")));
  check_last(look, "rows");
  Sketch batched;
  const ValueId tables = drawn(batched, f32({{"d", 6}, {"n", 16}, {"v", 8}}));
  batched.call("gather", {tables, ids(batched)}, args("over", dim("v")));
  check_last(batched, "a table per n");
  Sketch add;
  const ValueId x = drawn(add, f32({{"n", 16}, {"m", 4}, {"d", 6}}));
  add.call("scatter_add", {x, ids(add)}, args("over", dim("v", 8)));
  check_last(add, "all summed");
  Sketch some;
  const ValueId y = drawn(some, f32({{"d", 6}, {"n", 16}, {"m", 4}}));
  some.call("scatter_add", {y, ids(some)},
            args("over", dim("v", 8), "to", shape({{"d", 6}, {"v", 8}, {"m", 4}})));
  check_last(some, "m kept");
  Sketch hot;
  hot.call("one_hot", {ids(hot)}, args("dim", dim("v", 8)));
  check_last(hot, "labels");
}

TEST_CASE("split sources give the elements of one rank") {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const char* op : {"normal", "uniform"}) {
      Sketch s;
      s.call(op, {}, args("shape", shape({{"a", 8}, {"b", 6}, {"c", 10}}), "dtype", dtype));
      check_last(s, "random");
    }
  }
  Sketch s;
  std::vector<double> numbers(64);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<double>(i);
  }
  s.call("const", {}, args("shape", shape({{"a", 8}, {"b", 8}}), "data", numbers));
  check_last(s, "const");
  s.call("range", {}, args("dim", dim("a", 16)));
  check_last(s, "range");
}

}  // namespace
}  // namespace mtf::tests
