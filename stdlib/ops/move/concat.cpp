// concat and stack: several tensors as one, along a dim of theirs or a new one.

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

bool check_joinable(const OpCall& call, std::string_view except, DiagSink& diags) {
  if (call.operands.empty()) {
    diags.error(DiagKind::kMissingArgument, call.span,
                spelled(call) + " of nothing; it needs a tensor");
    return false;
  }
  const Shape first = call.operands[0].shape.without(except);
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    const Shape other = call.operands[i].shape.without(except);
    if (!same_dims(first, other)) {
      diags.error(DiagKind::kDimSize, call.span_of(i),
                  spelled(call) + " of " + to_string(call.operands[0].shape) + " and " +
                      to_string(call.operands[i].shape) + ", which differ in more than " +
                      (except.empty() ? "order" : in_backticks(except)));
      return false;
    }
  }
  return check_same_dtype(call, 0, diags);
}

std::optional<TensorType> concat_type(OpCall& call, DiagSink& diags) {
  const std::string over = dim_arg(call.args, "over").name;
  std::int64_t size = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const std::optional<Dim> dim = find_dim(call, i, over, diags);
    if (!dim) {
      return std::nullopt;
    }
    size += dim->size;
  }
  if (!check_joinable(call, over, diags)) {
    return std::nullopt;
  }
  const TensorType& first = call.operands[0];
  return result_type(call, first.dtype, first.shape.resized(over, size), diags);
}

CutDim concat_along(const OpCall& call) {
  const std::string over = dim_arg(call.args, "over").name;
  return {.operand = over, .result = over};
}

// A rank reads of each operand what lies in its block of the result.
IterationSpace concat_space(const OpCall& call) {
  IterationSpace space = kept_space(call);
  const std::string over = dim_arg(call.args, "over").name;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Shape& shape = call.operands[i].shape;
    const std::size_t dim = shape.index_of(over).value();
    space.windows.push_back({.operand = i, .dim = dim, .offset = -begin});
    begin += shape[dim].size;
  }
  return space;
}

void concat_kernel(const KernelCall& call) {
  const CutDim cut = concat_along(call.call);
  const Interval want = extent_of(call.out, cut.result);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const Interval have = extent_of(call.in[i], cut.operand);
    const std::int64_t first = begin + have.begin;
    const Interval meet = intersection({.begin = first, .extent = have.extent}, want);
    copy_cut(call.in[i], call.out, cut,
             {.begin = meet.begin - first, .at = meet.begin - want.begin, .count = meet.extent});
    begin += call.call.operands[i].shape.find(cut.operand)->size;
  }
}

void concat_grad(GradBuilder& b) {
  const Dim over = dim_arg(b.args(), "over");
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < b.arity(); ++i) {
    const std::int64_t end = begin + b.type_of(b.operand(i)).shape.find(over.name)->size;
    if (b.wants(i)) {
      OpArgs part;
      part.set("dim", one_dim(over));
      part.set("begin", begin);
      part.set("end", end);
      b.add_to(i, b.emit("slice", {b.upstream()}, part));
    }
    begin = end;
  }
}

std::optional<TensorType> stack_type(OpCall& call, DiagSink& diags) {
  const auto count = static_cast<std::int64_t>(call.operands.size());
  if (!check_joinable(call, "", diags) || !fit_new_dim(call, "dim", count, diags)) {
    return std::nullopt;
  }
  std::vector<Dim> dims = {dim_arg(call.args, "dim")};
  const Shape& first = call.operands[0].shape;
  dims.insert(dims.end(), first.dims().begin(), first.dims().end());
  if (!check_distinct(call, dims, diags)) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, Shape(std::move(dims)), diags);
}

void stack_kernel(const KernelCall& call) {
  const std::string dim = dim_arg(call.call.args, "dim").name;
  const Interval want = extent_of(call.out, dim);
  const std::vector<std::int64_t> to = strides_of(call.out.shape);  // the new dim is the first
  for (std::int64_t i = 0; i < want.extent; ++i) {
    TensorView part = call.out;
    part.data = at_mutable(call.out, i * to[0]);
    part.shape = call.out.shape.without(dim);
    const TensorView& in = call.in[static_cast<std::size_t>(want.begin + i)];
    copy_cut(in, part, {}, {.count = 1});
  }
}

void stack_grad(GradBuilder& b) {
  const Dim dim = dim_arg(b.args(), "dim");
  for (std::size_t i = 0; i < b.arity(); ++i) {
    if (b.wants(i)) {
      OpArgs pick;
      pick.set("dim", one_dim(dim));
      pick.set("at", static_cast<std::int64_t>(i));
      b.add_to(i, b.emit("index", {b.upstream()}, pick));
    }
  }
}

}  // namespace

const OpDef kConcat{
    .name = "concat",
    .summary = "several tensors one after another along a dim",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensors, .help = "the tensors, as a list"},
               {.name = "over", .kind = ParamKind::kDim, .help = "the dim that adds up"}},
    .shape_rule = "the dims of the first, with `over` as long as all together",
    .example = R"(dim batch = 2, io = 3
let x = ones([batch, io])
print concat([x, 2 * x, x[io: 0..1]], over = io)
)",
    .type = concat_type,
    .space = concat_space,
    .grad = concat_grad,
    .kernel = concat_kernel,
    .linear = Linear::kJoint,
    .narrow = true,
    .algebra = Algebra::kMove,
    .primitive = Primitive::kConcat};

const OpDef kStack{
    .name = "stack",
    .summary = "several tensors side by side along a new dim",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensors, .help = "the tensors, as a list"},
               {.name = "dim", .kind = ParamKind::kNewDim, .help = "the new dim"}},
    .shape_rule = "the new dim, then the dims of the first",
    .example = R"(dim io = 3
let x = ones([io])
print stack([x, 2 * x], layer)
)",
    .type = stack_type,
    .space = kept_space,
    .grad = stack_grad,
    .kernel = stack_kernel,
    .linear = Linear::kJoint,
    .narrow = true,
    .primitive = Primitive::kStack};

}  // namespace mtf::ops
