// fill, zeros, ones and const: tensors of known numbers.

#include <algorithm>

#include "ir/builder.h"
#include "ir/kernel.h"
#include "ir/support/number.h"
#include "runtime/kernels/strided.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

bool check_shape(const OpCall& call, DiagSink& diags) {
  if (call.args.get<Shape>("shape") != nullptr) {
    return true;
  }
  diags.error(DiagKind::kMissingArgument, call.span,
              spelled(call) + " without a shape, as in `" + std::string(call.op->name) +
                  "([batch, io]" + (call.op->name == "fill" ? ", 0.5" : "") + ")`");
  return false;
}

// ---- fill ------------------------------------------------------------------------------------

std::optional<TensorType> fill_type(OpCall& call, DiagSink& diags) {
  const DType dtype = dtype_arg(call.args, "dtype", DType::kF32);
  const double value = real_arg(call.args, "value", 0);
  if (!check_shape(call, diags) || !check_number(call, dtype, value, diags)) {
    return std::nullopt;
  }
  call.args.set("value", value);
  call.args.set("dtype", dtype);
  return result_type(call, dtype, shape_arg(call.args, "shape"), diags);
}

void fill_tile(const TileCall& call, std::span<const void* const> /*in*/, void* out,
               std::size_t n) {
  const double value = real_arg(*call.args, "value", 0);
  with_stored(call.to, [&](auto type) {
    using T = decltype(type);
    std::fill_n(static_cast<T*>(out), n, static_cast<T>(value));
  });
}

std::optional<TensorType> constant_type(OpCall& call, DiagSink& diags) {
  if (!check_shape(call, diags)) {
    return std::nullopt;
  }
  return result_type(call, dtype_arg(call.args, "dtype", DType::kF32),
                     shape_arg(call.args, "shape"), diags);
}

ValueId filled(Builder& b, const OpCall& call, double value) {
  OpArgs args;
  args.set("shape", call.result.shape);
  args.set("value", value);
  args.set("dtype", call.result.dtype);
  return b.emit("fill", {}, args);
}

std::optional<ValueId> expand_zeros(Builder& b, const OpCall& call,
                                    std::span<const ValueId> /*operands*/) {
  return filled(b, call, 0);
}

std::optional<ValueId> expand_ones(Builder& b, const OpCall& call,
                                   std::span<const ValueId> /*operands*/) {
  return filled(b, call, 1);
}

std::vector<OpParam> constant_params() {
  return {{.name = "shape",
           .kind = ParamKind::kShape,
           .required = false,
           .help = "the dims (of a param or state, its own)"},
          {.name = "dtype", .kind = ParamKind::kDType, .required = false, .help = "(f32)"}};
}

// ---- const -----------------------------------------------------------------------------------

std::optional<TensorType> const_type(OpCall& call, DiagSink& diags) {
  const DType dtype = dtype_arg(call.args, "dtype", DType::kF32);
  const Shape shape = shape_arg(call.args, "shape");
  const auto* data = call.args.get<std::vector<double>>("data");
  const std::optional<std::int64_t> volume = shape.checked_volume();
  const std::size_t given = data == nullptr ? 0 : data->size();
  if (!volume || static_cast<std::size_t>(*volume) != given) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`const` of " + to_string(shape) + " needs " +
                    (volume ? plural(*volume, "number") : "countless numbers") + ", and has " +
                    std::to_string(given));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < given; ++i) {
    if (!check_number(call, dtype, (*data)[i], diags)) {
      return std::nullopt;
    }
  }
  call.args.set("dtype", dtype);
  return TensorType{.dtype = dtype, .shape = shape};
}

// This rank's box of the numbers.
template <typename T>
void cut_box(const KernelCall& call, std::span<const double> data) {
  std::vector<T> whole(data.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    whole[i] = static_cast<T>(data[i]);
  }
  const std::vector<std::int64_t> from = strides_of(call.call.result.shape);
  const std::vector<std::int64_t> to = strides_of(call.out.shape);
  std::vector<StridedDim> dims;
  std::int64_t start = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    dims.push_back({.extent = call.out.shape[i].size, .from = from[i], .to = to[i]});
    start += call.out.offset.empty() ? 0 : call.out.offset[i] * from[i];
  }
  if (!whole.empty()) {
    copy_strided(std::move(dims), sizeof(T), whole.data() + start, call.out.data);
  }
}

void const_kernel(const KernelCall& call) {
  const auto* data = call.call.args.get<std::vector<double>>("data");
  with_stored(call.out.dtype, [&](auto type) { cut_box<decltype(type)>(call, *data); });
}

}  // namespace

const OpDef kFill{.name = "fill",
                  .summary = "one number everywhere",
                  .family = "making tensors",
                  .params = {{.name = "shape",
                              .kind = ParamKind::kShape,
                              .required = false,
                              .help = "the dims (of a param or state, its own)"},
                             {.name = "value", .kind = ParamKind::kReal, .help = "the number"},
                             {.name = "dtype",
                              .kind = ParamKind::kDType,
                              .required = false,
                              .help = "(f32, of booleans)"}},
                  .shape_rule = "the shape",
                  .example = "dim batch = 2, io = 3\nprint fill([batch, io], 0.5)\n",
                  .type = fill_type,
                  .space = kept_space,
                  .tile = fill_tile,
                  .narrow = true,
                  .primitive = Primitive::kFill};

const OpDef kZeros{.name = "zeros",
                   .summary = "0 everywhere",
                   .family = "making tensors",
                   .params = constant_params(),
                   .shape_rule = "the shape",
                   .example = "dim batch = 2, io = 3\nprint zeros([batch, io])\n",
                   .type = constant_type,
                   .expand = expand_zeros,
                   .narrow = true};

const OpDef kOnes{.name = "ones",
                  .summary = "1 everywhere",
                  .family = "making tensors",
                  .params = constant_params(),
                  .shape_rule = "the shape",
                  .example = "dim batch = 2, io = 3\nprint ones([batch, io])\n",
                  .type = constant_type,
                  .expand = expand_ones,
                  .narrow = true};

const OpDef kConst{
    .name = "const",
    .summary = "the numbers given, in nested lists",
    .family = "making tensors",
    .params = {{.name = "shape", .kind = ParamKind::kShape, .help = "the dims"},
               {.name = "data", .kind = ParamKind::kData, .help = "as many numbers, row-major"},
               {.name = "dtype",
                .kind = ParamKind::kDType,
                .required = false,
                .help = "(f32, of booleans bool; integers serve as i32 where it is needed)"}},
    .shape_rule = "the shape",
    .example = "print const([a: 2, b: 3], [[1, 2, 3], [4, 5, 6]])\n",
    .type = const_type,
    .space = kept_space,
    .kernel = const_kernel,
    .narrow = true};

}  // namespace mtf::ops
