// cast: the same values in another element type.
//
// Floats become whole numbers by dropping the fraction; what does not fit becomes the nearest
// number that does, and NaN becomes 0. Whole numbers wrap. As bool, everything but 0 is true. To
// fewer digits, numbers are rounded once, to the nearest, ties to even.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ir/rewrite/autodiff.h"
#include "runtime/vector_math/narrow.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> cast_type(OpCall& call, DiagSink& diags) {
  if (const auto* gradient = call.args.get<DType>("gradient");
      gradient != nullptr && !is_float(*gradient)) {
    diags.error(
        DiagKind::kBadArgument, call.span,
        "`gradient` of `cast` is a dtype of floats, and not " + std::string(to_string(*gradient)));
    return std::nullopt;
  }
  const DType to = dtype_arg(call.args, "dtype", call.operands[0].dtype);
  return TensorType{.dtype = to, .shape = call.operands[0].shape};
}

// The float that rounds to any narrower one as `x` does.
template <typename From>
float to_odd(From x) {
  if constexpr (std::is_same_v<From, float>) {
    return x;
  } else if constexpr (std::is_same_v<From, std::int64_t>) {
    constexpr std::int64_t kLow = 0x7FF;  // beyond a double's digits
    const bool fits = std::abs(static_cast<double>(x)) < 0x1p53;
    const std::int64_t kept = (x & ~kLow) | ((x & kLow) != 0 ? kLow + 1 : 0);
    return rounded_to_odd(static_cast<double>(fits ? x : kept));
  } else {
    return rounded_to_odd(static_cast<double>(x));
  }
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

// To a narrow float by way of the float that rounds to the same.
template <typename From>
void round_to(DType to, const From* x, void* out, std::size_t n) {
  alignas(64) std::array<float, kPiece> piece;  // NOLINT: clearing it would take longer
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = std::min(kPiece, n - begin);
    for (std::size_t i = 0; i < count; ++i) {
      piece[i] = to_odd(x[begin + i]);
    }
    narrow(to, piece.data(), count, static_cast<std::byte*>(out) + begin * bytes_of(to));
  }
}

template <typename From>
void convert(DType to, const From* x, void* out, std::size_t n) {
  if (is_narrow(to) && is_float(to)) {
    if constexpr (std::is_same_v<From, float>) {
      return narrow(to, x, n, out);
    }
    return round_to(to, x, out, n);
  }
  if (to == DType::kBool) {
    auto* y = static_cast<std::uint8_t*>(out);
    for (std::size_t i = 0; i < n; ++i) {
      y[i] = x[i] != From{0} ? 1 : 0;
    }
    return;
  }
  with_stored(to, [&](auto element) {
    using To = decltype(element);
    if constexpr (std::is_arithmetic_v<To>) {
      auto* y = static_cast<To*>(out);
      for (std::size_t i = 0; i < n; ++i) {
        y[i] = converted<To>(x[i]);
      }
    }
  });
}

void cast_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n);

// Widening is exact, so what is left is rounded once.
void widened_tile(const TileCall& call, const void* in, void* out, std::size_t n) {
  const DType wide = wide_of(call.dtype);
  if (call.to == wide) {
    return widen(call.dtype, in, n, out);
  }
  alignas(64) std::array<std::uint32_t, kPiece> piece;  // NOLINT: clearing it would take longer
  const void* const from = piece.data();
  const TileCall rest{.dtype = wide, .to = call.to};
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = std::min(kPiece, n - begin);
    widen(call.dtype, static_cast<const std::byte*>(in) + begin * bytes_of(call.dtype), count,
          piece.data());
    cast_tile(rest, std::span(&from, 1), static_cast<std::byte*>(out) + begin * bytes_of(call.to),
              count);
  }
}

void cast_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  if (call.dtype == call.to) {
    return copy_tile(call, in, out, n);
  }
  if (is_narrow(call.dtype)) {
    return widened_tile(call, in[0], out, n);
  }
  with_type(call.dtype, [&](auto element) {
    convert(call.to, static_cast<const decltype(element)*>(in[0]), out, n);
  });
}

void cast_grad(GradBuilder& b) {
  const DType wide = wide_of(b.type_of(b.operand(0)).dtype);
  const ValueId rounded = b.cast(b.upstream(), dtype_arg(b.args(), "gradient", wide));
  b.add_to(0, b.cast(rounded, wide));
}

}  // namespace

const OpDef kCast{
    .name = "cast",
    .summary =
        "the same values as another dtype; floats become integers by truncation, clamped to the "
        "range",
    .family = "element-wise functions",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "dtype", .kind = ParamKind::kDType, .help = "the dtype of the result"},
               {.name = "gradient",
                .kind = ParamKind::kDType,
                .required = false,
                .help = "what the gradient is rounded to on its way back to x (nothing)"}},
    .shape_rule = kSameDims,
    .example = "dim io = 3\nprint cast(const([io], [1.5, -1.5, 3e9]), i32)\n",
    .type = cast_type,
    .space = kept_space,
    .grad = cast_grad,
    .tile = cast_tile,
    .lanes = LaneFn::kMove,
    .narrow = true,
    .algebra = Algebra::kMove,
    .primitive = Primitive::kCast};

}  // namespace mtf::ops

namespace mtf {

void cast_elements(DType from, DType to, const void* data, std::size_t n, void* out) {
  const TileCall call{.dtype = from, .to = to, .args = nullptr};
  if (from != DType::kBool) {
    return ops::kCast.tile(call, std::span(&data, 1), out, n);
  }
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  std::array<std::uint8_t, kPiece> bools{};
  const void* const piece = bools.data();
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::size_t count = std::min(kPiece, n - begin);
    std::transform(bytes + begin, bytes + begin + count, bools.begin(),
                   [](std::uint8_t byte) -> std::uint8_t { return byte != 0 ? 1 : 0; });
    ops::kCast.tile(call, std::span(&piece, 1), static_cast<std::byte*>(out) + begin * bytes_of(to),
                    count);
  }
}

}  // namespace mtf
