// svd, svd_u and svd_v: singular values and vectors.

#include <algorithm>

#include "runtime/products/factor.h"
#include "stdlib/ops/linear_algebra/matrix.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

enum class Part : std::uint8_t { kValues, kLeft, kRight };

template <Part kPart>
std::optional<TensorType> svd_type(OpCall& call, DiagSink& diags) {
  const std::optional<MatrixDims> dims = check_factored(call, {.what = "values"}, diags);
  if (!dims) {
    return std::nullopt;
  }
  const Shape shape = kPart == Part::kValues ? dims->batch
                      : kPart == Part::kLeft ? dims->batch.with(dims->rows)
                                             : dims->batch.with(dims->cols);
  return result_type(call, call.operands[0].dtype, shape.with(dim_arg(call.args, "to")), diags);
}

template <Part kPart>
void svd_kernel(const KernelCall& call) {
  const MatrixDims dims = matrix_dims(call.call);
  const MatrixPlaces at = matrix_places(call, kPart == Part::kLeft ? dims.rows : dims.cols,
                                        dim_arg(call.call.args, "to"));
  std::vector<double> values(std::min(at.rows.size(), at.cols.size()));
  std::vector<double> u(at.rows.size() * values.size());
  std::vector<double> v(at.cols.size() * values.size());
  for (std::size_t i = 0; i < at.from.size(); ++i) {
    svd(at.rows.size(), at.cols.size(), load(call.in[0], at.from[i], at.rows, at.cols), u, values,
        v);
    if constexpr (kPart == Part::kValues) {
      store(values, call.out, at.to[i], {0}, at.out_cols);
    } else {
      store(kPart == Part::kLeft ? u : v, call.out, at.to[i], at.out_rows, at.out_cols);
    }
  }
}

double svd_flops(const OpCall& call) {
  const MatrixDims dims = matrix_dims(call);
  return 10 * static_cast<double>(call.operands[0].shape.volume() *
                                  std::min(dims.rows.size, dims.cols.size));
}

// U diag(ds) V^T
void singular_grad(GradBuilder& b) {
  const ValueId u = b.emit("svd_u", {b.operand(0)}, b.args());
  const ValueId v = b.emit("svd_v", {b.operand(0)}, b.args());
  b.add_to(0, product(b, {u, b.upstream(), v}, b.type_of(b.operand(0)).shape));
}

// Of u, or as well of v, whose matrix is transposed: U (F * (P - P^T)) S V^T + (dU - U P) S^-1 V^T
// with P = U^T dU (Townsend, 2016).
void singular_vectors_grad(GradBuilder& b, std::string_view own, std::string_view opposite) {
  const OpArgs args = b.args();
  const Shape shape = b.type_of(b.operand(0)).shape;
  const Dim rows = *shape.find(dim_arg(args, own).name);
  const Dim cols = *shape.find(dim_arg(args, own == "rows" ? "cols" : "rows").name);
  const Dim to = dim_arg(args, "to");
  const Dim other = beside(to);
  const ValueId s = b.emit("svd", {b.operand(0)}, args);
  const ValueId v = b.emit(opposite, {b.operand(0)}, args);
  const Shape batch = shape.without(rows.name).without(cols.name);
  const ValueId p =
      product(b, {b.result(), renamed(b, b.upstream(), to, other)}, batch.with(to).with(other));
  const ValueId gaps = inverse_gaps(b, b.emit("square", {s}), to, other);  // of s_l^2 and s_k^2
  const ValueId twist = b.emit("mul", {b.emit("sub", {p, transposed(b, p, to, other)}), gaps});
  const ValueId inside = product(b, {b.result(), twist}, batch.with(rows).with(other));
  const ValueId scaled = b.emit("mul", {inside, renamed(b, s, to, other)});
  const ValueId within = product(b, {b.result(), p}, batch.with(rows).with(other));
  const ValueId beyond = b.emit("sub", {renamed(b, b.upstream(), to, other), within});
  const ValueId small = b.emit("div", {beyond, renamed(b, s, to, other)});
  const ValueId all = b.emit("add", {scaled, small});
  b.add_to(0, product(b, {all, renamed(b, v, to, other)}, shape));
}

void left_grad(GradBuilder& b) {
  singular_vectors_grad(b, "rows", "svd_v");
}

void right_grad(GradBuilder& b) {
  singular_vectors_grad(b, "cols", "svd_u");
}

OpDef part_of_svd(OpDef def) {
  def.flops = svd_flops;
  return factorisation(std::move(def), "the new dim that counts the values");
}

}  // namespace

const OpDef kSvd =
    part_of_svd({.name = "svd",
                 .summary = "the singular values of matrices, largest first",
                 .shape_rule = "the dims of a without rows and columns, then the new one",
                 .example = R"(dim row = 3, col = 2
let a = const([row, col], [[1, 2], [3, 4], [5, 6]])
let s = svd(a, rows = row, cols = col, to = k)
let u = svd_u(a, rows = row, cols = col, to = k)
let v = svd_v(a, rows = row, cols = col, to = k)
assert close(einsum(u, s, v -> [row, col]), a)
)",
                 .type = svd_type<Part::kValues>,
                 .grad = singular_grad,
                 .kernel = svd_kernel<Part::kValues>});

const OpDef kSvdU =
    part_of_svd({.name = "svd_u",
                 .summary = "the left singular vectors, the largest element of each positive",
                 .shape_rule = "the dims of a without columns, then the new one",
                 .example = R"(dim row = 2, col = 2
print svd_u(const([row, col], [[0, 2], [3, 0]]), rows = row, cols = col, to = k)
)",
                 .type = svd_type<Part::kLeft>,
                 .grad = left_grad,
                 .kernel = svd_kernel<Part::kLeft>});

const OpDef kSvdV = part_of_svd({.name = "svd_v",
                                 .summary = "the right singular vectors, signed as the left ones",
                                 .shape_rule = "the dims of a without rows, then the new one",
                                 .example = R"(dim row = 2, col = 2
print svd_v(const([row, col], [[0, 2], [3, 0]]), rows = row, cols = col, to = k)
)",
                                 .type = svd_type<Part::kRight>,
                                 .grad = right_grad,
                                 .kernel = svd_kernel<Part::kRight>});

}  // namespace mtf::ops
