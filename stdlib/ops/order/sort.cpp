// sort and argsort.

#include <algorithm>
#include <limits>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/order/sorted_parts.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> sort_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "over").name, diags);
  if (!dim) {
    return std::nullopt;
  }
  if (dim->size > std::numeric_limits<std::int32_t>::max()) {
    diags.error(DiagKind::kOverflow, call.span,
                spelled(call) + " along " + in_backticks(dim->name) + " of " +
                    std::to_string(dim->size) + ", beyond the range of i32");
    return std::nullopt;
  }
  return call.operands[0];
}

std::optional<TensorType> argsort_type(OpCall& call, DiagSink& diags) {
  std::optional<TensorType> type = sort_type(call, diags);
  if (type) {
    type->dtype = DType::kI32;
  }
  return type;
}

IterationSpace sorted_space(const OpCall& call, Digest digest) {
  IterationSpace space = space_by_name(call);
  const std::string over = dim_arg(call.args, "over").name;
  std::ranges::find(space.loops, over, &LoopDim::name)->role = DimRole::kSorted;
  space.digest = digest;
  return space;
}

IterationSpace sort_space(const OpCall& call) {
  return sorted_space(call, digest_of_elements(call.operands[0].dtype));
}

IterationSpace argsort_space(const OpCall& call) {
  return sorted_space(call, digest_of_places(call.operands[0].dtype));
}

void sort_kernel(const KernelCall& call) {
  const OpArgs& args = call.call.args;
  sort_elements(call, dim_arg(args, "over").name, bool_arg(args, "descending", false));
}

void argsort_kernel(const KernelCall& call) {
  const OpArgs& args = call.call.args;
  sort_places(call, dim_arg(args, "over").name, bool_arg(args, "descending", false));
}

// Each element's gradient is that of the place where it went: the order of the order.
void sort_grad(GradBuilder& b) {
  const Dim over = *b.type_of(b.operand(0)).shape.find(dim_arg(b.args(), "over").name);
  OpArgs along;
  along.set("over", one_dim(over));
  const ValueId order = b.emit("argsort", {b.operand(0)}, b.args());
  const ValueId went = b.emit("argsort", {order}, along);
  const Dim aside{.name = over.name + "~", .size = over.size};
  const auto renamed = [&](ValueId x, const Dim& from, const Dim& to) {
    OpArgs args;
    args.set("dim", one_dim(from));
    args.set("to", one_dim(to));
    return b.emit("rename", {x}, args);
  };
  const ValueId back = b.emit("gather", {b.upstream(), renamed(went, over, aside)}, along);
  b.add_to(0, renamed(back, aside, over));
}

double sort_flops(const OpCall& call) {
  return static_cast<double>(call.operands[0].shape.volume());
}

std::vector<OpParam> sort_params() {
  return {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
          {.name = "over", .kind = ParamKind::kDim, .help = "the dim"},
          {.name = "descending",
           .kind = ParamKind::kBool,
           .required = false,
           .help = "from the largest to the smallest (false)"}};
}

}  // namespace

const OpDef kSort{.name = "sort",
                  .summary =
                      "the elements along a dim in order of size; NaN counts as the largest, and "
                      "-0 as less than 0",
                  .family = "order",
                  .params = sort_params(),
                  .shape_rule = kSameDims,
                  .example = R"(dim io = 4
let x = const([io], [3, 1, 2, 1])
let sorted, order = sort(x, over = io)
print sorted, order, sort(x, over = io, descending = true)
)",
                  .companion = "argsort",
                  .type = sort_type,
                  .space = sort_space,
                  .grad = sort_grad,
                  .flops = sort_flops,
                  .kernel = sort_kernel,
                  .threaded = true};

const OpDef kArgsort{
    .name = "argsort",
    .summary = "the indices that sort the elements along a dim; equal ones keep their order",
    .family = "order",
    .params = sort_params(),
    .shape_rule = "the dims of x, as i32",
    .example = R"(dim io = 4
let order = argsort(const([io], [3, 1, 2, 1]), over = io)
assert all(order == const([io], [1, 3, 2, 0], dtype = i32))
)",
    .type = argsort_type,
    .space = argsort_space,
    .flops = sort_flops,
    .kernel = argsort_kernel,
    .threaded = true};

}  // namespace mtf::ops
