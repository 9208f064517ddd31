// cumsum, cumprod, cummax, cummin and cumlogsumexp: each element with all before it along a dim.

#include <limits>

#include "runtime/kernels/scan/scan.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/scan/scans.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> cumulative_type(OpCall& call, Accepts what, DiagSink& diags) {
  if (!check_operand(call, 0, what, diags) ||
      !find_dim(call, 0, dim_arg(call.args, "over").name, diags)) {
    return std::nullopt;
  }
  return call.operands[0];
}

std::optional<TensorType> of_numbers(OpCall& call, DiagSink& diags) {
  return cumulative_type(call, Accepts::kNumbers, diags);
}

std::optional<TensorType> of_floats(OpCall& call, DiagSink& diags) {
  return cumulative_type(call, Accepts::kFloats, diags);
}

template <Combine kCombine>
IterationSpace cumulative_space(const OpCall& call) {
  return scan_space(call, kCombine);
}

void cumulative_kernel(const KernelCall& call) {
  scan_kernel(call, bool_arg(call.call.args, "exclusive", false));
}

double cumulative_flops(const OpCall& call) {
  return static_cast<double>(call.operands[0].shape.volume());
}

// ---- gradients -------------------------------------------------------------------------------

// An element is in the sums of those behind it.
void cumsum_grad(GradBuilder& b) {
  OpArgs back = b.args();
  back.set("reverse", !bool_arg(back, "reverse", false));
  b.add_to(0, b.emit("cumsum", {b.upstream()}, back));
}

// The same call with the element itself, or without.
ValueId like(GradBuilder& b, std::string_view op, bool exclusive) {
  OpArgs args = b.args();
  if (bool_arg(args, "exclusive", false) == exclusive) {
    return b.result();
  }
  args.set("exclusive", exclusive);
  return b.emit(op, {b.operand(0)}, std::move(args));
}

// The upstream gradient of the call with the element itself: that of one without is one behind.
ValueId upstream_with_itself(GradBuilder& b) {
  return bool_arg(b.args(), "exclusive", false) ? neighbours(b, b.upstream(), b.args())
                                                : b.upstream();
}

// y[k] = x[k] y[k - 1]. No division: the elements may be 0.
void cumprod_grad(GradBuilder& b) {
  const ValueId before = like(b, "cumprod", /*exclusive=*/true);
  const ValueId back = carried_back(b, b.operand(0), upstream_with_itself(b), b.args());
  b.add_to(0, b.emit("mul", {before, back}));
}

// Whether an element of y is the one that the scan begins with.
ValueId is_first(GradBuilder& b, ValueId y) {
  const Dim over = *b.type_of(y).shape.find(dim_arg(b.args(), "over").name);
  const bool from_end = bool_arg(b.args(), "reverse", false);
  OpArgs along;
  along.set("dim", one_dim(over));
  const ValueId begin = b.scalar(from_end ? static_cast<double>(over.size - 1) : 0, DType::kI32);
  return b.emit("equal", {b.emit("range", {}, std::move(along)), begin});
}

// All goes to the first of the elements that a stretch of equal results comes from. (Results
// without the element itself would tell as well, but begin with an infinity.)
void extreme_grad(GradBuilder& b, std::string_view op, std::string_view beats) {
  OpArgs to;
  to.set("dtype", b.type_of(b.result()).dtype);
  const ValueId y = like(b, op, /*exclusive=*/false);
  const ValueId rises = b.emit(beats, {y, neighbours(b, y, b.args(), -1)});
  const ValueId is_new = b.emit("logical_or", {rises, is_first(b, y)});
  const ValueId stays = b.emit("sub", {b.scalar(1), b.emit("cast", {is_new}, to)});
  const ValueId back = carried_back(b, stays, upstream_with_itself(b), b.args());
  b.add_to(0, b.emit("where", {is_new, back, b.scalar(0)}));
}

void cummax_grad(GradBuilder& b) {
  extreme_grad(b, "cummax", "greater");
}

void cummin_grad(GradBuilder& b) {
  extreme_grad(b, "cummin", "less");
}

// y[k - 1]; of the first element the element itself, so that nothing comes near the end of numbers.
ValueId results_before(GradBuilder& b, ValueId y) {
  return b.emit("where", {is_first(b, y), y, neighbours(b, y, b.args(), -1)});
}

// x[k] has the share exp(x[k] - y[k]) of y[k], which has exp(y[k] - y[k + 1]) of the next: none is
// above 1. Where y is -Inf, shares are 0. Behind a million elements a share is 1 - 1e-6, and as f32
// a million of them in a row would be off by 1e-4: they are f64.
void cumlogsumexp_grad(GradBuilder& b) {
  const auto as = [&b](DType dtype, ValueId id) {
    OpArgs to;
    to.set("dtype", dtype);
    return b.type_of(id).dtype == dtype ? id : b.emit("cast", {id}, std::move(to));
  };
  const ValueId result = like(b, "cumlogsumexp", /*exclusive=*/false);
  const DType dtype = b.type_of(result).dtype;
  const ValueId y = as(DType::kF64, result);
  const ValueId lowest = b.scalar(std::numeric_limits<double>::lowest(), DType::kF64);
  const ValueId finite = b.emit("maximum", {y, lowest});
  const auto share = [&](ValueId part) { return b.emit("exp", {b.emit("sub", {part, finite})}); };
  const ValueId upstream = as(DType::kF64, upstream_with_itself(b));
  const ValueId back = carried_back(b, share(results_before(b, y)), upstream, b.args());
  const ValueId own = share(as(DType::kF64, b.operand(0)));
  b.add_to(0, as(dtype, b.emit("mul", {own, back})));
}

OpDef cumulative(OpDef def) {
  def.family = "scans";
  def.params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
                scanned_dim_param(),
                {.name = "exclusive",
                 .kind = ParamKind::kBool,
                 .required = false,
                 .help = "leaves out the element itself (false)"},
                reverse_param()};
  def.shape_rule = kSameDims;
  def.flops = cumulative_flops;
  def.kernel = cumulative_kernel;
  def.threaded = true;
  def.narrowing = Narrowing::kWide;
  return def;
}

}  // namespace

const OpDef kCumsum = cumulative({.name = "cumsum",
                                  .summary = "the sum of all elements up to each one, along a dim",
                                  .example = R"(dim length = 4
print cumsum(1 + range(length), over = length)
)",
                                  .type = of_numbers,
                                  .space = cumulative_space<Combine::kSum>,
                                  .grad = cumsum_grad});

const OpDef kCumprod =
    cumulative({.name = "cumprod",
                .summary = "the product of all elements up to each one, along a dim",
                .example = R"(dim length = 4
print cumprod(1 + range(length), over = length)
)",
                .type = of_numbers,
                .space = cumulative_space<Combine::kProd>,
                .grad = cumprod_grad});

const OpDef kCummax =
    cumulative({.name = "cummax",
                .summary = "the largest of all elements up to each one, along a dim; of equal ones "
                           "the first has the gradient",
                .example = R"(dim length = 5
print cummax(const([length], [1, 3, 2, 4, 0]), over = length)
)",
                .type = of_numbers,
                .space = cumulative_space<Combine::kMax>,
                .grad = cummax_grad});

const OpDef kCummin = cumulative(
    {.name = "cummin",
     .summary = "the smallest of all elements up to each one, along a dim; of equal ones "
                "the first has the gradient",
     .example = R"(dim length = 5
print cummin(const([length], [3, 1, 2, 0, 4]), over = length)
)",
     .type = of_numbers,
     .space = cumulative_space<Combine::kMin>,
     .grad = cummin_grad});

const OpDef kCumlogsumexp =
    cumulative({.name = "cumlogsumexp",
                .summary = "log of the sum of exp of all elements up to each one, along a dim",
                .example = R"(dim length = 4
print exp(cumlogsumexp(zeros([length]), over = length))
)",
                .type = of_floats,
                .space = cumulative_space<Combine::kLogSumExp>,
                .grad = cumlogsumexp_grad});

}  // namespace mtf::ops
