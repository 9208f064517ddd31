// det and its gradient, the cofactors, which singular matrices have as well; and logdet, whose
// gradient is the inverse: its dims are named so that nothing is transposed.

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

void cofactors_kernel(const KernelCall& call) {
  const MatrixDims dims = matrix_dims(call.call);
  const auto n = static_cast<std::size_t>(dims.rows.size);
  const MatrixPlaces at = matrix_places(call, dims.rows, dims.cols);
  std::vector<double> found(n * n);
  for (std::size_t i = 0; i < at.from.size(); ++i) {
    cofactors(n, load(call.in[0], at.from[i], at.rows, at.cols), found);
    store(found, call.out, at.to[i], at.out_rows, at.out_cols);
  }
}

// About as many as the singular values and both sides take.
double cofactors_flops(const OpCall& call) {
  const double n = static_cast<double>(matrix_dims(call).rows.size);
  return static_cast<double>(call.operands[0].shape.volume()) * n * 24;
}

// Of C = det(a) a^-T: (sum(G C) C - C G^T C) / det(a).
void cofactors_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const Shape shape = b.type_of(b.operand(0)).shape;
  const Dim rows = *shape.find(dim_arg(args, "rows").name);
  const Dim cols = *shape.find(dim_arg(args, "cols").name);
  const ValueId c = b.result();
  const ValueId g = b.upstream();
  const ValueId all = product(b, {g, c}, shape.without(rows.name).without(cols.name));
  const ValueId between =
      product(b,
              {renamed(b, c, cols, beside(cols)),
               renamed(b, renamed(b, g, cols, beside(cols)), rows, beside(rows)),
               renamed(b, c, rows, beside(rows))},
              shape);
  const ValueId difference = b.emit("sub", {b.emit("mul", {all, c}), between});
  b.add_to(0, b.emit("div", {difference, b.emit("det", {b.operand(0)}, args)}));
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

const OpDef kCofactors{
    .name = "cofactors",
    .summary = "of each element: the determinant without its row and column, with its sign",
    .family = "linear algebra",
    .params = matrix_params(),
    .shape_rule = "the dims of a",
    .example = R"(dim row = 2, col = 2
let a = const([row, col], [[1, 2], [2, 4]])
assert all(abs(cofactors(a, rows = row, cols = col) - const([row, col], [[4, -2], [-2, 1]])) < 1e-6)
)",
    .type = square_type,
    .space = whole_matrix_space,
    .grad = cofactors_grad,
    .flops = cofactors_flops,
    .kernel = cofactors_kernel,
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
