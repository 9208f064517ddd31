// tril, triu, diag, trace: by comparing places along two dims, so that every split will do.

#include "ir/builder.h"
#include "stdlib/ops/linear_algebra/matrix.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

ValueId range_along(Builder& b, const Dim& dim) {
  OpArgs args;
  args.set("dim", one_dim(dim));
  args.set("dtype", DType::kI64);
  return b.emit("range", {}, std::move(args));
}

ValueId zero_of(Builder& b, ValueId x) {
  return b.scalar(0, b.type_of(x).dtype);
}

// x where rows + diagonal and cols compare so, else 0.
ValueId part(Builder& b, const OpCall& call, ValueId x, std::string_view compare) {
  const MatrixDims dims = matrix_dims(call);
  const auto above = static_cast<double>(int_arg(call.args, "diagonal", 0));
  const ValueId row = b.emit("add", {range_along(b, dims.rows), b.scalar(above, DType::kI64)});
  const ValueId taken = b.emit(compare, {row, range_along(b, dims.cols)});
  const ValueId kept = b.emit("where", {taken, x, zero_of(b, x)});
  return b.emit("transpose", {kept}, to_shape(call.operands[0].shape));
}

std::optional<TensorType> part_type(OpCall& call, DiagSink& diags) {
  if (!check_matrix(call, false, diags) || !check_operand(call, 0, Accepts::kNumbers, diags)) {
    return std::nullopt;
  }
  return call.operands[0];
}

std::optional<ValueId> tril_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  return part(b, call, x[0], "greater_equal");
}

std::optional<ValueId> triu_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  return part(b, call, x[0], "less_equal");
}

// ---- diag and trace ----------------------------------------------------------------------------

// The diagonal of x, kept along its rows.
ValueId diagonal_of(Builder& b, ValueId x, const Dim& rows, const Dim& cols, const Shape& to) {
  const ValueId on = b.emit("equal", {range_along(b, rows), range_along(b, cols)});
  return b.emit("sum", {b.emit("where", {on, x, zero_of(b, x)})}, to_shape(to));
}

std::optional<TensorType> diag_type(OpCall& call, DiagSink& diags) {
  const Shape& x = call.operands[0].shape;
  const Dim cols = dim_arg(call.args, "cols");
  if (!check_operand(call, 0, Accepts::kNumbers, diags)) {
    return std::nullopt;
  }
  if (x.has(cols.name)) {
    const std::optional<MatrixDims> dims = check_matrix(call, true, diags);
    return dims ? result_type(call, call.operands[0].dtype, x.without(cols.name), diags)
                : std::nullopt;
  }
  const std::optional<Dim> rows = find_dim(call, 0, dim_arg(call.args, "rows").name, diags);
  if (!rows || !fit_new_dim(call, "cols", rows->size, diags)) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, x.with(dim_arg(call.args, "cols")), diags);
}

std::optional<ValueId> diag_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  const Shape& shape = call.operands[0].shape;
  const Dim cols = dim_arg(call.args, "cols");
  if (shape.has(cols.name)) {
    const MatrixDims dims = matrix_dims(call);
    return diagonal_of(b, x[0], dims.rows, dims.cols, call.result.shape);
  }
  const Dim rows = *shape.find(dim_arg(call.args, "rows").name);
  const ValueId on = b.emit("equal", {range_along(b, rows), range_along(b, cols)});
  const ValueId spread = b.emit("where", {on, x[0], zero_of(b, x[0])});
  return b.emit("transpose", {spread}, to_shape(call.result.shape));
}

std::optional<TensorType> trace_type(OpCall& call, DiagSink& diags) {
  const std::optional<MatrixDims> dims = check_matrix(call, true, diags);
  if (!dims || !check_operand(call, 0, Accepts::kNumbers, diags)) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, dims->batch, diags);
}

std::optional<ValueId> trace_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  const MatrixDims dims = matrix_dims(call);
  return diagonal_of(b, x[0], dims.rows, dims.cols, call.result.shape);
}

std::vector<OpParam> part_params() {
  std::vector<OpParam> params = matrix_params();
  params.push_back({.name = "diagonal",
                    .kind = ParamKind::kInt,
                    .required = false,
                    .help = "the boundary diagonal, counted upwards from the main one (0)"});
  return params;
}

}  // namespace

const OpDef kTril{.name = "tril",
                  .summary = "the lower triangle of matrices: 0 above a diagonal",
                  .family = "linear algebra",
                  .params = part_params(),
                  .shape_rule = "the dims of a",
                  .example = "print tril(ones([row: 3, col: 3]), rows = row, cols = col)\n",
                  .type = part_type,
                  .expand = tril_expand};

const OpDef kTriu{
    .name = "triu",
    .summary = "the upper triangle of matrices: 0 below a diagonal",
    .family = "linear algebra",
    .params = part_params(),
    .shape_rule = "the dims of a",
    .example = "print triu(ones([row: 3, col: 3]), rows = row, cols = col, diagonal = 1)\n",
    .type = part_type,
    .expand = triu_expand};

const OpDef kDiag{
    .name = "diag",
    .summary = "the diagonal of matrices; of a tensor without `cols`, matrices with that diagonal",
    .family = "linear algebra",
    .params = {{.name = "a", .kind = ParamKind::kTensor, .help = "the matrices, or diagonals"},
               {.name = "rows", .kind = ParamKind::kDim, .help = "the dim of rows"},
               {.name = "cols", .kind = ParamKind::kNewDim, .help = "the dim of columns"}},
    .shape_rule = "the dims of a without `cols`, or with it last",
    .example = R"(dim row = 3, col = 3
let d = diag(1 + range(row), rows = row, cols = col)
assert all(diag(d, rows = row, cols = col) == 1 + range(row))
)",
    .type = diag_type,
    .expand = diag_expand};

const OpDef kTrace{.name = "trace",
                   .summary = "the sum of the diagonal of square matrices",
                   .family = "linear algebra",
                   .params = matrix_params(),
                   .shape_rule = "the dims of a without rows and columns",
                   .example = R"(dim row = 2, col = 2
assert trace(const([row, col], [[1, 2], [3, 4]]), rows = row, cols = col) == 5
)",
                   .type = trace_type,
                   .expand = trace_expand,
                   .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
