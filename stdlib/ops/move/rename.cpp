// rename: a dim under another name. Nothing moves: both names are one loop.

#include <cstring>

#include "ir/kernel.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

Shape renamed(const Shape& shape, std::string_view from, const Dim& to) {
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end());
  for (Dim& dim : dims) {
    dim.name = dim.name == from ? to.name : dim.name;
  }
  return Shape(std::move(dims));
}

std::optional<TensorType> rename_type(OpCall& call, DiagSink& diags) {
  const TensorType& x = call.operands[0];
  const std::optional<Dim> from = find_dim(call, 0, dim_arg(call.args, "dim").name, diags);
  if (!from || !fit_new_dim(call, "to", from->size, diags)) {
    return std::nullopt;
  }
  const Dim to = dim_arg(call.args, "to");
  if (to.name != from->name && x.shape.has(to.name)) {
    diags.error(DiagKind::kRepeatedDim, call.span,
                "`rename` of " + in_backticks(from->name) + " to " + in_backticks(to.name) +
                    ", which is in " + to_string(x.shape) + " already");
    return std::nullopt;
  }
  return TensorType{.dtype = x.dtype, .shape = renamed(x.shape, from->name, to)};
}

IterationSpace rename_space(const OpCall& call) {
  IterationSpace space;
  DimMap map;
  for (const Dim& dim : call.result.shape.dims()) {
    map.push_back({space.loops.size()});
    space.loops.push_back({.name = dim.name, .size = dim.size});
  }
  space.operands = {map};
  space.result = map;
  return space;
}

void rename_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const Dim from = dim_arg(args, "dim");
  const Dim to = dim_arg(args, "to");
  OpArgs back;
  back.set("dim", one_dim(to));
  back.set("to", one_dim({.name = from.name, .size = to.size}));
  b.add_to(0, b.emit("rename", {b.upstream()}, back));
}

void rename_kernel(const KernelCall& call) {
  const auto bytes = static_cast<std::size_t>(call.out.shape.volume()) * bytes_of(call.out.dtype);
  if (bytes > 0) {
    std::memcpy(call.out.data, call.in[0].data, bytes);
  }
}

}  // namespace

const OpDef kRename{
    .name = "rename",
    .summary = "a dim under another name, laid out by the rules of that name",
    .family = "shapes",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "dim", .kind = ParamKind::kDim, .help = "the dim's present name"},
               {.name = "to",
                .kind = ParamKind::kNewDim,
                .help = "its new name, of the same size"}},
    .shape_rule = "the dims of x with one renamed, in its place",
    .example = R"(dim batch = 2, io = 3
let x = ones([batch, io])
print rename(x, io -> features)
)",
    .type = rename_type,
    .space = rename_space,
    .grad = rename_grad,
    .kernel = rename_kernel,
    .linear = Linear::kEach,
    .algebra = Algebra::kMove};

}  // namespace mtf::ops
