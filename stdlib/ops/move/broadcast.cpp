// broadcast and transpose: the dims of a larger shape, or the same dims in another order.

#include "ir/rewrite/autodiff.h"
#include "runtime/kernels/strided.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> broadcast_type(OpCall& call, DiagSink& diags) {
  const TensorType& x = call.operands[0];
  const Shape to = shape_arg(call.args, "to");
  for (const Dim& dim : x.shape.dims()) {
    const Dim* wide = to.find(dim.name);
    if (wide != nullptr && wide->size == dim.size) {
      continue;
    }
    const std::string why =
        wide == nullptr ? ", which lacks " + in_backticks(dim.name) + "; `sum` removes dims"
                        : "; " + in_backticks(dim.name) + " has two sizes, " +
                              std::to_string(dim.size) + " and " + std::to_string(wide->size);
    diags.error(wide == nullptr ? DiagKind::kBroadcastConflict : DiagKind::kDimSize,
                call.span_of(0),
                "`broadcast` of " + to_string(x.shape) + " to " + to_string(to) + why);
    return std::nullopt;
  }
  return result_type(call, x.dtype, to, diags);
}

std::optional<TensorType> transpose_type(OpCall& call, DiagSink& diags) {
  const TensorType& x = call.operands[0];
  const Shape to = shape_arg(call.args, "to");
  if (same_dims(x.shape, to)) {
    return TensorType{.dtype = x.dtype, .shape = to};
  }
  diags.error(DiagKind::kBadReshape, call.span_of(0),
              "`transpose` of " + to_string(x.shape) + " to " + to_string(to) +
                  ", which are not the same dims");
  return std::nullopt;
}

// Both: add_to sums over the dims that the operand lacks, and needs no order.
void broadcast_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
}

void transpose_kernel(const KernelCall& call) {
  const TensorView& in = call.in[0];
  const std::vector<std::int64_t> to = strides_of(call.out.shape);
  const std::vector<std::int64_t> from = strides_by_name(in.shape, call.out.shape);
  std::vector<StridedDim> dims;
  for (std::size_t i = 0; i < call.out.shape.rank(); ++i) {
    dims.push_back({.extent = call.out.shape[i].size, .from = from[i], .to = to[i]});
  }
  copy_strided(std::move(dims), bytes_of(in.dtype), in.data, call.out.data, call.host.cpu());
}

}  // namespace

const OpDef kBroadcast{
    .name = "broadcast",
    .summary = "the tensor repeated along new dims",
    .family = "shapes",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "to", .kind = ParamKind::kShape, .help = "the result's dims, any order"}},
    .shape_rule = "the dims after `->`, which hold all dims of x",
    .example = R"(dim batch = 2, io = 3
print broadcast(const([io], [1, 2, 3]) -> [batch, io])
)",
    .type = broadcast_type,
    .space = kept_space,
    .grad = broadcast_grad,
    .tile = copy_tile,
    .linear = Linear::kEach,
    .narrow = true,
    .algebra = Algebra::kBroadcast};

const OpDef kTranspose{
    .name = "transpose",
    .summary = "the same dims in another order in memory and in print",
    .family = "shapes",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "to", .kind = ParamKind::kShape, .help = "the same dims, reordered"}},
    .shape_rule = "the dims after `->`",
    .example = R"(dim batch = 2, io = 3
print transpose(const([batch, io], [[1, 2, 3], [4, 5, 6]]) -> [io, batch])
)",
    .type = transpose_type,
    .space = kept_space,
    .grad = broadcast_grad,
    .kernel = transpose_kernel,
    .threaded = true,
    .linear = Linear::kEach,
    .narrow = true,
    .algebra = Algebra::kTranspose};

}  // namespace mtf::ops
