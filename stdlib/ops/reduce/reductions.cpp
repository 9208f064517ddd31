// The shape rule and the local kernel of all reductions.

#include "stdlib/ops/reduce/reductions.h"

#include "ir/builder.h"
#include "runtime/kernels/strided.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf {
namespace {

// Checks the shape behind `->` against the operand's.
bool check_target(const OpCall& call, const Shape& to, DiagSink& diags) {
  const Shape& x = call.operands[0].shape;
  for (const Dim& dim : to.dims()) {
    const Dim* own = x.find(dim.name);
    if (own == nullptr) {
      diags.error(DiagKind::kDimMissing, call.span,
                  spelled(call) + " of " + to_string(x) + " to " + to_string(to) + "; " +
                      in_backticks(dim.name) + " is not in the operand");
      return false;
    }
    if (own->size != dim.size) {
      diags.error(DiagKind::kDimSize, call.span,
                  spelled(call) + " of " + to_string(x) + " to " + to_string(to) + "; " +
                      in_backticks(dim.name) + " is " + std::to_string(own->size) +
                      " in the operand");
      return false;
    }
  }
  return true;
}

std::optional<TensorType> reduced(OpCall& call, Accepts what, DiagSink& diags) {
  if (!check_operand(call, 0, what, diags)) {
    return std::nullopt;
  }
  const std::optional<Shape> to = reduced_shape(call, diags);
  if (!to) {
    return std::nullopt;
  }
  return TensorType{.dtype = call.operands[0].dtype, .shape = *to};
}

}  // namespace

std::vector<OpParam> reduction_params() {
  return {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
          {.name = "over",
           .kind = ParamKind::kDims,
           .required = false,
           .help = "the dim or dims that are reduced (all)"},
          {.name = "to",
           .kind = ParamKind::kShape,
           .required = false,
           .help = "or the dims that are kept, in the wanted order"}};
}

std::optional<Shape> shape_without(OpCall& call, DiagSink& diags) {
  Shape rest = call.operands[0].shape;
  const auto* over = call.args.get<std::vector<Dim>>("over");
  if (over == nullptr) {
    return Shape();
  }
  for (const Dim& dim : *over) {
    if (!find_dim(call, 0, dim.name, diags)) {
      return std::nullopt;
    }
    if (!rest.has(dim.name)) {
      diags.error(DiagKind::kRepeatedDim, call.span,
                  spelled(call) + " over " + in_backticks(dim.name) + " twice");
      return std::nullopt;
    }
    rest = rest.without(dim.name);
  }
  return rest;
}

std::optional<Shape> reduced_shape(OpCall& call, DiagSink& diags) {
  const std::optional<Shape> rest = shape_without(call, diags);
  if (!rest) {
    return std::nullopt;
  }
  const auto* given = call.args.get<Shape>("to");
  const Shape to = given == nullptr ? *rest : *given;
  if (!check_target(call, to, diags)) {
    return std::nullopt;
  }
  if (call.args.find("over") != nullptr && !same_dims(to, *rest)) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) + " over the dims given leaves " + to_string(*rest) +
                    ", but the output shape is " + to_string(to) + "; one of them is enough");
    return std::nullopt;
  }
  call.args.erase("over");
  call.args.set("to", to);
  return to;
}

std::optional<TensorType> reduced_numbers(OpCall& call, DiagSink& diags) {
  return reduced(call, Accepts::kNumbers, diags);
}

std::optional<TensorType> reduced_floats(OpCall& call, DiagSink& diags) {
  return reduced(call, Accepts::kFloats, diags);
}

std::optional<TensorType> reduced_bools(OpCall& call, DiagSink& diags) {
  return reduced(call, Accepts::kBools, diags);
}

std::optional<TensorType> reduced_sums(OpCall& call, DiagSink& diags) {
  std::optional<TensorType> type = reduced_numbers(call, diags);
  const std::optional<DType> dtype = type ? summed_dtype(call, diags) : std::nullopt;
  return dtype ? std::optional(TensorType{.dtype = *dtype, .shape = type->shape}) : std::nullopt;
}

OpParam summed_param() {
  return {.name = "dtype",
          .kind = ParamKind::kDType,
          .required = false,
          .help = "f32 of bf16 or f16: the sum before it is rounded (that of the operands)"};
}

std::optional<DType> summed_dtype(OpCall& call, DiagSink& diags) {
  const DType own = call.operands[0].dtype;
  const DType dtype = dtype_arg(call.args, "dtype", own);
  if (dtype == own) {
    call.args.erase("dtype");
  } else if (dtype != wide_of(own)) {
    const std::string others =
        is_narrow(own) ? " or " + std::string(to_string(wide_of(own))) : std::string();
    diags.error(DiagKind::kDtypeMismatch, call.span,
                spelled(call) + " of " + to_string(call.operands[0]) + " as " +
                    std::string(to_string(dtype)) + "; it is summed as " +
                    std::string(to_string(own)) + others + ", `cast` makes anything else");
    return std::nullopt;
  }
  return dtype;
}

ValueId root_or_zero(Builder& b, ValueId x) {
  const ValueId zero = b.scalar(0, b.type_of(x).dtype);
  const ValueId none = b.emit("equal", {x, zero});
  return b.emit("where", {none, zero, b.emit("sqrt", {x})});
}

double flops_of_operand(const OpCall& call) {
  return static_cast<double>(call.operands[0].shape.volume());
}

namespace {

std::shared_ptr<const ReductionPlan> plan_of(const KernelCall& call, ReduceKind kind) {
  const TensorView& in = call.in[0];
  const std::vector<std::int64_t> strides = strides_of(in.shape);
  const std::vector<std::int64_t> out_strides = strides_by_name(call.out.shape, in.shape);
  Reduction reduction{.kind = kind, .kept = {}, .reduced = {}};
  for (std::size_t i = 0; i < in.shape.rank(); ++i) {
    if (call.out.shape.has(in.shape[i].name)) {
      reduction.kept.push_back(
          {.extent = in.shape[i].size, .in = strides[i], .out = out_strides[i]});
    }
  }
  for (std::size_t loop = 0; loop < call.space.loops.size(); ++loop) {
    if (call.space.loops[loop].role != DimRole::kReduced) {
      continue;
    }
    const std::size_t i = in.shape.index_of(call.space.loops[loop].name).value();
    reduction.reduced.push_back(
        {.extent = in.shape[i].size, .in = strides[i], .blocks = call.blocks(loop)});
  }
  return plan_reduction(reduction, in.dtype);
}

}  // namespace

void reduce_kernel(const KernelCall& call, ReduceKind kind) {
  const auto plan = made_once<ReductionPlan>(call, [&] { return plan_of(call, kind); });
  reduce(*plan, call.in[0].data, call.out.data, call.host.cpu());
}

}  // namespace mtf
