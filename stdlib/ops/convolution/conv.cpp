// Convolutions: sums of products of a kernel with windows of a tensor.
//
// Three operations are all there is, closed under gradients. With p for a window, t for a place in
// it and i = p * stride + t * dilation - low: conv gives y[p] = sum of x[i] k[t], conv_transpose
// x[i] = sum of y[p] k[t], conv_kernel k[t] = sum of x[i] y[p]. Dims that are none of these match
// by name: a dim is in two of the tensors, or in all three (a group of its own for each index).

#include <algorithm>

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/convolution/conv_rules.h"
#include "stdlib/ops/convolution/groups.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/reductions.h"

namespace mtf::ops {
namespace {

// What is summed in another dtype than the operands', if the call asks for it.
template <auto kType>
std::optional<TensorType> summed_type(OpCall& call, DiagSink& diags) {
  std::optional<TensorType> type = kType(call, diags);
  const std::optional<DType> dtype = type ? summed_dtype(call, diags) : std::nullopt;
  if (!dtype) {
    return std::nullopt;
  }
  type->dtype = *dtype;
  return type;
}

// ---- gradients -----------------------------------------------------------------------------

// A product for operand `i`, of the dtype of its operands, and wide.
void add_product(GradBuilder& b, std::size_t i, std::string_view op, std::vector<ValueId> factors,
                 OpArgs args) {
  const DType dtype = b.type_of(b.operand(i)).dtype;
  for (ValueId& factor : factors) {
    factor = b.cast(factor, dtype);
  }
  args.set("dtype", wide_of(dtype));
  b.add_to(i, b.emit(op, std::move(factors), std::move(args)));
}

void conv_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const ValueId x = b.operand(0);
  const ValueId k = b.operand(1);
  if (b.wants(0)) {
    add_product(b, 0, "conv_transpose", {b.upstream(), k}, turned(args, false, b.type_of(x).shape));
  }
  if (b.wants(1)) {
    add_product(b, 1, "conv_kernel", {x, b.upstream()}, with_result(args, b.type_of(k).shape));
  }
}

void conv_transpose_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const ValueId y = b.operand(0);
  const ValueId k = b.operand(1);
  if (b.wants(0)) {
    add_product(b, 0, "conv", {b.upstream(), k}, turned(args, true, b.type_of(y).shape));
  }
  if (b.wants(1)) {
    add_product(b, 1, "conv_kernel", {b.upstream(), y}, turned(args, true, b.type_of(k).shape));
  }
}

void conv_kernel_grad(GradBuilder& b) {
  const OpArgs args = b.args();
  const ValueId x = b.operand(0);
  const ValueId y = b.operand(1);
  if (b.wants(0)) {
    add_product(b, 0, "conv_transpose", {y, b.upstream()}, turned(args, false, b.type_of(x).shape));
  }
  if (b.wants(1)) {
    add_product(b, 1, "conv", {x, b.upstream()}, with_result(args, b.type_of(y).shape));
  }
}

// Of narrow operands the sums are wide, and rounded behind: those of bf16 as they are, others of
// widened operands. An invalid id: the call stands for itself.
std::optional<ValueId> expand_narrow_windows(Builder& b, const OpCall& call,
                                             std::span<const ValueId> operands) {
  const DType own = call.operands[0].dtype;
  const DType wide = wide_of(own);
  if (own == wide || (own == DType::kBF16 && call.result.dtype == wide)) {
    return ValueId{};
  }
  std::vector<ValueId> factors(operands.begin(), operands.end());
  OpArgs args = call.args;
  args.set("dtype", wide);
  if (own != DType::kBF16) {
    std::ranges::transform(factors, factors.begin(), [&](ValueId x) { return b.widened(x); });
  }
  return b.cast(b.emit(call.op->name, std::move(factors), std::move(args)), call.result.dtype);
}

std::optional<ValueId> conv_expand(Builder& b, const OpCall& call,
                                   std::span<const ValueId> operands) {
  const std::optional<ValueId> whole = expand_groups(b, call, operands);
  return whole && !whole->valid() ? expand_narrow_windows(b, call, operands) : whole;
}

std::vector<OpParam> conv_params(std::string_view x, std::string_view k, bool with_groups) {
  std::vector<OpParam> params = {
      {.name = "x", .kind = ParamKind::kTensor, .help = x},
      {.name = "k", .kind = ParamKind::kTensor, .help = k},
      {.name = "to",
       .kind = ParamKind::kNewShape,
       .required = false,
       .help = "the result's dims (those of x, the kernel's in place of what is summed)"},
      {.name = "window",
       .kind = ParamKind::kDims,
       .help = "the dims of x that the windows lie over"},
      {.name = "taps",
       .kind = ParamKind::kDims,
       .help = "the kernel's dims for these, in the same order"},
      {.name = "padding",
       .kind = ParamKind::kInts,
       .required = false,
       .help = "zeros around: \"same\" for a result of x's size over the stride, \"valid\" for "
               "none, a number, one for each dim, or [[before, behind], ..] (0)",
       .choices = {"same", "valid"}},
      {.name = "stride",
       .kind = ParamKind::kInts,
       .required = false,
       .help = "the distance between windows, or one for each dim (1)"},
      {.name = "dilation",
       .kind = ParamKind::kInts,
       .required = false,
       .help = "the distance between a window's elements, or one for each dim (1)"}};
  if (with_groups) {
    params.push_back(
        {.name = "groups",
         .kind = ParamKind::kInt,
         .required = false,
         .help = "parts of the summed dim and of the kernel's own, each with each (1)"});
  }
  params.push_back({.name = "at",
                    .kind = ParamKind::kDims,
                    .required = false,
                    .help = "the dims with an index for each window, where names do not say it"});
  params.push_back(summed_param());
  return params;
}

}  // namespace

const OpDef kConv{
    .name = "conv",
    .summary = "the products of a kernel with windows of x, added up, in any number of dims",
    .family = "products",
    .params = conv_params("the tensor", "the kernel", true),
    .shape_rule =
        "the dims after `->`: those of the windows, by the name that x has or a new one, with as "
        "many indices as there are windows; other dims as in einsum, where one that x, k and the "
        "result share is a group for each index (depthwise)",
    .example = R"(dim h = 4, w = 4, f_h = 3, f_w = 3, in = 2, out = 1
let x = ones([h, w, in])
let k = ones([f_h, f_w, in, out])
print conv(x, k -> [h, w, out], window = [h, w], taps = [f_h, f_w], padding = "same")
let y = conv(x, k -> [out, h2, w2], window = [h, w], taps = [f_h, f_w], padding = 1, stride = 2)
print y
)",
    .type = summed_type<conv_type>,
    .expand = conv_expand,
    .space = conv_space,
    .grad = conv_grad,
    .flops = product_flops,
    .kernel = conv_run,
    .threaded = true,
    .narrow = true,
    .narrowing = Narrowing::kProduct};

const OpDef kConvTranspose{
    .name = "conv_transpose",
    .summary = "each element of x times the kernel, added up where its window of the result lies",
    .family = "products",
    .params = conv_params("the tensor, an element for each window", "the kernel", true),
    .shape_rule =
        "the dims after `->`, as for `conv`; of several sizes that have as many windows, the one "
        "written there, else the least, and for \"same\" x's times the stride",
    .example = R"(dim w = 3, f = 3
let x = const([w], [1, 10, 100])
let k = const([f], [1, 2, 3])
print conv_transpose(x, k, window = w, taps = f, stride = 2)
print conv_transpose(x, k -> [wide: 6], window = w, taps = f, stride = 2, padding = "same")
)",
    .type = summed_type<conv_transpose_type>,
    .expand = conv_expand,
    .space = conv_transpose_space,
    .grad = conv_transpose_grad,
    .flops = conv_transpose_flops,
    .kernel = conv_transpose_run,
    .threaded = true,
    .narrow = true,
    .narrowing = Narrowing::kProduct};

const OpDef kConvKernel{
    .name = "conv_kernel",
    .summary = "the windows of x times elements of y, added up: the gradient of `conv`'s kernel",
    .family = "products",
    .params = conv_params("the tensor", "the tensor with an element for each window", false),
    .shape_rule = "the dims after `->`: the taps, and those of x and y that are not summed",
    .example = R"(dim w = 4, windows = 2, f = 3
let x = const([w], [1, 2, 3, 4])
let y = const([windows], [1, 10])
print conv_kernel(x, y -> [f], window = w, taps = f, at = windows)
)",
    .type = summed_type<conv_kernel_type>,
    .expand = expand_narrow_windows,
    .space = conv_kernel_space,
    .grad = conv_kernel_grad,
    .flops = conv_kernel_flops,
    .kernel = conv_kernel_run,
    .threaded = true,
    .narrow = true,
    .narrowing = Narrowing::kProduct};

}  // namespace mtf::ops
