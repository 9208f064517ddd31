// where: a choice per element. The branch that is not taken has no part in value or gradient, so
// an infinity there does no harm.

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> where_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kBools, diags) || !check_same_dtype(call, 1, diags)) {
    return std::nullopt;
  }
  const std::optional<Shape> shape = union_of_dims(call, diags);
  if (!shape) {
    return std::nullopt;
  }
  return result_type(call, call.operands[1].dtype, *shape, diags);
}

void where_grad(GradBuilder& b) {
  const ValueId zero = b.scalar(0);
  const ValueId c = b.operand(0);
  if (b.wants(1)) {
    b.add_where(c, 1, b.emit("where", {c, b.upstream(), zero}));
  }
  if (b.wants(2)) {
    b.add_where(b.emit("logical_not", {c}), 2, b.emit("where", {c, zero, b.upstream()}));
  }
}

void where_tile(const TileCall& call, std::span<const void* const> in, void* out, std::size_t n) {
  with_type(call.dtype, [&](auto element) {
    using T = decltype(element);
    const auto* c = static_cast<const std::uint8_t*>(in[0]);
    const auto* a = static_cast<const T*>(in[1]);
    const auto* b = static_cast<const T*>(in[2]);
    auto* y = static_cast<T*>(out);
    for (std::size_t i = 0; i < n; ++i) {
      const T taken = a[i];
      const T other = b[i];
      y[i] = c[i] != 0 ? taken : other;
    }
  });
}

double host(std::span<const double> x) {
  return x[0] != 0 ? x[1] : x[2];
}

}  // namespace

const OpDef kWhere{
    .name = "where",
    .summary = "a where the condition holds, b elsewhere",
    .family = "element-wise functions",
    .params = {{.name = "c", .kind = ParamKind::kTensor, .help = "the condition, booleans"},
               {.name = "a", .kind = ParamKind::kTensor, .help = "taken where it is true"},
               {.name = "b", .kind = ParamKind::kTensor, .help = "taken where it is false"}},
    .shape_rule = kUnionOfDims,
    .example = R"(dim length = 4
let i = range(length)
print where(i < 2, i, 0)
)",
    .type = where_type,
    .space = kept_space,
    .grad = where_grad,
    .flops = one_flop_each,
    .tile = where_tile,
    .lanes = LaneFn::kChoose,
    .host = host,
    .primitive = Primitive::kSelect};

}  // namespace mtf::ops
