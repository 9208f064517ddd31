// one_hot, range and argmax: between numbers and places along a dim.

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "ir/builder.h"
#include "ir/kernel.h"
#include "runtime/kernels/strided.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

bool check_numbers(const OpCall& call, DType dtype, DiagSink& diags) {
  if (dtype != DType::kU8) {
    return true;
  }
  diags.error(DiagKind::kDtypeMismatch, call.span,
              spelled(call) + " cannot make u8; `cast` the result");
  return false;
}

// Whether places of the dim fit the dtype that they are counted in.
bool check_places(const OpCall& call, const Dim& dim, DType dtype, std::string_view way_out,
                  DiagSink& diags) {
  const auto bits = static_cast<int>(8 * bytes_of(dtype));
  if (!is_integer(dtype) || dtype == DType::kI64 || (dim.size >> (bits - 1)) == 0) {
    return true;
  }
  diags.error(DiagKind::kOverflow, call.span,
              "places of `" + dim.name + "`, of size " + std::to_string(dim.size) +
                  ", are beyond the range of " + std::string(to_string(dtype)) +
                  std::string(way_out));
  return false;
}

// ---- range -----------------------------------------------------------------------------------

std::optional<TensorType> range_type(OpCall& call, DiagSink& diags) {
  const DType dtype = dtype_arg(call.args, "dtype", DType::kI32);
  if (!accepts(Accepts::kNumbers, dtype)) {
    diags.error(
        DiagKind::kDtypeMismatch, call.span,
        "`range` of " + std::string(to_string(dtype)) + "; it counts in integers or floats");
    return std::nullopt;
  }
  const Dim dim = dim_arg(call.args, "dim");
  if (!check_places(call, dim, dtype, "; `dtype = i64` counts so far", diags)) {
    return std::nullopt;
  }
  call.args.set("dtype", dtype);
  return result_type(call, dtype, Shape({dim}), diags);
}

void range_kernel(const KernelCall& call) {
  const std::int64_t first = extent_of(call.out, call.out.shape[0].name).begin;
  with_number(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    const std::span<T> out = elements<T>(call.out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<T>(first + static_cast<std::int64_t>(i));
    }
  });
}

// ---- one_hot ---------------------------------------------------------------------------------

std::optional<TensorType> one_hot_type(OpCall& call, DiagSink& diags) {
  const DType dtype = dtype_arg(call.args, "dtype", DType::kF32);
  const Dim dim = dim_arg(call.args, "dim");
  const Shape& labels = call.operands[0].shape;
  if (!check_operand(call, 0, Accepts::kIndices, diags) || !check_numbers(call, dtype, diags)) {
    return std::nullopt;
  }
  if (labels.has(dim.name)) {
    diags.error(DiagKind::kRepeatedDim, call.span,
                "`one_hot` adds " + in_backticks(dim.name) + ", which is in " + to_string(labels) +
                    " already");
    return std::nullopt;
  }
  call.args.set("dtype", dtype);
  return result_type(call, dtype, labels.with(dim), diags);
}

void one_hot_kernel(const KernelCall& call) {
  const Interval classes = extent_of(call.out, dim_arg(call.call.args, "dim").name);
  fill_zero(call.out, false);
  const ElementBytes one = element_of(call.out.dtype, 1);
  with_stored(call.in[0].dtype, [&](auto label_type) {
    if constexpr (std::is_integral_v<decltype(label_type)>) {
      const auto labels = elements<const decltype(label_type)>(call.in[0]);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        const std::int64_t at = static_cast<std::int64_t>(labels[i]) - classes.begin;
        if (at >= 0 && at < classes.extent) {
          const std::int64_t place = static_cast<std::int64_t>(i) * classes.extent + at;
          std::memcpy(at_mutable(call.out, place), one.data(), bytes_of(call.out.dtype));
        }
      }
    }
  });
}

// ---- argmax ----------------------------------------------------------------------------------

std::optional<TensorType> argmax_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "over").name, diags);
  if (!dim || !check_operand(call, 0, Accepts::kNumbers, diags) ||
      !check_places(call, *dim, DType::kI32, "", diags)) {
    return std::nullopt;
  }
  return TensorType{.dtype = DType::kI32, .shape = call.operands[0].shape.without(dim->name)};
}

// The least position at which the element is the maximum, or NaN.
std::optional<ValueId> argmax_expand(Builder& b, const OpCall& call,
                                     std::span<const ValueId> operands) {
  const ValueId x = b.emit("stop_gradient", {operands[0]});
  const TensorType type = b.type_of(x);
  const Dim over = *type.shape.find(dim_arg(call.args, "over").name);
  const ValueId max = b.emit("max", {x}, to_shape(call.result.shape));
  ValueId best = b.emit("equal", {x, max});
  if (is_float(type.dtype)) {
    best = b.emit("logical_or", {best, b.emit("not_equal", {x, x})});
  }
  OpArgs count;
  count.set("dim", one_dim(over));
  count.set("dtype", DType::kI32);
  const ValueId places = b.emit("range", {}, count);
  const ValueId beyond = b.scalar(static_cast<double>(over.size), DType::kI32);
  const ValueId chosen = b.emit("where", {best, places, beyond});
  return b.emit("min", {chosen}, to_shape(call.result.shape));
}

}  // namespace

const OpDef kRange{
    .name = "range",
    .summary = "0, 1, 2… along a dim",
    .family = "making tensors",
    .params = {{.name = "dim", .kind = ParamKind::kDim, .help = "the dim"},
               {.name = "dtype", .kind = ParamKind::kDType, .required = false, .help = "(i32)"}},
    .shape_rule = "the dim",
    .example = "dim length = 4\nprint range(length)\n",
    .type = range_type,
    .space = kept_space,
    .kernel = range_kernel,
    .primitive = Primitive::kRange};

const OpDef kOneHot{
    .name = "one_hot",
    .summary =
        "1 at each label's index along a new dim, 0 elsewhere; all 0 for a label out of range",
    .family = "indexing",
    .params = {{.name = "labels", .kind = ParamKind::kTensor, .help = "integers from 0"},
               {.name = "dim", .kind = ParamKind::kDim, .help = "the new dim"},
               {.name = "dtype", .kind = ParamKind::kDType, .required = false, .help = "(f32)"}},
    .shape_rule = "the dims of the labels, then the new dim",
    .example = R"(dim batch = 3, classes = 4
print one_hot(const([batch], [2, 0, 3], dtype = i32), classes)
)",
    .type = one_hot_type,
    .space = kept_space,
    .kernel = one_hot_kernel,
    .narrow = true};

const OpDef kArgmax{
    .name = "argmax",
    .summary =
        "the index of the largest element along a dim, the first of several; NaN counts as "
        "largest",
    .family = "reductions",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "over", .kind = ParamKind::kDim, .help = "the dim"}},
    .shape_rule = "the dims of x without `over`, as i32",
    .example = R"(dim batch = 2, io = 3
print argmax(const([batch, io], [[1, 5, 3], [4, 2, 6]]), over = io)
)",
    .type = argmax_type,
    .expand = argmax_expand};

}  // namespace mtf::ops
