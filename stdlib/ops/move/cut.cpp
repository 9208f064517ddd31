// One dim cut or moved: the loops, and the copy of a part of it.

#include "stdlib/ops/move/cut.h"

#include "stdlib/ops/rules.h"

namespace mtf {

OpParam resized_dim_param() {
  return {.name = "to",
          .kind = ParamKind::kNewDim,
          .required = false,
          .help = "the dim of the result (the same, resized)"};
}

CutDim cut_of(const OpArgs& args) {
  const std::string dim = dim_arg(args, "dim").name;
  return {.operand = dim, .result = args.find("to") == nullptr ? dim : dim_arg(args, "to").name};
}

// The operand's shape with the cut dim of that name and size, in its place.
std::optional<TensorType> cut_type(const OpCall& call, std::int64_t size, DiagSink& diags) {
  const CutDim cut = cut_of(call.args);
  const TensorType& x = call.operands[0];
  std::vector<Dim> dims(x.shape.dims().begin(), x.shape.dims().end());
  for (Dim& dim : dims) {
    dim = dim.name == cut.operand ? Dim{.name = cut.result, .size = size} : dim;
  }
  if (!check_distinct(call, dims, diags)) {
    return std::nullopt;
  }
  return result_type(call, x.dtype, Shape(std::move(dims)), diags);
}

IterationSpace cut_space(const OpCall& call, const CutDim& cut, DimRole role) {
  IterationSpace space;
  for (const Dim& dim : call.result.shape.dims()) {
    space.result.push_back({space.loops.size()});
    const bool changes = dim.name == cut.result && dim.name == cut.operand;
    space.loops.push_back({.name = changes ? dim.name + "'" : dim.name, .size = dim.size});
  }
  for (const TensorType& operand : call.operands) {
    DimMap map;
    for (const Dim& dim : operand.shape.dims()) {
      if (dim.name == cut.operand) {
        map.push_back({space.loops.size()});
        space.loops.push_back({.name = dim.name, .size = dim.size, .role = role});
        continue;
      }
      map.push_back({call.result.shape.index_of(dim.name).value()});
    }
    space.operands.push_back(std::move(map));
  }
  return space;
}

IterationSpace moved_space(const OpCall& call, const CutDim& cut, IndexMap map) {
  IterationSpace space = cut_space(call, cut, DimRole::kMoved);
  const Shape& operand = call.operands.front().shape;
  const std::size_t dim = operand.index_of(cut.operand).value();
  const std::optional<std::size_t> to = call.result.shape.index_of(cut.result);
  if (to && map == IndexMap{} && operand[dim].size == call.result.shape[*to].size) {
    space.operands[0][dim] = space.result[*to];  // one loop under two names
    space.loops.pop_back();
    space.loops[space.result[*to].front()].name = cut.result;
    return space;
  }
  space.moved = {{.dim = dim, .to = to, .map = map}};
  return space;
}

void copy_cut(const TensorView& in, const TensorView& out, const CutDim& cut, const CutCopy& copy) {
  const std::vector<std::int64_t> from = strides_of(in.shape);
  const std::vector<std::int64_t> to = strides_of(out.shape);
  std::vector<StridedDim> dims;
  std::int64_t start = 0;
  std::int64_t target = 0;
  for (std::size_t i = 0; i < in.shape.rank(); ++i) {
    const bool changes = in.shape[i].name == cut.operand;
    const auto j = out.shape.index_of(changes ? cut.result : in.shape[i].name);
    const std::int64_t step = j ? to[*j] : 0;  // a dim that is picked from is not in the result
    dims.push_back(
        {.extent = changes ? copy.count : in.shape[i].size, .from = from[i], .to = step});
    start += changes ? copy.begin * from[i] : 0;
    target += changes ? copy.at * step : 0;
  }
  if (copy.count > 0) {
    copy_strided(std::move(dims), bytes_of(in.dtype), at(in, start), at_mutable(out, target));
  }
}

bool check_step(const OpCall& call, DiagSink& diags) {
  const std::int64_t step = int_arg(call.args, "step", 1);
  if (step < 1) {
    diags.error(DiagKind::kBadIndex, call.span,
                "step " + std::to_string(step) + " of " + spelled(call) +
                    "; it is at least 1 (`reverse` turns a dim around)");
  }
  return step >= 1;
}

void set_step(OpArgs& back, const OpArgs& args) {
  if (const std::int64_t step = int_arg(args, "step", 1); step != 1) {
    back.set("step", step);
  }
}

Interval extent_of(const TensorView& view, std::string_view dim) {
  const std::size_t i = view.shape.index_of(dim).value();
  return {.begin = view.offset.empty() ? 0 : view.offset[i], .extent = view.shape[i].size};
}

}  // namespace mtf
