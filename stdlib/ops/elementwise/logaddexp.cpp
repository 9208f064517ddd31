// logaddexp: the sum of two numbers that are known by their logarithms.

#include <array>
#include <cmath>
#include <numbers>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// max(a, b) + log(1 + exp(-|a - b|)); of equal ones, infinite ones too, a + log 2.
template <typename T>
void logaddexp_piece(const T* a, const T* b, std::size_t n, Isa isa, T* out) {
  std::array<T, kPiece> more;
  for (std::size_t begin = 0; begin < n; begin += kPiece) {
    const std::span<T> part = std::span<T>(more).first(std::min(kPiece, n - begin));
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = -std::abs(a[begin + i] - b[begin + i]);
    }
    vector_math(MathFn::kSoftplus, part, isa, part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const T x = a[begin + i];
      const T y = b[begin + i];
      out[begin + i] = x == y ? x + std::numbers::ln2_v<T> : (x > y ? x : y) + part[i];
    }
  }
}

void logaddexp_tile(const TileCall& call, std::span<const void* const> in, void* out,
                    std::size_t n) {
  with_float(call.dtype, [&](auto type) {
    using T = decltype(type);
    logaddexp_piece(static_cast<const T*>(in[0]), static_cast<const T*>(in[1]), n, call.isa,
                    static_cast<T*>(out));
  });
}

// Each has its share of the sum: sigmoid(a - b) and the rest. Equal infinities have halves.
void logaddexp_grad(GradBuilder& b) {
  const ValueId equal = b.emit("equal", {b.operand(0), b.operand(1)});
  for (const std::size_t i : {0U, 1U}) {
    if (b.wants(i)) {
      const ValueId ahead = b.emit("sub", {b.operand(i), b.operand(1 - i)});
      const ValueId infinite = b.emit("logical_not", {b.emit("isfinite", {b.operand(i)})});
      const ValueId tied = b.emit("logical_and", {equal, infinite});
      const ValueId safe = b.emit("where", {tied, b.scalar(0), ahead});
      b.add_to(i, b.emit("mul", {b.upstream(), b.emit("sigmoid", {safe})}));
    }
  }
}

double logaddexp_host(std::span<const double> x) {
  const double more = std::log1p(std::exp(-std::abs(x[0] - x[1])));
  return x[0] == x[1] ? x[0] + std::numbers::ln2 : std::max(x[0], x[1]) + more;
}

}  // namespace

const OpDef kLogAddExp{.name = "logaddexp",
                       .summary = "log(exp(a) + exp(b)), without overflow",
                       .family = "element-wise functions",
                       .params = two_operands(),
                       .shape_rule = kUnionOfDims,
                       .example = R"(dim io = 3
print logaddexp(const([io], [0, 1, 1000]), 0)
)",
                       .type = float_elements,
                       .space = kept_space,
                       .grad = logaddexp_grad,
                       .flops = one_flop_each,
                       .tile = logaddexp_tile,
                       .host = logaddexp_host};

}  // namespace mtf::ops
