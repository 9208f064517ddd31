// cholesky: the triangular factor of symmetric positive definite matrices.

#include "runtime/products/factor.h"
#include "stdlib/ops/linear_algebra/matrix.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

// Of (a + a^T) / 2, so that all elements of `a` count alike.
void cholesky_kernel(const KernelCall& call) {
  const MatrixDims dims = matrix_dims(call.call);
  const auto n = static_cast<std::size_t>(dims.rows.size);
  const MatrixPlaces at = matrix_places(call, dims.rows, dims.cols);
  for (std::size_t i = 0; i < at.from.size(); ++i) {
    std::vector<double> matrix = load(call.in[0], at.from[i], at.rows, at.cols);
    make_symmetric(matrix, n);
    cholesky(n, matrix);
    store(matrix, call.out, at.to[i], at.out_rows, at.out_cols);
  }
}

double cholesky_flops(const OpCall& call) {
  return static_cast<double>(call.result.shape.volume() * matrix_dims(call).rows.size) / 3;
}

// With P = phi(L^T dL), phi the lower triangle with half the diagonal: L^-T P L^-1, symmetric
// (Murray, arXiv 1602.07527).
void cholesky_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const Shape shape = b.type_of(b.operand(0)).shape;
  const Dim rows = *shape.find(dim_arg(args, "rows").name);
  const Dim cols = *shape.find(dim_arg(args, "cols").name);
  const Dim aside = beside(cols);
  const Dim below = beside(rows);
  const Shape square = shape.without(rows.name).without(cols.name).with(cols).with(aside);
  const ValueId p = product(b, {b.result(), renamed(b, b.upstream(), cols, aside)}, square);
  OpArgs triangle = matrix_args(cols, aside);  // NOLINT: columns are the rows of this one
  const ValueId whole = b.emit("tril", {p}, triangle);
  triangle.set("diagonal", std::int64_t{-1});
  const ValueId strict = b.emit("tril", {p}, triangle);
  const ValueId phi = b.emit("mul", {b.emit("add", {whole, strict}), b.scalar(0.5)});
  OpArgs turned = matrix_args(cols, rows);  // NOLINT: turned, as it says
  turned.set("upper", true);
  const ValueId left = b.emit("triangular_solve", {b.result(), phi}, turned);  // [rows, aside]
  OpArgs again = matrix_args(aside, below);
  again.set("upper", true);
  const ValueId factor = renamed(b, renamed(b, b.result(), cols, aside), rows, below);
  const ValueId both = b.emit("triangular_solve", {factor, left}, again);  // [rows, below]
  b.add_to(0, symmetric(b, renamed(b, both, below, cols), rows, cols));
}

}  // namespace

const OpDef kCholesky{
    .name = "cholesky",
    .summary = "lower triangular L with a = L L^T; NaN for an a that is not positive definite",
    .family = "linear algebra",
    .params = matrix_params(),
    .shape_rule = "the dims of a",
    .example = R"(dim row = 2, col = 2
let a = const([row, col], [[4, 2], [2, 5]])
assert all(cholesky(a, rows = row, cols = col) == const([row, col], [[2, 0], [1, 2]]))
)",
    .type = square_type,
    .space = whole_matrix_space,
    .grad = cholesky_grad,
    .flops = cholesky_flops,
    .kernel = cholesky_kernel,
    .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
