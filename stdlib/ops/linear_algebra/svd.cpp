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
  const std::optional<MatrixDims> dims = check_matrix(call, false, diags);
  if (!dims || !check_operand(call, 0, Accepts::kFloats, diags) ||
      !fit_new_dim(call, "to", std::min(dims->rows.size, dims->cols.size), diags)) {
    return std::nullopt;
  }
  const Dim to = dim_arg(call.args, "to");
  if (call.operands[0].shape.has(to.name)) {
    diags.error(DiagKind::kRepeatedDim, call.span,
                spelled(call) + " to " + in_backticks(to.name) + ", which is a dim of " +
                    to_string(call.operands[0].shape) + "; values need one of their own");
    return std::nullopt;
  }
  const Shape shape = kPart == Part::kValues ? dims->batch
                      : kPart == Part::kLeft ? dims->batch.with(dims->rows)
                                             : dims->batch.with(dims->cols);
  return result_type(call, call.operands[0].dtype, shape.with(to), diags);
}

IterationSpace svd_space(const OpCall& call) {
  const MatrixDims dims = matrix_dims(call);
  return matrix_space(call, {dims.rows, dims.cols, dim_arg(call.args, "to")});
}

template <Part kPart>
void svd_kernel(const KernelCall& call) {
  const MatrixDims dims = matrix_dims(call.call);
  const Shape batch = local_dims(call.out, dims.batch);
  const Places from = places_in(call.in[0], batch);
  const Places into = places_in(call.out, batch);
  const Places rows = places_in(call.in[0], Shape({dims.rows}));
  const Places cols = places_in(call.in[0], Shape({dims.cols}));
  const Places out_rows =
      places_in(call.out, Shape({kPart == Part::kLeft ? dims.rows : dims.cols}));
  const Places out_cols = places_in(call.out, Shape({dim_arg(call.call.args, "to")}));
  std::vector<double> values(std::min(rows.size(), cols.size()));
  std::vector<double> u(rows.size() * values.size());
  std::vector<double> v(cols.size() * values.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    svd(rows.size(), cols.size(), load(call.in[0], from[i], rows, cols), u, values, v);
    if constexpr (kPart == Part::kValues) {
      store(values, call.out, into[i], {0}, out_cols);
    } else {
      store(kPart == Part::kLeft ? u : v, call.out, into[i], out_rows, out_cols);
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

// 1 / (s_l^2 - s_k^2), 0 on the diagonal.
ValueId gaps(GradBuilder& b, ValueId s, const Dim& to, const Dim& other) {
  const ValueId squares = b.emit("square", {s});
  const ValueId gap = b.emit("sub", {renamed(b, squares, to, other), squares});
  OpArgs hot;
  hot.set("dim", one_dim(other));
  hot.set("dtype", DType::kBool);
  OpArgs along;
  along.set("dim", one_dim(to));
  const ValueId same = b.emit("one_hot", {b.emit("range", {}, along)}, hot);
  const ValueId safe = b.emit("where", {same, b.scalar(1), gap});
  return b.emit("where", {same, b.scalar(0), b.emit("reciprocal", {safe})});
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
  const Dim aside = beside(other);
  const ValueId turned = renamed(b, renamed(b, renamed(b, p, to, aside), other, to), aside, other);
  const ValueId twist =
      b.emit("mul", {b.emit("sub", {p, turned}), gaps(b, s, to, other)});  // [to, other]
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
  def.family = "linear algebra";
  def.params = matrix_params();
  def.params.push_back(
      {.name = "to", .kind = ParamKind::kNewDim, .help = "the new dim that counts the values"});
  def.space = svd_space;
  def.flops = svd_flops;
  return def;
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
