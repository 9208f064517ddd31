// What `simplify` makes of programs, as text.

#include "ir/rewrite/rewrite.h"

#include <catch2/catch.hpp>

#include "tests/unit/ir/tiny_ops.h"

namespace mtf {
namespace {

using tiny::Sketch;

const Shape kBatch({{"b", 2}, {"i", 3}});
const Shape kWeights({{"i", 3}, {"h", 4}});
const Shape kHidden({{"b", 2}, {"h", 4}});

// The lines after the inputs x, w and v that every sketch here begins with.
struct Case : Sketch {
  ValueId x = argument("x", kBatch);
  ValueId w = argument("w", kWeights);
  ValueId v = argument("v", Shape({{"i", 3}}));

  std::string text(std::vector<ValueId> outputs) {
    program.outputs = std::move(outputs);
    const std::string all = to_string(tiny::simplified(program));
    const std::size_t begin = all.find("  %2 = ");
    return all.substr(all.find('\n', begin) + 1);
  }
};

}  // namespace

TEST_CASE("a sum of a product is the einsum that says the same") {
  Case a;
  const std::string sum = a.text({a.emit("sum", {a.emit("mul", {a.x, a.w})}, kHidden)});
  Case b;
  CHECK(sum == b.text({b.emit("einsum", {b.x, b.w}, kHidden)}));
  CHECK(sum ==
        "  %3 = einsum(%0, %1) : f32[b 2, h 4]\n"
        "  return %3\n");
}

TEST_CASE("both spellings in one program are computed once") {
  Case a;
  const ValueId sum = a.emit("sum", {a.emit("mul", {a.x, a.w})}, kHidden);
  CHECK(a.text({sum, a.emit("einsum", {a.x, a.w}, kHidden)}) ==
        "  %3 = einsum(%0, %1) : f32[b 2, h 4]\n"
        "  return %3, %3\n");
}

TEST_CASE("products of several factors become one einsum, in the order of the text") {
  Case a;
  const ValueId product = a.emit("mul", {a.emit("mul", {a.emit("mul", {a.x, a.v}), a.w}), a.v});
  CHECK(a.text({a.emit("sum", {product}, kHidden)}) ==
        "  %3 = einsum(%0, %2, %1, %2, as_written = true) : f32[b 2, h 4]\n"
        "  return %3\n");
}

TEST_CASE("a product in brackets is one factor") {
  Case a;
  const ValueId product = a.emit("mul", {a.emit("mul", {a.x, a.v}), a.emit("mul", {a.w, a.v})});
  CHECK(a.text({a.emit("sum", {product}, kHidden)}) ==
        "  %3 = mul(%1, %2) : f32[i 3, h 4]\n"
        "  %4 = einsum(%0, %2, %3, as_written = true) : f32[b 2, h 4]\n"
        "  return %4\n");
}

TEST_CASE("a product that is read elsewhere too stays a product") {
  Case a;
  const ValueId product = a.emit("mul", {a.x, a.v});
  CHECK(a.text({product, a.emit("sum", {product}, Shape({{"b", 2}}))}) ==
        "  %3 = mul(%0, %2) : f32[b 2, i 3]\n"
        "  %4 = sum(%3) : f32[b 2]\n"
        "  return %3, %4\n");
}

TEST_CASE("a product that dead code reads is fused all the same") {
  Case a;
  const ValueId product = a.emit("mul", {a.x, a.w});
  (void)a.emit("sin", {product});
  CHECK(a.text({a.emit("sum", {product}, kHidden)}) ==
        "  %3 = einsum(%0, %1) : f32[b 2, h 4]\n"
        "  return %3\n");
}

TEST_CASE("scalar factors stay outside") {
  const std::string expected =
      "  %3 = fill(shape = [], value = 2.0, dtype = f32) : f32[]\n"
      "  %4 = einsum(%0, %1) : f32[b 2, h 4]\n"
      "  %5 = mul(%3, %4) : f32[b 2, h 4]\n"
      "  return %5\n";
  Case a;
  const ValueId two = a.builder.scalar(2.0, DType::kF32);
  const ValueId product = a.emit("mul", {a.emit("mul", {two, a.x}), a.w});
  CHECK(a.text({a.emit("sum", {product}, kHidden)}) == expected);
  Case b;
  const ValueId scale = b.builder.scalar(2.0, DType::kF32);
  CHECK(b.text({b.emit("einsum", {b.x, scale, b.w}, kHidden)}) == expected);
}

TEST_CASE("a scaled sum is scaled after it, scalars are multiplied with each other") {
  Case a;
  const ValueId two = a.builder.scalar(2.0, DType::kF32);
  const ValueId three = a.builder.scalar(3.0, DType::kF32);
  const ValueId product = a.emit("mul", {a.emit("mul", {two, a.x}), three});
  CHECK(a.text({a.emit("sum", {product}, Shape({{"b", 2}}))}) ==
        "  %3 = fill(shape = [], value = 2.0, dtype = f32) : f32[]\n"
        "  %4 = fill(shape = [], value = 3.0, dtype = f32) : f32[]\n"
        "  %5 = sum(%0) : f32[b 2]\n"
        "  %6 = mul(%3, %4) : f32[]\n"
        "  %7 = mul(%6, %5) : f32[b 2]\n"
        "  return %7\n");
}

TEST_CASE("an einsum of an einsum stays two") {
  Case a;
  const ValueId h = a.emit("einsum", {a.x, a.w}, kHidden);
  CHECK(a.text({a.emit("einsum", {h, a.w}, kBatch)}) ==
        "  %3 = einsum(%0, %1) : f32[b 2, h 4]\n"
        "  %4 = einsum(%3, %1) : f32[b 2, i 3]\n"
        "  return %4\n");
}

TEST_CASE("an einsum of one operand is a sum, a transpose, or nothing") {
  Case a;
  const ValueId sum = a.emit("einsum", {a.x}, Shape({{"b", 2}}));
  const ValueId turned = a.emit("einsum", {a.x}, Shape({{"i", 3}, {"b", 2}}));
  const ValueId same = a.emit("einsum", {a.x}, kBatch);
  CHECK(a.text({sum, turned, same}) ==
        "  %3 = sum(%0) : f32[b 2]\n"
        "  %4 = transpose(%0) : f32[i 3, b 2]\n"
        "  return %3, %4, %0\n");
}

TEST_CASE("moves to the same type disappear") {
  Case a;
  const Shape turned({{"i", 3}, {"b", 2}});
  const ValueId there = a.emit("transpose", {a.emit("transpose", {a.x}, kBatch)}, turned);
  const ValueId back = a.emit("transpose", {there}, kBatch);
  const ValueId sum = a.emit("sum", {a.emit("broadcast", {back}, kBatch)}, kBatch);
  CHECK(a.text({a.emit("sin", {sum})}) ==
        "  %3 = sin(%0) : f32[b 2, i 3]\n"
        "  return %3\n");
}

TEST_CASE("a broadcast that the other operand makes anyway is dropped") {
  Case a;
  const ValueId wide = a.emit("broadcast", {a.v}, kBatch);
  CHECK(a.text({a.emit("mul", {a.x, wide}), a.emit("sin", {wide})}) ==
        "  %3 = broadcast(%2) : f32[b 2, i 3]\n"
        "  %4 = mul(%0, %2) : f32[b 2, i 3]\n"
        "  %5 = sin(%3) : f32[b 2, i 3]\n"
        "  return %4, %5\n");
}

TEST_CASE("a broadcast under an einsum is dropped only if no factor of its sum is lost") {
  Case a;
  const ValueId wide = a.emit("broadcast", {a.v}, kBatch);
  const ValueId kept = a.emit("einsum", {wide, a.v}, Shape());
  const ValueId dropped = a.emit("einsum", {wide, a.x}, Shape());
  const ValueId twice = a.emit("einsum", {wide, wide}, Shape({{"b", 2}}));
  CHECK(a.text({kept, dropped, twice}) ==
        "  %3 = broadcast(%2) : f32[b 2, i 3]\n"
        "  %4 = einsum(%3, %2) : f32[]\n"
        "  %5 = einsum(%0, %2) : f32[]\n"  // b, then i, as it was written
        "  %6 = einsum(%2, %3) : f32[b 2]\n"
        "  return %4, %5, %6\n");
}

TEST_CASE("a transpose under an einsum is dropped, and the order of its sums stays") {
  Case a;
  const ValueId turned = a.emit("transpose", {a.x}, Shape({{"i", 3}, {"b", 2}}));
  CHECK(a.text({a.emit("einsum", {turned, a.v}, Shape()), a.emit("einsum", {a.x, a.v}, Shape())}) ==
        "  %3 = einsum(%2, %0) : f32[]\n"  // over i, then b
        "  %4 = einsum(%0, %2) : f32[]\n"
        "  return %3, %4\n");
}

TEST_CASE("a sum of a broadcast keeps counting") {
  Case a;
  const ValueId wide = a.emit("broadcast", {a.v}, kBatch);
  CHECK(a.text({a.emit("sum", {wide}, Shape({{"i", 3}}))}) ==
        "  %3 = broadcast(%2) : f32[b 2, i 3]\n"
        "  %4 = sum(%3) : f32[i 3]\n"
        "  return %4\n");
}

TEST_CASE("equal values are one, names survive, and the order of the text stays") {
  Case a;
  const ValueId first = a.emit("sin", {a.x});
  const ValueId other = a.emit("cos", {a.x});
  const ValueId second = a.emit("sin", {a.x});
  a.program.at(second).name = "y";
  CHECK(a.text({a.emit("add", {second, other}), first}) ==
        "  %3 = sin(%0) : f32[b 2, i 3]   # y\n"
        "  %4 = cos(%0) : f32[b 2, i 3]\n"
        "  %5 = add(%3, %4) : f32[b 2, i 3]\n"
        "  return %5, %3\n");
}

TEST_CASE("draws and effects are never merged, effects and inputs never dropped") {
  Sketch s;
  (void)s.argument("unused", kBatch);
  OpArgs args;
  args.set("shape", Shape());
  args.set("dtype", DType::kF32);
  const ValueId a = s.builder.emit("noise", {}, args);
  const ValueId b = s.builder.emit("noise", {}, args);
  (void)s.builder.emit("noise", {}, args);
  args.set("seed", std::int64_t{7});
  const ValueId c = s.builder.emit("noise", {}, args);
  const ValueId d = s.builder.emit("noise", {}, args);
  (void)s.emit("print", {a});
  (void)s.emit("print", {a});
  s.program.outputs = {b, c, d};
  const Program result = simplify(s.program, tiny::ops());
  CHECK(to_string(result) ==
        "sketch\n"
        "  %0 = argument \"unused\" : f32[b 2, i 3]\n"
        "  %1 = noise(shape = [], dtype = f32) : f32[]\n"
        "  %2 = noise(shape = [], dtype = f32) : f32[]\n"
        "  %3 = noise(shape = [], dtype = f32, seed = 7) : f32[]\n"
        "  %4 = print(%1) : f32[]\n"
        "  %5 = print(%1) : f32[]\n"
        "  return %2, %3, %3\n");
}

TEST_CASE("zeros of different signs are different values") {
  Case a;
  const ValueId plus = a.builder.scalar(0.0, DType::kF32);
  const ValueId minus = a.builder.scalar(-0.0, DType::kF32);
  CHECK(a.text({plus, minus}).find("return %3, %4") != std::string::npos);
}

TEST_CASE("updates stay") {
  Sketch s;
  const ValueId w = s.param("w", kWeights);
  s.program.updates.push_back({.input = 0, .value = s.emit("sin", {s.emit("sin", {w})})});
  CHECK(to_string(tiny::simplified(s.program)) == to_string(s.program));
}

TEST_CASE("very long products stay products") {
  Case a;
  ValueId product = a.x;
  for (int i = 0; i < 10; ++i) {
    product = a.emit("mul", {product, a.v});
  }
  CHECK(a.text({a.emit("sum", {product}, Shape())}).find("einsum") == std::string::npos);
}

}  // namespace mtf
