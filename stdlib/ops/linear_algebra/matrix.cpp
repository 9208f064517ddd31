#include "stdlib/ops/linear_algebra/matrix.h"

#include <algorithm>
#include <utility>

#include "runtime/kernels/strided.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf {

std::vector<OpParam> matrix_params() {
  return {{.name = "a", .kind = ParamKind::kTensor, .help = "the matrices"},
          {.name = "rows", .kind = ParamKind::kDim, .help = "the dim of their rows"},
          {.name = "cols", .kind = ParamKind::kDim, .help = "the dim of their columns"}};
}

MatrixDims matrix_dims(const OpCall& call) {
  const Shape& shape = call.operands[0].shape;
  const Dim rows = *shape.find(dim_arg(call.args, "rows").name);
  const Dim cols = *shape.find(dim_arg(call.args, "cols").name);
  return {.rows = rows, .cols = cols, .batch = shape.without(rows.name).without(cols.name)};
}

std::optional<MatrixDims> check_matrix(const OpCall& call, bool square, DiagSink& diags) {
  const std::string rows = dim_arg(call.args, "rows").name;
  const std::string cols = dim_arg(call.args, "cols").name;
  if (!find_dim(call, 0, rows, diags) || !find_dim(call, 0, cols, diags)) {
    return std::nullopt;
  }
  if (rows == cols) {
    diags.error(DiagKind::kRepeatedDim, call.span,
                spelled(call) + " with " + in_backticks(rows) +
                    " for both rows and columns; a matrix has two dims");
    return std::nullopt;
  }
  MatrixDims dims = matrix_dims(call);
  if (square && dims.rows.size != dims.cols.size) {
    diags.error(DiagKind::kDimSize, call.span_of(0),
                spelled(call) + " of matrices with " + std::to_string(dims.rows.size) +
                    " rows along " + in_backticks(rows) + " and " + std::to_string(dims.cols.size) +
                    " columns along " + in_backticks(cols) + "; it needs square ones");
    return std::nullopt;
  }
  return dims;
}

IterationSpace matrix_space(const OpCall& call, const std::vector<Dim>& whole) {
  IterationSpace space = space_by_name(call, DimRole::kWhole);
  for (LoopDim& loop : space.loops) {
    for (const Dim& dim : whole) {
      loop.role = loop.name == dim.name ? DimRole::kWhole : loop.role;
    }
  }
  return space;
}

IterationSpace whole_matrix_space(const OpCall& call) {
  const MatrixDims dims = matrix_dims(call);
  return matrix_space(call, {dims.rows, dims.cols});
}

std::optional<TensorType> square_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kFloats, diags) || !check_matrix(call, true, diags)) {
    return std::nullopt;
  }
  return call.operands[0];
}

std::optional<MatrixDims> check_factored(OpCall& call, const Factored& how, DiagSink& diags) {
  std::optional<MatrixDims> dims = check_matrix(call, how.square, diags);
  if (!dims || !check_operand(call, 0, Accepts::kFloats, diags) ||
      !fit_new_dim(call, "to", std::min(dims->rows.size, dims->cols.size), diags)) {
    return std::nullopt;
  }
  const Dim to = dim_arg(call.args, "to");
  if (call.operands[0].shape.has(to.name)) {
    diags.error(DiagKind::kRepeatedDim, call.span,
                spelled(call) + " to " + in_backticks(to.name) + ", which is a dim of " +
                    to_string(call.operands[0].shape) + "; " + std::string(how.what) +
                    " need one of their own");
    return std::nullopt;
  }
  return dims;
}

namespace {

IterationSpace factored_space(const OpCall& call) {
  const MatrixDims dims = matrix_dims(call);
  return matrix_space(call, {dims.rows, dims.cols, dim_arg(call.args, "to")});
}

}  // namespace

OpDef factorisation(OpDef def, std::string_view help) {
  def.family = "linear algebra";
  def.params = matrix_params();
  def.params.push_back({.name = "to", .kind = ParamKind::kNewDim, .help = help});
  def.space = factored_space;
  def.narrowing = Narrowing::kWide;
  return def;
}

Shape local_dims(const TensorView& view, const Shape& dims) {
  std::vector<Dim> own;
  for (const Dim& dim : dims.dims()) {
    const Dim* here = view.shape.find(dim.name);
    own.push_back(here == nullptr ? dim : *here);
  }
  return Shape(std::move(own));
}

std::vector<std::int64_t> places_in(const TensorView& view, const Shape& dims) {
  const std::vector<std::int64_t> strides = strides_by_name(view.shape, dims);
  std::vector<std::int64_t> places = {0};
  for (std::size_t i = 0; i < dims.rank(); ++i) {
    std::vector<std::int64_t> next;
    next.reserve(places.size() * static_cast<std::size_t>(dims[i].size));
    for (const std::int64_t place : places) {
      for (std::int64_t j = 0; j < dims[i].size; ++j) {
        next.push_back(place + j * strides[i]);
      }
    }
    places = std::move(next);
  }
  return places;
}

std::vector<double> load(const TensorView& view, std::int64_t first, const Places& rows,
                         const Places& cols) {
  std::vector<double> matrix;
  matrix.reserve(rows.size() * cols.size());
  with_float(view.dtype, [&](auto type) {
    const auto* from = elements<const decltype(type)>(view).data() + first;
    for (const std::int64_t row : rows) {
      for (const std::int64_t col : cols) {
        matrix.push_back(static_cast<double>(from[row + col]));
      }
    }
  });
  return matrix;
}

void store(std::span<const double> from, const TensorView& view, std::int64_t first,
           const Places& rows, const Places& cols) {
  with_float(view.dtype, [&](auto type) {
    using T = decltype(type);
    T* to = elements<T>(view).data() + first;
    std::size_t i = 0;
    for (const std::int64_t row : rows) {
      for (const std::int64_t col : cols) {
        to[row + col] = static_cast<T>(from[i++]);
      }
    }
  });
}

MatrixPlaces matrix_places(const KernelCall& call, const Dim& out_rows, const Dim& out_cols) {
  const MatrixDims dims = matrix_dims(call.call);
  const Shape batch = local_dims(call.out, dims.batch);
  return {.from = places_in(call.in[0], batch),
          .rows = places_in(call.in[0], Shape({dims.rows})),
          .cols = places_in(call.in[0], Shape({dims.cols})),
          .to = places_in(call.out, batch),
          .out_rows = places_in(call.out, Shape({out_rows})),
          .out_cols = places_in(call.out, Shape({out_cols}))};
}

void make_symmetric(std::span<double> matrix, std::size_t n) {
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < r; ++c) {
      matrix[r * n + c] = matrix[c * n + r] = (matrix[r * n + c] + matrix[c * n + r]) / 2;
    }
  }
}

Dim beside(const Dim& dim) {
  return {.name = dim.name + "~", .size = dim.size};
}

ValueId renamed(GradBuilder& b, ValueId x, const Dim& from, const Dim& to) {
  OpArgs args;
  args.set("dim", one_dim(from));
  args.set("to", one_dim(to));
  return b.emit("rename", {x}, std::move(args));
}

ValueId product(GradBuilder& b, std::vector<ValueId> factors, const Shape& to) {
  return b.emit("einsum", std::move(factors), to_shape(to));
}

ValueId transposed(GradBuilder& b, ValueId x, const Dim& rows, const Dim& cols) {
  Dim aside = beside(rows);
  while (b.type_of(x).shape.has(aside.name)) {
    aside = beside(aside);
  }
  return renamed(b, renamed(b, renamed(b, x, rows, aside), cols, rows), aside, cols);
}

ValueId symmetric(GradBuilder& b, ValueId x, const Dim& rows, const Dim& cols) {
  return b.emit("mul", {b.emit("add", {x, transposed(b, x, rows, cols)}), b.scalar(0.5)});
}

ValueId inverse_gaps(GradBuilder& b, ValueId x, const Dim& to, const Dim& other) {
  const ValueId gap = b.emit("sub", {renamed(b, x, to, other), x});
  OpArgs hot;
  hot.set("dim", one_dim(other));
  hot.set("dtype", DType::kBool);
  OpArgs along;
  along.set("dim", one_dim(to));
  const ValueId same = b.emit("one_hot", {b.emit("range", {}, along)}, hot);
  const ValueId safe = b.emit("where", {same, b.scalar(1), gap});
  return b.emit("where", {same, b.scalar(0), b.emit("reciprocal", {safe})});
}

OpArgs matrix_args(const Dim& rows, const Dim& cols) {
  OpArgs args;
  args.set("rows", one_dim(rows));
  args.set("cols", one_dim(cols));
  return args;
}

}  // namespace mtf
