// What calls that do not fit are told, word for word.

#include <limits>

#include <catch2/catch.hpp>

#include "tests/unit/stdlib/ops/evaluate.h"

namespace mtf::tests {
namespace {

ValueId zeros(Sketch& s, DType dtype, std::vector<Dim> list) {
  TensorType type{.dtype = dtype, .shape = Shape(std::move(list))};
  std::vector<double> numbers(static_cast<std::size_t>(type.shape.volume()));
  return s.input(std::move(type), std::move(numbers));
}

struct Fixture {
  Sketch s;
  ValueId x = zeros(s, DType::kF32, {{"batch", 8}, {"io", 3}});
  ValueId i = zeros(s, DType::kI32, {{"batch", 8}});
  ValueId t = zeros(s, DType::kBool, {{"batch", 8}});
  ValueId u = zeros(s, DType::kU8, {{"batch", 8}});
  ValueId other = zeros(s, DType::kF32, {{"io", 4}});
};

TEST_CASE_METHOD(Fixture, "dtypes that do not fit") {
  CHECK(s.error_of("add", {x, i}) ==
        "`+` of f32[batch 8, io 3] and i32[batch 8], which differ in dtype; `cast(…, f32)` "
        "converts the i32 one [dtype-mismatch]");
  CHECK(s.error_of("div", {i, i}) ==
        "`/` of i32[batch 8]; `//` divides integers, `cast(x, f32)` makes floats "
        "[dtype-mismatch]");
  CHECK(s.error_of("exp", {i}) ==
        "`exp` of i32[batch 8]; it needs floats, which `cast(x, f32)` makes [dtype-mismatch]");
  CHECK(s.error_of("mul", {u, u}) ==
        "`*` of u8[batch 8]; it needs numbers, which `cast(x, f32)` makes [dtype-mismatch]");
  CHECK(s.error_of("neg", {t}) ==
        "`-` of bool[batch 8]; it needs numbers, which `cast(x, f32)` makes [dtype-mismatch]");
  CHECK(s.error_of("logical_and", {t, i}) ==
        "`and` of i32[batch 8]; it needs bools, which a comparison makes [dtype-mismatch]");
  CHECK(s.error_of("where", {x, x, x}) ==
        "`where` of f32[batch 8, io 3]; it needs bools, which a comparison makes "
        "[dtype-mismatch]");
  CHECK(s.error_of("mean", {i}) ==
        "`mean` of i32[batch 8]; it needs floats, which `cast(x, f32)` makes [dtype-mismatch]");
  CHECK(s.error_of("one_hot", {x}, args("dim", dim("c", 2))) ==
        "`one_hot` of f32[batch 8, io 3]; it needs integers, which `cast(x, i32)` makes "
        "[dtype-mismatch]");
  CHECK(s.error_of("fill", {}, args("shape", shape({}), "value", 0.5, "dtype", DType::kI32)) ==
        "`fill` of 0.5, which i32 cannot hold [dtype-mismatch]");
  CHECK(s.error_of("fill", {}, args("shape", shape({}), "value", 3e9, "dtype", DType::kI32)) ==
        "`fill` of 3e+09, which i32 cannot hold [dtype-mismatch]");
  CHECK(s.error_of("equal", {u, u}).empty());
  CHECK(s.error_of("less", {u, u}).empty());
}

TEST_CASE_METHOD(Fixture, "dims that do not fit") {
  CHECK(s.error_of("sub", {x, other}) ==
        "`-` of [batch 8, io 3] and [io 4]; `io` has two sizes, 3 and 4 [dim-size]");
  CHECK(s.error_of("sum", {x}, args("over", dim("heads"))) ==
        "`sum` over `heads`, which is not in [batch 8, io 3] [dim-missing]");
  CHECK(s.error_of("sum", {x}, args("over", dims({{"io", 3}, {"io", 3}}))) ==
        "`sum` over `io` twice [repeated-dim]");
  CHECK(s.error_of("max", {x}, args("to", shape({{"heads", 2}}))) ==
        "`max` of [batch 8, io 3] to [heads 2]; `heads` is not in the operand [dim-missing]");
  CHECK(s.error_of("max", {x}, args("to", shape({{"io", 4}}))) ==
        "`max` of [batch 8, io 3] to [io 4]; `io` is 3 in the operand [dim-size]");
  CHECK(s.error_of("sum", {x}, args("over", dim("io"), "to", shape({{"io", 3}}))) ==
        "`sum` over the dims given leaves [batch 8], but the output shape is [io 3]; one of them "
        "is enough [bad-argument]");
  CHECK(s.error_of("softmax", {x}, args("over", dim("heads"))) ==
        "`softmax` over `heads`, which is not in [batch 8, io 3] [dim-missing]");
  CHECK(s.error_of("broadcast", {x}, args("to", shape({{"io", 3}}))) ==
        "`broadcast` of [batch 8, io 3] to [io 3], which lacks `batch`; `sum` removes dims "
        "[broadcast-conflict]");
  CHECK(s.error_of("transpose", {x}, args("to", shape({{"io", 3}}))) ==
        "`transpose` of [batch 8, io 3] to [io 3], which are not the same dims [bad-reshape]");
  CHECK(s.error_of("reshape", {x}, args("to", shape({{"n", 25}}))) ==
        "`reshape` of [batch 8, io 3] to [n 25]; 24 elements against 25 [bad-reshape]");
  CHECK(s.error_of("rename", {x}, args("dim", dim("io"), "to", dim("batch", 8))) ==
        "`rename` would give `batch` size 3, but it is declared with 8; a name that is not "
        "declared takes any size, and can be renamed once it fits [dim-size]");
  CHECK(s.error_of("rename", {x}, args("dim", dim("io"), "to", dim("batch", 3))) ==
        "`rename` of `io` to `batch`, which is in [batch 8, io 3] already [repeated-dim]");
  CHECK(s.error_of("one_hot", {i}, args("dim", dim("batch", 8))) ==
        "`one_hot` adds `batch`, which is in [batch 8] already [repeated-dim]");
}

TEST_CASE_METHOD(Fixture, "products that do not fit") {
  CHECK(s.error_of("einsum", {x, i}) ==
        "`einsum` of f32[batch 8, io 3] and i32[batch 8], which differ in dtype; `cast(…, f32)` "
        "converts the i32 one [dtype-mismatch]");
  CHECK(s.error_of("einsum", {x, other}) ==
        "`einsum` of [batch 8, io 3] and [io 4]; `io` has two sizes, 3 and 4 [dim-size]");
  CHECK(s.error_of("einsum", {x}, args("to", shape({{"heads", 2}}))) ==
        "`einsum` to [heads 2], but `heads` is in no operand: [batch 8, io 3]; `broadcast` adds "
        "dims to a result [bad-einsum]");
  CHECK(s.error_of("einsum", {x}, args("to", shape({{"io", 2}}))) ==
        "`einsum` to [io 2], but `io` is 3 in its operands [dim-size]");
  CHECK(s.error_of("einsum", {}) == "`einsum` of nothing; it needs a tensor [missing-argument]");
}

TEST_CASE_METHOD(Fixture, "positions and ranges that do not fit") {
  const auto range = [](std::int64_t begin, std::int64_t end) {
    return args("dim", dim("batch"), "begin", begin, "end", end);
  };
  CHECK(s.error_of("index", {x}, args("dim", dim("batch"), "at", std::int64_t{8})) ==
        "position 8 of `batch`, which has size 8 in [batch 8, io 3] [bad-index]");
  CHECK(s.error_of("slice", {x}, range(4, 9)) ==
        "range 4..9 of `batch`, which has size 8 [bad-index]");
  CHECK(s.error_of("slice", {x}, range(4, 4)) ==
        "range 4..4 of `batch`, which is empty [bad-index]");
  OpArgs as = range(0, 4);
  as.set("to", dim("half", 5));
  CHECK(s.error_of("slice", {x}, as) ==
        "`slice` would give `half` size 4, but it is declared with 5; a name that is not declared "
        "takes any size, and can be renamed once it fits [dim-size]");
  as.set("to", dim("io", 4));
  CHECK(s.error_of("slice", {x}, as) ==
        "the result of `slice` would have `io` twice [repeated-dim]");
  CHECK(s.error_of("pad", {x},
                   args("dim", dim("io"), "begin", std::int64_t{2}, "size", std::int64_t{4})) ==
        "`pad` of `io` to size 4; positions 2..5 do not fit [bad-index]");
  CHECK(s.error_of("pad", {x},
                   args("dim", dim("io"), "begin", std::numeric_limits<std::int64_t>::max(), "size",
                        std::int64_t{4}))
            .ends_with("[bad-index]"));
}

TEST_CASE_METHOD(Fixture, "tensors that cannot be joined or looked up") {
  CHECK(s.error_of("concat", {}, args("over", dim("io"))) ==
        "`concat` of nothing; it needs a tensor [missing-argument]");
  CHECK(s.error_of("concat", {x, other}, args("over", dim("io"))) ==
        "`concat` of [batch 8, io 3] and [io 4], which differ in more than `io` [dim-size]");
  CHECK(s.error_of("stack", {x, x}, args("dim", dim("layer", 3))) ==
        "`stack` would give `layer` size 2, but it is declared with 3; a name that is not declared "
        "takes any size, and can be renamed once it fits [dim-size]");
  CHECK(s.error_of("stack", {x, x}, args("dim", dim("io"))) ==
        "the result of `stack` would have `io` twice [repeated-dim]");
  CHECK(s.error_of("gather", {x, i}, args("over", dim("batch"))) ==
        "`gather` over `batch`, which is also a dim of the ids [batch 8]; `rename` it there "
        "[repeated-dim]");
}

TEST_CASE_METHOD(Fixture, "tensors that are made from too little or too much") {
  CHECK(s.error_of("normal", {}) ==
        "`normal` without a shape, as in `normal([batch, io])` [missing-argument]");
  CHECK(s.error_of("zeros", {}) ==
        "`zeros` without a shape, as in `zeros([batch, io])` [missing-argument]");
  CHECK(s.error_of("normal", {}, args("shape", shape({}), "stddev", -1.0)) ==
        "`normal` with `stddev` -1, which is negative [bad-argument]");
  CHECK(s.error_of("uniform", {}, args("shape", shape({}), "dtype", DType::kI32)) ==
        "`uniform` of i32; it draws floats, which `cast` makes whole [dtype-mismatch]");
  CHECK(s.error_of("const", {},
                   args("shape", shape({{"a", 2}}), "data", std::vector<double>{1, 2, 3})) ==
        "`const` of [a 2] needs 2 numbers, and has 3 [bad-argument]");
  const std::int64_t huge = std::int64_t{1} << 40;
  const ValueId a = s.call("fill", {}, args("shape", shape({{"a", huge}}), "value", 0.0));
  const ValueId b = s.call("fill", {}, args("shape", shape({{"b", huge}}), "value", 0.0));
  CHECK(s.error_of("add", {a, b}) ==
        "the result of `+`, [a 1099511627776, b 1099511627776], has too many elements to count "
        "[overflow]");
  CHECK(s.error_of("einsum", {a, b}).ends_with("[overflow]"));
}

TEST_CASE_METHOD(Fixture, "print and assert") {
  CHECK(s.error_of("assert", {x}) ==
        "`assert` of f32[batch 8, io 3]; it needs bools, which a comparison makes "
        "[dtype-mismatch]");
  CHECK(s.error_of("assert", {t}) ==
        "`assert` of bool[batch 8], which is many bools; `all(…)` makes one of them "
        "[bad-argument]");
  CHECK(s.error_of("print", {x}, args("text", std::string("no place"))) ==
        "`print` with 0 places `{}` for 1 tensors [bad-argument]");
}

TEST_CASE_METHOD(Fixture, "a type rule accepts what it normalised") {
  const Value& value = s.program().at(s.call("sum", {x}, args("over", dim("io"))));
  OpCall call = call_of(s.program(), s.program().last());
  DiagSink diags;
  CHECK(value.op->type(call, diags) == value.type);
  CHECK(call.args == value.args);
  CHECK(to_string(value.args) == "to = [batch 8]");
}

}  // namespace
}  // namespace mtf::tests
