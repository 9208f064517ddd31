// det, whose gradient is the cofactors; and logdet, whose gradient is the inverse: its dims are
// named so that nothing is transposed.

#include "runtime/products/factor.h"
#include "stdlib/ops/linear_algebra/matrix.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> det_type(OpCall& call, DiagSink& diags) {
  const std::optional<MatrixDims> dims = check_matrix(call, true, diags);
  if (!dims || !check_operand(call, 0, Accepts::kFloats, diags)) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, dims->batch, diags);
}

template <double Determinant::*kField>
void det_kernel(const KernelCall& call) {
  const MatrixDims dims = matrix_dims(call.call);
  const auto n = static_cast<std::size_t>(dims.rows.size);
  const Places from = places_in(call.in[0], call.out.shape);
  const Places rows = places_in(call.in[0], Shape({dims.rows}));
  const Places cols = places_in(call.in[0], Shape({dims.cols}));
  for (std::size_t i = 0; i < from.size(); ++i) {
    const double found = determinant(n, load(call.in[0], from[i], rows, cols)).*kField;
    store({&found, 1}, call.out, static_cast<std::int64_t>(i), {0}, {0});
  }
}

double det_flops(const OpCall& call) {
  const double n = static_cast<double>(matrix_dims(call).rows.size);
  return static_cast<double>(call.operands[0].shape.volume()) * n * 2 / 3;
}

void logdet_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.emit("inverse", {b.operand(0)}, b.args()), b.upstream()}));
}

void det_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.emit("cofactors", {b.operand(0)}, b.args()), b.upstream()}));
}

}  // namespace

const OpDef kDet{.name = "det",
                 .summary = "the determinant of square matrices",
                 .family = "linear algebra",
                 .params = matrix_params(),
                 .shape_rule = "the dims of a without rows and columns",
                 .example = R"(dim row = 2, col = 2
assert close(det(const([row, col], [[1, 2], [3, 4]]), rows = row, cols = col), -2)
)",
                 .type = det_type,
                 .space = whole_space,
                 .grad = det_grad,
                 .flops = det_flops,
                 .kernel = det_kernel<&Determinant::value>,
                 .narrowing = Narrowing::kWide};

const OpDef kLogDet{.name = "logdet",
                    .summary = "the logarithm of the size of the determinant",
                    .family = "linear algebra",
                    .params = matrix_params(),
                    .shape_rule = "the dims of a without rows and columns",
                    .example = R"(dim row = 2, col = 2
assert close(logdet(const([row, col], [[1, 2], [3, 4]]), rows = row, cols = col), log(2.0))
)",
                    .type = det_type,
                    .space = whole_space,
                    .grad = logdet_grad,
                    .flops = det_flops,
                    .kernel = det_kernel<&Determinant::log>,
                    .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
