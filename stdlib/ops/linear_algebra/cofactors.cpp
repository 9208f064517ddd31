// cofactors, the gradient of det, and cofactors_along, theirs: singular matrices have both. The
// gradient of cofactors_along divides by the determinant, so that the third derivative of det does
// not exist where a matrix is singular.

#include "runtime/products/factor.h"
#include "stdlib/ops/linear_algebra/matrix.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

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

void cofactors_grad(GradBuilder& b) {
  b.add_to(0, b.emit("cofactors_along", {b.operand(0), b.upstream()}, b.args()));
}

std::optional<TensorType> along_type(OpCall& call, DiagSink& diags) {
  if (!check_operands(call, Accepts::kFloats, diags) || !check_same_dtype(call, 0, diags) ||
      !check_matrix(call, true, diags)) {
    return std::nullopt;
  }
  const std::optional<Shape> all = union_of_dims(call, diags);
  if (!all) {
    return std::nullopt;
  }
  for (const TensorType& operand : call.operands) {
    if (operand.shape.rank() != all->rank()) {
      diags.error(DiagKind::kDimMissing, call.span_of(1),
                  spelled(call) + " of " + to_string(call.operands[0].shape) + " along " +
                      to_string(call.operands[1].shape) + "; both need the same dims");
      return std::nullopt;
    }
  }
  return call.operands[0];
}

void along_kernel(const KernelCall& call) {
  const MatrixDims dims = matrix_dims(call.call);
  const auto n = static_cast<std::size_t>(dims.rows.size);
  const MatrixPlaces at = matrix_places(call, dims.rows, dims.cols);
  const TensorView& along = call.in[1];
  const Places from = places_in(along, local_dims(call.out, dims.batch));
  const Places rows = places_in(along, Shape({dims.rows}));
  const Places cols = places_in(along, Shape({dims.cols}));
  std::vector<double> found(n * n);
  for (std::size_t i = 0; i < at.from.size(); ++i) {
    cofactors_along(n, load(call.in[0], at.from[i], at.rows, at.cols),
                    load(along, from[i], rows, cols), found);
    store(found, call.out, at.to[i], at.out_rows, at.out_cols);
  }
}

double along_flops(const OpCall& call) {
  const double n = static_cast<double>(matrix_dims(call).rows.size);
  return cofactors_flops(call) + static_cast<double>(call.operands[0].shape.volume()) * n * 4;
}

// With C the cofactors and g the direction, the result is E = (sum(g C) C - C g^T C) / det(a).
class AlongGrad {
 public:
  explicit AlongGrad(GradBuilder& b)
      : b_(b),
        shape_(b.type_of(b.operand(0)).shape),
        rows_(*shape_.find(dim_arg(b.args(), "rows").name)),
        cols_(*shape_.find(dim_arg(b.args(), "cols").name)) {}

  // The second derivative is symmetric.
  void to_direction() { b_.add_to(1, along(b_.operand(0), b_.upstream())); }

  // In f64: what is left of differences of much larger products.
  void to_matrix() {
    const ValueId a = cast(b_.operand(0), DType::kF64);
    const ValueId g = cast(b_.operand(1), DType::kF64);
    const ValueId u = cast(b_.upstream(), DType::kF64);
    const ValueId c = b_.emit("cofactors", {a}, b_.args());
    const ValueId determinant = b_.emit("det", {a}, b_.args());
    const ValueId whole = add(b_.emit("mul", {dot(u, c), g}), b_.emit("mul", {dot(g, c), u}));
    const ValueId turned = add(chain(u, c, g), chain(g, c, u));
    const ValueId to_c = b_.emit("div", {b_.emit("sub", {whole, turned}), determinant});
    const ValueId less = b_.emit("div", {dot(u, along(a, g)), determinant});
    const ValueId found = b_.emit("sub", {along(a, to_c), b_.emit("mul", {less, c})});
    b_.add_to(0, cast(found, b_.type_of(b_.operand(0)).dtype));
  }

 private:
  ValueId cast(ValueId x, DType dtype) {
    OpArgs args;
    args.set("dtype", dtype);
    return b_.type_of(x).dtype == dtype ? x : b_.emit("cast", {x}, std::move(args));
  }
  ValueId along(ValueId a, ValueId x) { return b_.emit("cofactors_along", {a, x}, b_.args()); }
  ValueId add(ValueId x, ValueId y) { return b_.emit("add", {x, y}); }
  ValueId dot(ValueId x, ValueId y) {
    return product(b_, {x, y}, shape_.without(rows_.name).without(cols_.name));
  }
  // x y^T z
  ValueId chain(ValueId x, ValueId y, ValueId z) {
    const ValueId middle = renamed(b_, renamed(b_, y, cols_, beside(cols_)), rows_, beside(rows_));
    return product(
        b_, {renamed(b_, x, cols_, beside(cols_)), middle, renamed(b_, z, rows_, beside(rows_))},
        shape_);
  }

  GradBuilder& b_;
  Shape shape_;
  Dim rows_;
  Dim cols_;
};

void along_grad(GradBuilder& b) {
  if (b.wants(1)) {
    AlongGrad(b).to_direction();
  }
  if (b.wants(0)) {
    AlongGrad(b).to_matrix();
  }
}

std::vector<OpParam> along_params() {
  std::vector<OpParam> params = matrix_params();
  params.insert(params.begin() + 1, {.name = "along",
                                     .kind = ParamKind::kTensor,
                                     .help = "where to they move, with the dims of a"});
  return params;
}

}  // namespace

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

const OpDef kCofactorsAlong{
    .name = "cofactors_along",
    .summary =
        "what the cofactors of matrices that move along others change by: the gradient of "
        "`cofactors`",
    .family = "linear algebra",
    .params = along_params(),
    .shape_rule = "the dims of a",
    .example = R"(dim row = 2, col = 2
let a = const([row, col], [[1, 2], [2, 4]])
let along = const([row, col], [[1, 3], [5, 7]])
let change = cofactors_along(a, along, rows = row, cols = col)
assert all(abs(change - const([row, col], [[7, -5], [-3, 1]])) < 1e-6)
)",
    .type = along_type,
    .space = whole_matrix_space,
    .grad = along_grad,
    .flops = along_flops,
    .kernel = along_kernel,
    .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
