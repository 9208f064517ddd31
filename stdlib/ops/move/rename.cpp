// rename: dims under other names. Nothing moves: both names of one are one loop.

#include <algorithm>
#include <cstring>

#include "ir/kernel.h"
#include "ir/rewrite/autodiff.h"
#include "ir/support/number.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

using Dims = std::vector<Dim>;

const Dims& dims_arg(const OpArgs& args, std::string_view name) {
  return *args.get<Dims>(name);
}

Shape renamed(const Shape& shape, const Dims& from, const Dims& to) {
  std::vector<Dim> dims(shape.dims().begin(), shape.dims().end());
  for (Dim& dim : dims) {
    const auto found = std::ranges::find(from, dim.name, &Dim::name);
    dim.name =
        found == from.end() ? dim.name : to[static_cast<std::size_t>(found - from.begin())].name;
  }
  return Shape(std::move(dims));
}

// As many names as dims, each of them of its dim's size.
bool fit_names(OpCall& call, const Dims& from, DiagSink& diags) {
  Dims to = dims_arg(call.args, "to");
  if (to.size() != from.size()) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`rename` of " + plural(from.size(), "dim") + " to " + plural(to.size(), "name"));
    return false;
  }
  bool fits = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    fits = fit_dim(call, to[i], from[i].size, diags) && fits;
  }
  call.args.set("to", std::move(to));
  return fits;
}

std::optional<TensorType> rename_type(OpCall& call, DiagSink& diags) {
  const TensorType& x = call.operands[0];
  Dims from = dims_arg(call.args, "dim");
  for (Dim& dim : from) {
    const std::optional<Dim> own = find_dim(call, 0, dim.name, diags);
    if (!own) {
      return std::nullopt;
    }
    dim = *own;
  }
  if (!check_distinct(call, from, diags) || !fit_names(call, from, diags)) {
    return std::nullopt;
  }
  const Dims& to = dims_arg(call.args, "to");
  Shape others = x.shape;
  for (const Dim& dim : from) {
    others = others.without(dim.name);
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (others.has(to[i].name)) {
      diags.error(DiagKind::kRepeatedDim, call.span,
                  "`rename` of " + in_backticks(from[i].name) + " to " + in_backticks(to[i].name) +
                      ", which is in " + to_string(x.shape) + " already");
      return std::nullopt;
    }
  }
  if (!check_distinct(call, to, diags)) {
    return std::nullopt;
  }
  return TensorType{.dtype = x.dtype, .shape = renamed(x.shape, from, to)};
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
  Dims from = dims_arg(args, "dim");
  const Dims& to = dims_arg(args, "to");
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i].size = to[i].size;
  }
  OpArgs back;
  back.set("dim", to);
  back.set("to", std::move(from));
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
    .summary = "dims under other names, laid out by the rules of these",
    .family = "shapes",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "dim", .kind = ParamKind::kDims, .help = "the present name"},
               {.name = "to",
                .kind = ParamKind::kNewDims,
                .help = "the new name, of the same size"}},
    .shape_rule = "the dims of x with new names, in their places",
    .example = R"(dim batch = 2, io = 3
let x = ones([batch, io])
print rename(x, io -> features)
print rename(x, batch -> row, io -> col)
)",
    .type = rename_type,
    .space = rename_space,
    .grad = rename_grad,
    .kernel = rename_kernel,
    .linear = Linear::kEach,
    .narrow = true,
    .algebra = Algebra::kMove};

}  // namespace mtf::ops
