// What pooling and its gradients are made of.
//
// max_pool and sum_pool read windows; spread_pool gives each element what all windows that see it
// hold. With a tensor x and one element y for each window, the last two count only where x is
// equal to the window's y: the gradient of a maximum, which ties share equally.

#include <algorithm>

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/pooling/pools.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> max_pool_type(OpCall& call, DiagSink& diags) {
  return check_operand(call, 0, Accepts::kNumbers, diags) ? pooled_type(call, false, diags)
                                                          : std::nullopt;
}

// One tensor, or three: then x and y, of the dims of what windows lie over, and of the windows.
std::optional<TensorType> matched_type(OpCall& call, bool up, DiagSink& diags) {
  if (!check_operands(call, Accepts::kNumbers, diags) || !check_same_dtype(call, 0, diags)) {
    return std::nullopt;
  }
  if (call.operands.size() != 1 && call.operands.size() != 3) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) + " of " + std::to_string(call.operands.size()) +
                    " tensors; it is of one, or of three: also the elements, and what those that "
                    "count are equal to");
    return std::nullopt;
  }
  std::optional<TensorType> type = pooled_type(call, up, diags);
  if (!type || call.operands.size() == 1) {
    return type;
  }
  const Shape& big = up ? type->shape : call.operands[0].shape;
  const Shape& small = up ? call.operands[0].shape : type->shape;
  if (same_dims(call.operands[1].shape, big) && same_dims(call.operands[2].shape, small)) {
    return type;
  }
  diags.error(DiagKind::kDimSize, call.span,
              spelled(call) + " where " + to_string(call.operands[1].shape) + " is equal to " +
                  to_string(call.operands[2].shape) + "; these would have the dims " +
                  to_string(big) + " and " + to_string(small));
  return std::nullopt;
}

std::optional<TensorType> sum_pool_type(OpCall& call, DiagSink& diags) {
  return matched_type(call, false, diags);
}

std::optional<TensorType> spread_pool_type(OpCall& call, DiagSink& diags) {
  return matched_type(call, true, diags);
}

// The dim of the result that a dim of what is read through windows becomes.
std::string_view dim_made_of(const Dim& dim, const WindowAxes& axes, bool up) {
  const auto axis = std::ranges::find(axes, dim.name, [up](const WindowAxis& one) {
    return std::string_view(read_dim(one, up).name);
  });
  return axis == axes.end() ? dim.name : made_dim(*axis, up).name;
}

// The loops are the result's dims; what windows are read of has those of the windows.
IterationSpace pool_space(const OpCall& call, bool up) {
  const WindowAxes axes = axes_of(call.args, up);
  IterationSpace space;
  for (const Dim& dim : call.result.shape.dims()) {
    space.result.push_back({space.loops.size()});
    space.loops.push_back({.name = dim.name, .size = dim.size});
  }
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const bool is_read = i == 0 || i == (up ? 2 : 1);
    DimMap& map = space.operands.emplace_back();
    for (const Dim& dim : call.operands[i].shape.dims()) {
      const std::string_view name = is_read ? dim_made_of(dim, axes, up) : dim.name;
      map.push_back({call.result.shape.index_of(name).value()});
    }
    if (is_read) {
      add_windows(space, i, call.operands[i].shape, axes, up);
    }
  }
  return space;
}

IterationSpace down_space(const OpCall& call) {
  return pool_space(call, false);
}

IterationSpace up_space(const OpCall& call) {
  return pool_space(call, true);
}

double pool_flops(const OpCall& call, bool up) {
  auto flops = static_cast<double>(call.result.shape.volume());
  for (const WindowAxis& axis : axes_of(call.args, up)) {
    flops *= static_cast<double>(axis.taps.size) / static_cast<double>(up ? axis.stride : 1);
  }
  return flops;
}

double down_flops(const OpCall& call) {
  return pool_flops(call, false);
}

double up_flops(const OpCall& call) {
  return pool_flops(call, true);
}

// ---- gradients -------------------------------------------------------------------------------

void max_pool_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const ValueId x = b.operand(0);
  const ValueId y = b.result();
  const Shape whole = b.type_of(x).shape;
  const ValueId ones = b.emit("broadcast", {b.scalar(1)}, to_shape(whole));
  const ValueId ties = b.emit("sum_pool", {ones, x, y}, with_result(args, b.type_of(y).shape));
  const ValueId share = b.emit("div", {b.upstream(), ties});
  b.add_to(0, b.emit("spread_pool", {share, x, y}, turned(args, false, whole)));
}

void pool_back(GradBuilder& b, std::string_view op, bool up) {
  if (!b.wants(0)) {
    return;
  }
  std::vector<ValueId> operands = {b.upstream()};
  if (b.arity() == 3) {
    operands.insert(operands.end(), {b.operand(1), b.operand(2)});
  }
  const Shape to = b.type_of(b.operand(0)).shape;
  b.add_to(0, b.emit(op, operands, turned(b.args(), up, to)));
}

void sum_pool_grad(GradBuilder& b) {
  pool_back(b, "spread_pool", false);
}

void spread_pool_grad(GradBuilder& b) {
  pool_back(b, "sum_pool", true);
}

OpParam matched_tensors(std::string_view help) {
  return {.name = "x", .kind = ParamKind::kTensors, .help = help};
}

}  // namespace

const OpDef kMaxPool{.name = "max_pool",
                     .summary =
                         "the largest element of each window; NaN if there is one; ties share the "
                         "gradient equally",
                     .family = "reductions",
                     .params = pool_params(pooled_tensor()),
                     .shape_rule = kWindowDims,
                     .example = R"(dim w = 5
print max_pool(const([w], [1, 5, 2, 4, 3]), window = w, size = 2, stride = 1)
)",
                     .type = max_pool_type,
                     .space = down_space,
                     .grad = max_pool_grad,
                     .flops = down_flops,
                     .kernel = max_pool_run,
                     .threaded = true};

const OpDef kSumPool{
    .name = "sum_pool",
    .summary = "the sum of each window; of three tensors, of elements where two others are equal",
    .family = "reductions",
    .params = pool_params(matched_tensors("the tensor; also the elements to compare, and for each "
                                          "window what with")),
    .shape_rule = kWindowDims,
    .example = R"(dim w = 5
print sum_pool(const([w], [1, 2, 3, 4, 5]), window = w, size = 3, stride = 2)
)",
    .type = sum_pool_type,
    .space = down_space,
    .grad = sum_pool_grad,
    .flops = down_flops,
    .kernel = sum_pool_run,
    .threaded = true};

const OpDef kSpreadPool{
    .name = "spread_pool",
    .summary =
        "for each element, the sum of what the windows that see it hold: `sum_pool`'s gradient",
    .family = "reductions",
    .params = pool_params(
        matched_tensors("a number for each window; also the elements, and for each window what "
                        "they are compared with")),
    .shape_rule =
        "the dims of x, those of the windows as long as what these lie over: as behind "
        "`->`, else as short as can be",
    .example = R"(dim w = 2
print spread_pool(const([w], [1, 10]), window = w, size = 3, stride = 2)
)",
    .type = spread_pool_type,
    .space = up_space,
    .grad = spread_pool_grad,
    .flops = up_flops,
    .kernel = spread_pool_run,
    .threaded = true};

}  // namespace mtf::ops
