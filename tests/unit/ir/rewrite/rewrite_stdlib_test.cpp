// `simplify` on the operations that people use: both spellings of a product are one program.

#include <catch2/catch.hpp>

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "ir/rewrite/rewrite.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

struct Sketch {
  Program program;
  DiagSink diags;
  Builder builder{program, op_table(), diags};
  ValueId x = argument("x", Shape({{"b", 2}, {"i", 3}}));
  ValueId w = argument("w", Shape({{"i", 3}, {"h", 4}}));
  ValueId v = argument("v", Shape({{"i", 3}}));

  ValueId argument(const std::string& name, Shape shape) {
    return builder.input(InputKind::kArgument, name,
                         {.dtype = DType::kF32, .shape = std::move(shape)});
  }
  ValueId to(std::string_view op, std::vector<ValueId> operands, Shape shape, OpArgs args = {}) {
    args.set("to", std::move(shape));
    return builder.emit(op, std::move(operands), std::move(args));
  }
  ValueId mul(ValueId a, ValueId b) { return builder.emit("mul", {a, b}); }
  std::string text(std::vector<ValueId> outputs) {
    program.outputs = std::move(outputs);
    CHECK(verify(program).empty());
    const Program result = simplify(program, op_table());
    CHECK(verify(result).empty());
    std::string once = to_string(result);
    CHECK(to_string(simplify(result, op_table())) == once);
    return once;
  }
};

}  // namespace

TEST_CASE("sums of products and einsums are the same programs") {
  const std::vector<Shape> results = {Shape({{"b", 2}, {"h", 4}}), Shape({{"h", 4}, {"b", 2}}),
                                      Shape({{"b", 2}}), Shape({{"i", 3}}), Shape()};
  for (const Shape& result : results) {
    Sketch sum;
    Sketch einsum;
    CHECK(sum.text({sum.to("sum", {sum.mul(sum.x, sum.w)}, result)}) ==
          einsum.text({einsum.to("einsum", {einsum.x, einsum.w}, result)}));
    Sketch sum3;
    Sketch einsum3;
    OpArgs in_order;
    in_order.set("as_written", true);
    CHECK(
        sum3.text({sum3.to("sum", {sum3.mul(sum3.mul(sum3.x, sum3.v), sum3.w)}, result)}) ==
        einsum3.text({einsum3.to("einsum", {einsum3.x, einsum3.v, einsum3.w}, result, in_order)}));
  }
}

TEST_CASE("an einsum of three tensors is that of two products in the order that takes least") {
  const Shape result({{"b", 2}});
  Sketch three;
  Sketch two;
  const ValueId summed = two.to("sum", {two.w}, Shape({{"i", 3}}));
  CHECK(three.text({three.to("einsum", {three.x, three.v, three.w}, result)}) ==
        two.text({two.to("einsum", {two.x, two.mul(two.v, summed)}, result)}));
}

TEST_CASE("the training step of a layer has no products left but einsums") {
  Sketch s;
  const ValueId h = s.to("sum", {s.mul(s.x, s.w)}, Shape({{"b", 2}, {"h", 4}}));
  const ValueId loss = s.builder.emit("sum", {s.mul(h, h)});
  const std::string text = s.text(gradients(s.builder, loss, std::vector{s.w}));
  INFO(text);
  CHECK(text.find("[b 2, i 3, h 4]") == std::string::npos);
}

}  // namespace mtf
