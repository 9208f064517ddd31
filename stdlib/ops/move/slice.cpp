// index and slice: one position of a dim, and a range of it.

#include "ir/rewrite/autodiff.h"
#include "runtime/kernels/moved.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

// ---- index -----------------------------------------------------------------------------------

std::optional<TensorType> index_type(OpCall& call, DiagSink& diags) {
  const TensorType& x = call.operands[0];
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "dim").name, diags);
  if (!dim) {
    return std::nullopt;
  }
  const std::int64_t at = int_arg(call.args, "at", 0);
  if (at < -dim->size || at >= dim->size) {
    diags.error(DiagKind::kBadIndex, call.span,
                "position " + std::to_string(at) + " of " + in_backticks(dim->name) +
                    ", which has size " + std::to_string(dim->size) + " in " + to_string(x.shape));
    return std::nullopt;
  }
  call.args.set("at", at < 0 ? at + dim->size : at);
  return TensorType{.dtype = x.dtype, .shape = x.shape.without(dim->name)};
}

IterationSpace index_space(const OpCall& call) {
  return moved_space(call, {.operand = dim_arg(call.args, "dim").name, .result = ""},
                     {.offset = int_arg(call.args, "at", 0)});
}

void index_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const Dim dim = dim_arg(args, "dim");
  const Shape shape = b.type_of(b.operand(0)).shape;
  const ValueId one = b.emit("broadcast", {b.upstream()}, to_shape(shape.resized(dim.name, 1)));
  OpArgs back;
  back.set("dim", one_dim(dim));
  back.set("begin", int_arg(args, "at", 0));
  back.set("size", shape.find(dim.name)->size);
  b.add_to(0, b.emit("pad", {one}, back));
}

// ---- slice -----------------------------------------------------------------------------------

std::optional<TensorType> slice_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "dim").name, diags);
  if (!dim) {
    return std::nullopt;
  }
  const std::int64_t begin = int_arg(call.args, "begin", 0);
  const std::int64_t end = int_arg(call.args, "end", dim->size);
  if (begin < 0 || end > dim->size || begin >= end) {
    diags.error(DiagKind::kBadIndex, call.span,
                "range " + std::to_string(begin) + ".." + std::to_string(end) + " of " +
                    in_backticks(dim->name) +
                    (begin >= end && begin >= 0 && end <= dim->size
                         ? ", which is empty"
                         : ", which has size " + std::to_string(dim->size)));
    return std::nullopt;
  }
  if (!check_step(call, diags)) {
    return std::nullopt;
  }
  const std::int64_t step = int_arg(call.args, "step", 1);
  const std::int64_t size = (end - begin + step - 1) / step;
  if (call.args.find("to") != nullptr && !fit_new_dim(call, "to", size, diags)) {
    return std::nullopt;
  }
  call.args.set("begin", begin);
  call.args.set("end", end);
  return cut_type(call, size, diags);
}

IterationSpace slice_space(const OpCall& call) {
  return moved_space(
      call, cut_of(call.args),
      {.stride = int_arg(call.args, "step", 1), .offset = int_arg(call.args, "begin", 0)});
}

void slice_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const CutDim cut = cut_of(args);
  OpArgs back;
  back.set("dim", one_dim(*b.type_of(b.result()).shape.find(cut.result)));
  const Dim whole = *b.type_of(b.operand(0)).shape.find(cut.operand);
  back.set("begin", int_arg(args, "begin", 0));
  back.set("size", whole.size);
  back.set("to", one_dim(whole));
  set_step(back, args);
  b.add_to(0, b.emit("pad", {b.upstream()}, back));
}

}  // namespace

const OpDef kIndex{
    .name = "index",
    .summary = "one position of a dim, which is removed: x[dim: at]; -1 is the last",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "dim", .kind = ParamKind::kDim, .help = "the dim"},
               {.name = "at", .kind = ParamKind::kInt, .help = "the position, from 0"}},
    .shape_rule = "the dims of x without `dim`",
    .example = R"(dim batch = 2, io = 3
let x = const([batch, io], [[1, 2, 3], [4, 5, 6]])
print x[batch: 1], x[io: 0]
)",
    .type = index_type,
    .space = index_space,
    .grad = index_grad,
    .kernel = moved_kernel,
    .linear = Linear::kEach,
    .narrow = true,
    .primitive = Primitive::kIndex};

const OpDef kSlice{
    .name = "slice",
    .summary = "a range of a dim: x[dim: begin..end], or `as` another dim",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "dim", .kind = ParamKind::kDim, .help = "the dim"},
               {.name = "begin", .kind = ParamKind::kInt, .help = "the first position"},
               {.name = "end", .kind = ParamKind::kInt, .help = "the position after the last"},
               resized_dim_param(),
               {.name = "step",
                .kind = ParamKind::kInt,
                .required = false,
                .help = "the distance between them (1)"}},
    .shape_rule = kDimResized,
    .example = R"(dim sample = 6, batch = 2
let x = range(sample)
print x[sample: 1..4]
print x[sample: 2..4 as batch]
print slice(x, sample, begin = 1, end = 6, step = 2)
)",
    .type = slice_type,
    .space = slice_space,
    .grad = slice_grad,
    .kernel = moved_kernel,
    .linear = Linear::kEach,
    .narrow = true,
    .algebra = Algebra::kMove,
    .primitive = Primitive::kSlice};

}  // namespace mtf::ops
