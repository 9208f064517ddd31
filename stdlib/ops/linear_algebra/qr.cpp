// qr and qr_r: an orthogonal and an upper triangular factor.

#include "ir/support/number.h"
#include "runtime/products/factor.h"
#include "stdlib/ops/linear_algebra/matrix.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<MatrixDims> check_qr(OpCall& call, DiagSink& diags) {
  const std::optional<MatrixDims> dims = check_factored(call, {.what = "the factors"}, diags);
  if (dims && dims->rows.size < dims->cols.size) {
    diags.error(DiagKind::kDimSize, call.span_of(0),
                spelled(call) + " of matrices with " + plural(dims->rows.size, "row") + " along " +
                    in_backticks(dims->rows.name) + " and " + plural(dims->cols.size, "column") +
                    " along " + in_backticks(dims->cols.name) + "; it needs at least as many rows");
    return std::nullopt;
  }
  return dims;
}

std::optional<TensorType> q_type(OpCall& call, DiagSink& diags) {
  const std::optional<MatrixDims> dims = check_qr(call, diags);
  if (!dims) {
    return std::nullopt;
  }
  const Shape shape = dims->batch.with(dims->rows).with(dim_arg(call.args, "to"));
  return result_type(call, call.operands[0].dtype, shape, diags);
}

std::optional<TensorType> r_type(OpCall& call, DiagSink& diags) {
  const std::optional<MatrixDims> dims = check_qr(call, diags);
  if (!dims) {
    return std::nullopt;
  }
  const Shape shape = dims->batch.with(dim_arg(call.args, "to")).with(dims->cols);
  return result_type(call, call.operands[0].dtype, shape, diags);
}

template <bool kUpper>
void qr_kernel(const KernelCall& call) {
  const MatrixDims dims = matrix_dims(call.call);
  const Dim to = dim_arg(call.call.args, "to");
  const MatrixPlaces at = matrix_places(call, kUpper ? to : dims.rows, kUpper ? dims.cols : to);
  std::vector<double> q(at.rows.size() * at.cols.size());
  std::vector<double> r(at.cols.size() * at.cols.size());
  for (std::size_t i = 0; i < at.from.size(); ++i) {
    qr(at.rows.size(), at.cols.size(), load(call.in[0], at.from[i], at.rows, at.cols), q, r);
    store(kUpper ? r : q, call.out, at.to[i], at.out_rows, at.out_cols);
  }
}

double qr_flops(const OpCall& call) {
  const MatrixDims dims = matrix_dims(call);
  return 2 * static_cast<double>(call.operands[0].shape.volume() * dims.cols.size);
}

// (dQ + Q copyltu(M)) R^-T with M = R dR^T - dQ^T Q, whose lower triangle copyltu mirrors (Walter
// and Lehmann, 2010). One of dQ and dR is not valid.
void qr_back(GradBuilder& b, ValueId q, ValueId r, ValueId dq, ValueId dr) {
  const OpArgs args = b.args();
  const Shape shape = b.type_of(b.operand(0)).shape;
  const Dim rows = *shape.find(dim_arg(args, "rows").name);
  const Dim cols = *shape.find(dim_arg(args, "cols").name);
  const Dim to = dim_arg(args, "to");
  const Dim other = beside(to);
  const Shape square = shape.without(rows.name).without(cols.name).with(to).with(other);
  const ValueId m = dr.valid()
                        ? product(b, {r, renamed(b, dr, to, other)}, square)
                        : b.emit("neg", {product(b, {dq, renamed(b, q, to, other)}, square)});
  OpArgs triangle = matrix_args(to, other);
  const ValueId lower = b.emit("tril", {m}, triangle);
  triangle.set("diagonal", std::int64_t{-1});
  const ValueId strict = b.emit("tril", {m}, triangle);
  const ValueId mirrored = transposed(b, strict, to, other);
  const ValueId both = b.emit("add", {lower, mirrored});
  const Shape tall = shape.without(cols.name).with(to);
  const ValueId bent = product(b, {renamed(b, q, to, other), both}, tall);
  const ValueId left = dq.valid() ? b.emit("add", {dq, bent}) : bent;
  OpArgs upper = matrix_args(to, cols);
  upper.set("upper", true);
  b.add_to(0, b.emit("triangular_solve", {r, left}, upper));
}

void q_grad(GradBuilder& b) {
  qr_back(b, b.result(), b.emit("qr_r", {b.operand(0)}, b.args()), b.upstream(), {});
}

void r_grad(GradBuilder& b) {
  qr_back(b, b.emit("qr", {b.operand(0)}, b.args()), b.result(), {}, b.upstream());
}

OpDef part_of_qr(OpDef def) {
  def.flops = qr_flops;
  return factorisation(std::move(def), "the new dim between the factors, as long as the columns");
}

}  // namespace

const OpDef kQr =
    part_of_qr({.name = "qr",
                .summary = "q with a = sum(q * r, over = to), whose columns are orthonormal",
                .shape_rule = "the dims of a without columns, then the new one",
                .example = R"(dim row = 3, col = 2
let a = const([row, col], [[1, 2], [3, 4], [5, 6]])
let q = qr(a, rows = row, cols = col, to = k)
let r = qr_r(a, rows = row, cols = col, to = k)
assert close(einsum(q, r -> [row, col]), a)
)",
                .type = q_type,
                .grad = q_grad,
                .kernel = qr_kernel<false>});

const OpDef kQrR =
    part_of_qr({.name = "qr_r",
                .summary = "the upper triangular r of `qr`, whose diagonal is not negative",
                .shape_rule = "the dims of a without rows and columns, the new one, columns",
                .example = R"(dim row = 3, col = 2
print qr_r(const([row, col], [[0, 2], [3, 4], [4, 6]]), rows = row, cols = col, to = k)
)",
                .type = r_type,
                .grad = r_grad,
                .kernel = qr_kernel<true>});

}  // namespace mtf::ops
