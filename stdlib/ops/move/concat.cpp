// concat and stack: several tensors as one, along a dim of theirs or a new one.

#include <algorithm>

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

// What an operand calls the dim that is joined: `over`, or where none has that, the one dim of its
// own beside those that all have alike. Nullopt: it has no such dim, or several.
std::optional<std::string> joined_dim(const OpCall& call, std::size_t operand) {
  const std::string over = dim_arg(call.args, "over").name;
  const auto has = [](const std::string& name, std::int64_t size) {
    return [name, size](const TensorType& type) {
      const Dim* dim = type.shape.find(name);
      return dim != nullptr && (size == 0 || dim->size == size);
    };
  };
  if (std::ranges::any_of(call.operands, has(over, 0))) {
    return call.operands[operand].shape.find(over) == nullptr ? std::nullopt : std::optional(over);
  }
  std::vector<std::string> own;
  for (const Dim& dim : call.operands[operand].shape.dims()) {
    if (!std::ranges::all_of(call.operands, has(dim.name, dim.size))) {
      own.push_back(dim.name);
    }
  }
  return own.size() == 1 ? std::optional(own.front()) : std::nullopt;
}

// The call with the joined dims called as the result's. Requires: each operand has one.
OpCall called_alike(const OpCall& call) {
  const std::string over = dim_arg(call.args, "over").name;
  OpCall alike = call;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const std::string own = *joined_dim(call, i);
    std::vector<Dim> dims(call.operands[i].shape.dims().begin(),
                          call.operands[i].shape.dims().end());
    for (Dim& dim : dims) {
      dim.name = dim.name == own ? over : dim.name;
    }
    alike.operands[i].shape = Shape(std::move(dims));
  }
  return alike;
}

// concat([x, 3], over = n)
std::string way_to_join(const Shape& shape, const std::string& over) {
  return shape.rank() == 0
             ? "; a number that is joined is a tensor of one, as in `fill([" + over + ": 1], …)`"
             : "; `rename(…, dim -> " + over + ")` says which of its dims is joined";
}

bool check_joined(const OpCall& call, DiagSink& diags) {
  const std::string over = dim_arg(call.args, "over").name;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (!joined_dim(call, i)) {
      diags.error(DiagKind::kDimMissing, call.span_of(i),
                  spelled(call) + " over " + in_backticks(over) + ", which is not in " +
                      to_string(call.operands[i].shape) +
                      way_to_join(call.operands[i].shape, over));
      return false;
    }
  }
  return true;
}

std::optional<TensorType> concat_type(OpCall& call, DiagSink& diags) {
  const std::string over = dim_arg(call.args, "over").name;
  if (!check_joined(call, diags)) {
    return std::nullopt;
  }
  OpCall alike = called_alike(call);
  if (!check_joinable(alike, over, diags)) {
    return std::nullopt;
  }
  std::int64_t size = 0;
  for (const TensorType& operand : alike.operands) {
    size += operand.shape.find(over)->size;
  }
  const bool is_new = !call.operands.empty() && call.operands[0].shape.find(over) == nullptr;
  if (is_new && !fit_new_dim(alike, "over", size, diags)) {
    return std::nullopt;
  }
  const TensorType& first = alike.operands[0];
  return result_type(call, first.dtype, first.shape.resized(over, size), diags);
}

CutDim concat_along(const OpCall& call, std::size_t operand) {
  return {.operand = *joined_dim(call, operand), .result = dim_arg(call.args, "over").name};
}

// A rank reads of each operand what lies in its block of the result.
IterationSpace concat_space(const OpCall& call) {
  const OpCall alike = called_alike(call);
  IterationSpace space = kept_space(alike);
  const std::string over = dim_arg(call.args, "over").name;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < alike.operands.size(); ++i) {
    const Shape& shape = alike.operands[i].shape;
    const std::size_t dim = shape.index_of(over).value();
    space.windows.push_back({.operand = i, .dim = dim, .offset = -begin});
    begin += shape[dim].size;
  }
  return space;
}

void concat_kernel(const KernelCall& call) {
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const CutDim cut = concat_along(call.call, i);
    const Interval want = extent_of(call.out, cut.result);
    const Interval have = extent_of(call.in[i], cut.operand);
    const std::int64_t first = begin + have.begin;
    const Interval meet = intersection({.begin = first, .extent = have.extent}, want);
    copy_cut(call.in[i], call.out, cut,
             {.begin = meet.begin - first, .at = meet.begin - want.begin, .count = meet.extent});
    begin += call.call.operands[i].shape.find(cut.operand)->size;
  }
}

void concat_grad(GradBuilder& b) {
  OpCall call;
  for (std::size_t i = 0; i < b.arity(); ++i) {
    call.operands.push_back(b.type_of(b.operand(i)));
  }
  call.args = b.args();
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < b.arity(); ++i) {
    const CutDim cut = concat_along(call, i);
    const Dim own = *call.operands[i].shape.find(cut.operand);
    if (b.wants(i)) {
      OpArgs part;
      part.set("dim", one_dim({.name = cut.result, .size = own.size}));
      part.set("begin", begin);
      part.set("end", begin + own.size);
      if (cut.operand != cut.result) {
        part.set("to", one_dim(own));
      }
      b.add_to(i, b.emit("slice", {b.upstream()}, part));
    }
    begin += own.size;
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
    .shape_rule =
        "the dims of the first, with `over` as long as all together; where none has `over`, it "
        "takes the place of the one dim that each has for itself",
    .example = R"(dim batch = 2, io = 3
let x = ones([batch, io])
print concat([x, 2 * x, x[io: 0..1]], over = io)
dim left = 1, right = 2, both = left + right
print concat([ones([batch, left]), zeros([batch, right])], over = both)
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
