// recurrence: y[i] = a[i] y[i - 1] + b[i] along a dim.

#include "ir/builder.h"
#include "runtime/kernels/scan/scan.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/scan/scans.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> recurrence_type(OpCall& call, DiagSink& diags) {
  if (!check_operands(call, Accepts::kFloats, diags) || !check_same_dtype(call, 0, diags)) {
    return std::nullopt;
  }
  std::optional<Shape> shape = union_of_dims(call, diags);
  if (!shape) {
    return std::nullopt;
  }
  const std::string over = dim_arg(call.args, "over").name;
  const std::size_t known = call.operands[0].shape.has(over) ? 0 : 1;
  if (!find_dim(call, known, over, diags)) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, *std::move(shape), diags);
}

// Both with all dims; invalid: they have them.
std::optional<ValueId> recurrence_expand(Builder& b, const OpCall& call,
                                         std::span<const ValueId> operands) {
  std::vector<ValueId> whole;
  bool same = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool has_all = call.operands[i].shape == call.result.shape;
    same = same && has_all;
    whole.push_back(has_all ? operands[i]
                            : b.emit("broadcast", {operands[i]}, to_shape(call.result.shape)));
  }
  return same ? ValueId{} : b.emit("recurrence", whole, call.args);
}

IterationSpace recurrence_space(const OpCall& call) {
  return scan_space(call, Combine::kRecurrence);
}

void recurrence_kernel(const KernelCall& call) {
  scan_kernel(call, /*exclusive=*/false);
}

double recurrence_flops(const OpCall& call) {
  return 2 * static_cast<double>(call.operands[0].shape.volume());
}

// db[i] = g[i] + a[i + 1] db[i + 1]; da[i] = db[i] y[i - 1].
void recurrence_grad(GradBuilder& b) {
  const ValueId back = carried_back(b, b.operand(0), b.upstream(), b.args());
  b.add_to(1, back);
  if (b.wants(0)) {
    b.add_to(0, b.emit("mul", {back, neighbours(b, b.result(), b.args(), -1)}));
  }
}

}  // namespace

const OpDef kRecurrence{
    .name = "recurrence",
    .summary = "y[i] = a[i] y[i - 1] + b[i] along a dim, from y = 0",
    .family = "scans",
    .params = {{.name = "a",
                .kind = ParamKind::kTensor,
                .help = "the factor of the element before"},
               {.name = "b", .kind = ParamKind::kTensor, .help = "the term that is added"},
               scanned_dim_param(),
               reverse_param()},
    .shape_rule = kUnionOfDims,
    .example = R"(dim step = 4
print recurrence(0.5, ones([step]), over = step)
)",
    .type = recurrence_type,
    .expand = recurrence_expand,
    .space = recurrence_space,
    .grad = recurrence_grad,
    .flops = recurrence_flops,
    .kernel = recurrence_kernel,
    .threaded = true,
    .narrowing = Narrowing::kWide};

}  // namespace mtf::ops
