// Bit by bit, of whole numbers: and, or, xor, not, and shifts, as NumPy names and does them.

#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

struct BitAnd {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct BitNot {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};

// By as many places as there are, or a negative number of them: all bits are gone.
template <typename T>
bool shifts_all(T by) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(by)) >= 8 * sizeof(T);
}

struct LeftShift {
  template <typename T>
  T operator()(T a, T by) const {
    return shifts_all(by) ? T{0} : static_cast<T>(to_wrapping(a) << by);
  }
};

struct RightShift {
  template <typename T>
  T operator()(T a, T by) const {
    return static_cast<T>(shifts_all(by) ? (a < T{0} ? -1 : 0) : a >> by);
  }
};

// requires: whole numbers.
template <typename F>
void with_whole(DType dtype, const F& f) {
  with_type(dtype, [&](auto type) {
    if constexpr (std::is_integral_v<decltype(type)>) {
      f(type);
    }
  });
}

template <typename F>
void binary_whole(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_whole(call.dtype, [&](auto type) { binary_loop<F, decltype(type)>(call.lone, in, out, n); });
}

void bit_not_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_whole(call.dtype, [&](auto type) { unary_loop<BitNot, decltype(type)>(in, out, n); });
}

std::optional<TensorType> whole_elements(OpCall& call, DiagSink& diags) {
  return check_operands(call, Accepts::kIndices, diags) ? any_elements(call, diags) : std::nullopt;
}

OpDef of_bits(OpDef def) {
  def.family = "bits";
  def.type = whole_elements;
  def.space = kept_space;
  def.flops = one_flop_each;
  return def;
}

OpDef bits_of_two(OpDef def) {
  def.params = two_operands();
  def.shape_rule = kUnionOfDims;
  return of_bits(std::move(def));
}

OpDef bit_shift(OpDef def) {
  def.params = {{.name = "x", .kind = ParamKind::kTensor, .help = "integers"},
                {.name = "by", .kind = ParamKind::kTensor, .help = "how many bits, of x's dtype"}};
  def.shape_rule = kUnionOfDims;
  return of_bits(std::move(def));
}

}  // namespace

const OpDef kBitAnd = bits_of_two({.name = "bitwise_and",
                                   .summary = "the bits that are set in both integers",
                                   .example = R"(dim length = 4
assert all(bitwise_and(range(length), 1) == range(length) % 2)
)",
                                   .tile = binary_whole<BitAnd>,
                                   .spreads = true});

const OpDef kBitOr = bits_of_two({.name = "bitwise_or",
                                  .summary = "the bits that are set in either integer",
                                  .example = R"(dim length = 4
print bitwise_or(range(length), 1)
)",
                                  .tile = binary_whole<BitOr>,
                                  .spreads = true});

const OpDef kBitXor =
    bits_of_two({.name = "bitwise_xor",
                 .summary = "the bits that are set in exactly one of two integers",
                 .example = R"(dim length = 4
print bitwise_xor(range(length), 3)
)",
                 .tile = binary_whole<BitXor>,
                 .spreads = true});

const OpDef kBitNot = of_bits({.name = "bitwise_not",
                               .summary = "the bits that are not set in an integer",
                               .params = one_operand(),
                               .shape_rule = kSameDims,
                               .example = R"(dim length = 4
assert all(bitwise_not(range(length)) == -1 - range(length))
)",
                               .tile = bit_not_tile});

const OpDef kLeftShift =
    bit_shift({.name = "left_shift",
               .summary = "the bits of an integer moved left; 0 if all are moved out",
               .example = R"(dim length = 4
assert all(left_shift(range(length), 3) == 8 * range(length))
)",
               .tile = binary_whole<LeftShift>,
               .spreads = true});

const OpDef kRightShift =
    bit_shift({.name = "right_shift",
               .summary = "the bits of an integer moved right; the sign is kept",
               .example = R"(dim length = 4
assert all(right_shift(16 * range(length) - 8, 3) == 2 * range(length) - 1)
)",
               .tile = binary_whole<RightShift>,
               .spreads = true});

}  // namespace mtf::ops
