// solve and triangular_solve: x with a x = b, and inverse.

#include "runtime/products/factor.h"
#include "stdlib/ops/linear_algebra/matrix.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

// The batches that b lacks, then the dims of b, with columns for its rows.
std::optional<TensorType> solve_type(OpCall& call, DiagSink& diags) {
  if (!check_operands(call, Accepts::kFloats, diags) || !check_same_dtype(call, 0, diags)) {
    return std::nullopt;
  }
  const std::optional<MatrixDims> dims = check_matrix(call, true, diags);
  if (!dims || !find_dim(call, 1, dims->rows.name, diags) || !union_of_dims(call, diags)) {
    return std::nullopt;
  }
  const Shape& b = call.operands[1].shape;
  if (b.has(dims->cols.name)) {
    diags.error(DiagKind::kRepeatedDim, call.span_of(1),
                spelled(call) + " with a right side of " + to_string(b) + ", which has " +
                    in_backticks(dims->cols.name) + ", the dim of the unknowns; `rename` it there");
    return std::nullopt;
  }
  std::vector<Dim> result;
  for (const Dim& dim : dims->batch.dims()) {
    if (!b.has(dim.name)) {
      result.push_back(dim);
    }
  }
  for (const Dim& dim : b.dims()) {
    result.push_back(dim.name == dims->rows.name ? dims->cols : dim);
  }
  return result_type(call, call.operands[0].dtype, Shape(std::move(result)), diags);
}

template <typename F>
void solve_each(const KernelCall& call, const F& solve_one) {
  const MatrixDims dims = matrix_dims(call.call);
  const auto n = static_cast<std::size_t>(dims.rows.size);
  const TensorView& b = call.in[1];
  Shape sides;  // dims of b that a lacks
  for (const Dim& dim : b.shape.dims()) {
    sides = call.in[0].shape.has(dim.name) ? sides : sides.with(dim);
  }
  const Shape batch = local_dims(call.out, dims.batch);
  const Places from = places_in(call.in[0], batch);
  const Places right = places_in(b, batch);
  const Places to = places_in(call.out, batch);
  const Places rows = places_in(call.in[0], Shape({dims.rows}));
  const Places cols = places_in(call.in[0], Shape({dims.cols}));
  const Places b_rows = places_in(b, Shape({dims.rows}));
  const Places b_cols = places_in(b, sides);
  const Places x_rows = places_in(call.out, Shape({dims.cols}));
  const Places x_cols = places_in(call.out, sides);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::vector<double> matrix = load(call.in[0], from[i], rows, cols);
    std::vector<double> x = load(b, right[i], b_rows, b_cols);
    if (!x.empty()) {  // Eigen refers to the first element
      solve_one(n, std::span<const double>(matrix), b_cols.size(), std::span<double>(x));
    }
    store(x, call.out, to[i], x_rows, x_cols);
  }
}

void solve_kernel(const KernelCall& call) {
  solve_each(call, [](auto n, auto a, auto columns, auto x) { solve(n, a, columns, x); });
}

void triangular_kernel(const KernelCall& call) {
  const bool upper = bool_arg(call.call.args, "upper", false);
  solve_each(call, [&](auto n, auto a, auto columns, auto x) {
    solve_triangular(n, a, upper, columns, x);
  });
}

double triangular_flops(const OpCall& call) {
  return static_cast<double>(call.result.shape.volume() * matrix_dims(call).rows.size);
}

double solve_flops(const OpCall& call) {
  const double n = static_cast<double>(matrix_dims(call).rows.size);
  return triangular_flops(call) * 2 +
         static_cast<double>(call.operands[0].shape.volume()) * n * 2 / 3;
}

// db = a^-T dx, da = -db x^T.
ValueId transposed_solve(GradBuilder& b, std::string_view op, OpArgs args) {
  const Shape shape = b.type_of(b.operand(0)).shape;
  const Dim rows = *shape.find(dim_arg(args, "rows").name);
  const Dim cols = *shape.find(dim_arg(args, "cols").name);
  args.set("rows", one_dim(cols));
  args.set("cols", one_dim(rows));
  return b.emit(op, {b.operand(0), b.upstream()}, std::move(args));
}

void solve_grad(GradBuilder& b) {
  const ValueId right = transposed_solve(b, "solve", b.args());
  if (b.wants(1)) {
    b.add_to(1, right);
  }
  if (b.wants(0)) {
    const ValueId outer = product(b, {right, b.result()}, b.type_of(b.operand(0)).shape);
    b.add_to(0, b.emit("neg", {outer}));
  }
}

void triangular_grad(GradBuilder& b) {
  const bool upper = bool_arg(b.args(), "upper", false);
  OpArgs turned = b.args();
  turned.set("upper", !upper);
  const ValueId right = transposed_solve(b, "triangular_solve", turned);
  if (b.wants(1)) {
    b.add_to(1, right);
  }
  if (b.wants(0)) {
    const OpArgs args = matrix_args(dim_arg(b.args(), "rows"), dim_arg(b.args(), "cols"));
    const ValueId outer = product(b, {right, b.result()}, b.type_of(b.operand(0)).shape);
    b.add_to(0, b.emit("neg", {b.emit(upper ? "triu" : "tril", {outer}, args)}));
  }
}

// ---- inverse -----------------------------------------------------------------------------------

std::optional<TensorType> inverse_type(OpCall& call, DiagSink& diags) {
  const std::optional<MatrixDims> dims = check_matrix(call, true, diags);
  if (!dims || !check_operand(call, 0, Accepts::kFloats, diags)) {
    return std::nullopt;
  }
  const Shape shape = dims->batch.with(dims->cols).with(dims->rows);
  return result_type(call, call.operands[0].dtype, shape, diags);
}

// a x = the identity, whose columns are called as the rows.
std::optional<ValueId> inverse_expand(Builder& b, const OpCall& call,
                                      std::span<const ValueId> operands) {
  const MatrixDims dims = matrix_dims(call);
  const Dim aside = beside(dims.rows);
  const auto along = [](const char* name, const Dim& dim) {
    OpArgs args;
    args.set(name, one_dim(dim));
    return args;
  };
  OpArgs hot = along("dim", aside);
  hot.set("dtype", call.result.dtype);
  const ValueId one =
      b.emit("one_hot", {b.emit("range", {}, along("dim", dims.rows))}, std::move(hot));
  const ValueId x = b.emit("solve", {operands[0], one}, matrix_args(dims.rows, dims.cols));
  OpArgs back = along("dim", aside);
  back.set("to", one_dim(dims.rows));
  return b.emit("rename", {x}, std::move(back));
}

std::vector<OpParam> solve_params(bool triangular) {
  std::vector<OpParam> params = matrix_params();
  params.insert(
      params.begin() + 1,
      {.name = "b", .kind = ParamKind::kTensor, .help = "the right sides, with the dim of rows"});
  if (triangular) {
    params.push_back({.name = "upper",
                      .kind = ParamKind::kBool,
                      .required = false,
                      .help = "reads the upper triangle of a instead of the lower one (false)"});
  }
  return params;
}

constexpr std::string_view kSolved = "the dims of a that b lacks, then those of b, cols for rows";

}  // namespace

const OpDef kSolve{
    .name = "solve",
    .summary = "x with sum(a * x, over = cols) = b; infinite or NaN if there is none",
    .family = "linear algebra",
    .params = solve_params(false),
    .shape_rule = kSolved,
    .example = R"(dim row = 2, col = 2
let a = const([row, col], [[2, 1], [1, 3]])
let x = solve(a, const([row], [3, 4]), rows = row, cols = col)
assert close(sum(a * x, over = col), const([row], [3, 4]))
)",
    .type = solve_type,
    .space = whole_matrix_space,
    .grad = solve_grad,
    .flops = solve_flops,
    .kernel = solve_kernel,
    .narrowing = Narrowing::kWide};

const OpDef kTriangularSolve{
    .name = "triangular_solve",
    .summary = "x with a x = b, reading one triangle of a; infinite or NaN if there is none",
    .family = "linear algebra",
    .params = solve_params(true),
    .shape_rule = kSolved,
    .example = R"(dim row = 2, col = 2
let a = const([row, col], [[2, 0], [1, 3]])
let x = triangular_solve(a, const([row], [2, 7]), rows = row, cols = col)
assert all(x == const([col], [1, 2]))
)",
    .type = solve_type,
    .space = whole_matrix_space,
    .grad = triangular_grad,
    .flops = triangular_flops,
    .kernel = triangular_kernel,
    .narrowing = Narrowing::kWide};

const OpDef kInverse{.name = "inverse",
                     .summary = "the inverse of square matrices; infinite or NaN if there is none",
                     .family = "linear algebra",
                     .params = matrix_params(),
                     .shape_rule = "the dims of a, cols then rows last",
                     .example = R"(dim row = 2, col = 2
let a = const([row, col], [[2, 0], [1, 4]])
assert all(inverse(a, rows = row, cols = col) == const([col, row], [[0.5, 0], [-0.125, 0.25]]))
)",
                     .type = inverse_type,
                     .expand = inverse_expand,
                     .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
