// cast: the same values in another element type.
//
// Floats become whole numbers by dropping the fraction; what does not fit becomes the nearest
// number that does, and NaN becomes 0. Whole numbers wrap. As bool, everything but 0 is true.

#include <limits>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> cast_type(OpCall& call, DiagSink& /*diags*/) {
  const DType to = dtype_arg(call.args, "dtype", call.operands[0].dtype);
  return TensorType{.dtype = to, .shape = call.operands[0].shape};
}

template <typename To, typename From>
To converted(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
    // The first float above the range: a power of two, so it is exact.
    constexpr To kHalf = std::numeric_limits<To>::max() / 2 + 1;
    constexpr From kHigh = static_cast<From>(kHalf) * From{2};
    const bool fits = x > kLow - From{1} && x < kHigh;
    const To edge = x >= kHigh  ? std::numeric_limits<To>::max()
                    : x <= kLow ? std::numeric_limits<To>::min()
                                : To{0};
    return fits || x == kLow ? static_cast<To>(x) : edge;
  } else {
    return static_cast<To>(x);
  }
}

template <typename From>
void convert(DType to, const From* x, void* out, std::size_t n) {
  if (to == DType::kBool) {
    auto* y = static_cast<std::uint8_t*>(out);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = x[i] != From{0} ? 1 : 0;
    }
    return;
  }
  with_type(to, [&](auto element) {
    using To = decltype(element);
    auto* y = static_cast<To*>(out);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = converted<To>(x[i]);
    }
  });
}

void cast_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_type(call.dtype, [&](auto element) {
    convert(call.to, static_cast<const decltype(element)*>(in[0]), out, n);
  });
}

void cast_grad(GradBuilder& b) {
  OpArgs args;
  args.set("dtype", b.type_of(b.operand(0)).dtype);
  b.add_to(0, b.emit("cast", {b.upstream()}, args));
}

}  // namespace

const OpDef kCast{
    .name = "cast",
    .summary =
        "the same values as another dtype; floats become integers by truncation, clamped to the "
        "range",
    .family = "element-wise functions",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "dtype", .kind = ParamKind::kDType, .help = "f32, f64, i32, i64 or bool"}},
    .shape_rule = kSameDims,
    .example = "dim io = 3\nprint cast(const([io], [1.5, -1.5, 3e9]), i32)\n",
    .type = cast_type,
    .space = kept_space,
    .grad = cast_grad,
    .tile = cast_tile,
    .algebra = Algebra::kMove,
    .primitive = Primitive::kCast};

}  // namespace mtf::ops

namespace mtf {

void cast_elements(DType from, DType to, const void* data, std::size_t n, void* out) {
  ops::kCast.tile({.dtype = from, .to = to, .args = nullptr}, std::span(&data, 1), out, n);
}

}  // namespace mtf
