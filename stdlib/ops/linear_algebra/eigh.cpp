// eigh and eigh_vectors: of (a + a^T) / 2.

#include "runtime/products/factor.h"
#include "stdlib/ops/linear_algebra/matrix.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> values_type(OpCall& call, DiagSink& diags) {
  const std::optional<MatrixDims> dims =
      check_factored(call, {.square = true, .what = "values"}, diags);
  if (!dims) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, dims->batch.with(dim_arg(call.args, "to")),
                     diags);
}

std::optional<TensorType> vectors_type(OpCall& call, DiagSink& diags) {
  const std::optional<TensorType> values = values_type(call, diags);
  if (!values) {
    return std::nullopt;
  }
  const MatrixDims dims = matrix_dims(call);
  const Shape shape = dims.batch.with(dims.rows).with(dim_arg(call.args, "to"));
  return result_type(call, call.operands[0].dtype, shape, diags);
}

template <bool kVectors>
void eigh_kernel(const KernelCall& call) {
  const Dim rows = matrix_dims(call.call).rows;
  const auto n = static_cast<std::size_t>(rows.size);
  const MatrixPlaces at = matrix_places(call, rows, dim_arg(call.call.args, "to"));
  std::vector<double> values(n);
  std::vector<double> vectors(n * n);
  for (std::size_t i = 0; i < at.from.size(); ++i) {
    std::vector<double> matrix = load(call.in[0], at.from[i], at.rows, at.cols);
    make_symmetric(matrix, n);
    eigh(n, matrix, values, vectors);
    if constexpr (kVectors) {
      store(vectors, call.out, at.to[i], at.out_rows, at.out_cols);
    } else {
      store(values, call.out, at.to[i], {0}, at.out_cols);
    }
  }
}

double eigh_flops(const OpCall& call) {
  const double n = static_cast<double>(matrix_dims(call).rows.size);
  return 9 * n * static_cast<double>(call.operands[0].shape.volume());
}

// V diag(dw) V^T
void values_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const Dim rows = dim_arg(args, "rows");
  const ValueId vectors = b.emit("eigh_vectors", {b.operand(0)}, args);
  const Dim cols = *b.type_of(b.operand(0)).shape.find(dim_arg(args, "cols").name);
  const ValueId turned = renamed(b, vectors, rows, cols);
  b.add_to(0, product(b, {vectors, b.upstream(), turned}, b.type_of(b.operand(0)).shape));
}

// V (F * V^T dV) V^T, symmetric, with F = 1 / (w_l - w_k), 0 on the diagonal.
void vectors_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const Shape shape = b.type_of(b.operand(0)).shape;
  const Dim rows = *shape.find(dim_arg(args, "rows").name);
  const Dim cols = *shape.find(dim_arg(args, "cols").name);
  const Dim to = dim_arg(args, "to");
  const Dim other = beside(to);
  const ValueId values = b.emit("eigh", {b.operand(0)}, args);
  const ValueId f = inverse_gaps(b, values, to, other);
  const Shape square = shape.without(rows.name).without(cols.name).with(to).with(other);
  const ValueId p = product(b, {b.result(), renamed(b, b.upstream(), to, other)}, square);
  const ValueId turned = renamed(b, renamed(b, b.result(), to, other), rows, cols);
  const ValueId all = product(b, {b.result(), b.emit("mul", {p, f}), turned}, shape);
  b.add_to(0, symmetric(b, all, rows, cols));
}

OpDef part_of_eigh(OpDef def) {
  def.flops = eigh_flops;
  return factorisation(std::move(def), "the new dim that counts the values");
}

}  // namespace

const OpDef kEigh =
    part_of_eigh({.name = "eigh",
                  .summary = "the eigenvalues of symmetric matrices, smallest first",
                  .shape_rule = "the dims of a without rows and columns, then the new one",
                  .example = R"(dim row = 2, col = 2
let a = const([row, col], [[2, 1], [1, 2]])
let w = eigh(a, rows = row, cols = col, to = k)
assert close(w, const([k: 2], [1, 3]))
)",
                  .type = values_type,
                  .grad = values_grad,
                  .kernel = eigh_kernel<false>});

const OpDef kEighVectors = part_of_eigh(
    {.name = "eigh_vectors",
     .summary = "the eigenvectors of symmetric matrices, the largest element of each positive",
     .shape_rule = "the dims of a without columns, then the new one",
     .example = R"(dim row = 2, col = 2
let a = const([row, col], [[3, 0], [0, 2]])
assert all(eigh_vectors(a, rows = row, cols = col, to = k) == const([row, k: 2], [[0, 1], [1, 0]]))
)",
     .type = vectors_type,
     .grad = vectors_grad,
     .kernel = eigh_kernel<true>});

}  // namespace mtf::ops
