// einsum: the sum of products over the dims that the result lacks, for any number of tensors.
//
// It is built of steps that have one meaning each: a dim that only one operand has is summed first;
// more than two operands are multiplied two by two (`einsum_order`), each dim summed at its last
// use; products without a sum are `mul`, and what a one_hot picks is a gather. What remains is one
// product of two tensors, for the kernel. Of narrow tensors it is wide, and rounded once behind it:
// what ranks exchange of a sum is wide, what they exchange of the operands is narrow.
//
// With `terms`, operands two by two are products of one shape that are added up inside of one sum:
// one reduction over ranks serves them all, with the same bits on every layout.

#include <algorithm>
#include <utility>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/index/pick.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/reduce/einsum_order.h"
#include "stdlib/ops/reduce/product_kernel.h"
#include "stdlib/ops/reduce/reductions.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::int64_t terms_of(const OpArgs& args) {
  return int_arg(args, "terms", 1);
}

// The operands of the first product.
std::span<const TensorType> factors_of(const OpCall& call) {
  return std::span(call.operands).first(terms_of(call.args) == 1 ? call.operands.size() : 2);
}

// The dims that appear in exactly one operand, in order of appearance.
Shape default_result(const OpCall& call) {
  std::vector<Dim> once;
  const std::span<const TensorType> factors = factors_of(call);
  for (const TensorType& factor : factors) {
    for (const Dim& dim : factor.shape.dims()) {
      const auto count = std::ranges::count_if(
          factors, [&](const TensorType& operand) { return operand.shape.has(dim.name); });
      if (count == 1) {
        once.push_back(dim);
      }
    }
  }
  return Shape(std::move(once));
}

// All dims of the operands but those of `over`, which leaves the arguments: `to` says the same.
bool replace_over(OpCall& call, const Shape& all, DiagSink& diags) {
  const auto* over = call.args.get<std::vector<Dim>>("over");
  if (over == nullptr) {
    return true;
  }
  Shape rest = all;
  for (const Dim& dim : *over) {
    if (!rest.has(dim.name)) {
      diags.error(
          DiagKind::kDimMissing, call.span,
          "`einsum` over " + in_backticks(dim.name) + ", which is not in " + to_string(rest));
      return false;
    }
    rest = rest.without(dim.name);
  }
  const auto* to = call.args.get<Shape>("to");
  if (to != nullptr && !same_dims(*to, rest)) {
    diags.error(
        DiagKind::kBadEinsum, call.span,
        "`einsum` over the dims given leaves " + to_string(rest) + ", and not " + to_string(*to));
    return false;
  }
  call.args.erase("over");
  if (to == nullptr) {
    call.args.set("to", rest);
  }
  return true;
}

std::string operand_shapes(const OpCall& call) {
  std::string text;
  for (const TensorType& operand : call.operands) {
    text += (text.empty() ? "" : ", ") + to_string(operand.shape);
  }
  return text;
}

bool check_result_dims(const OpCall& call, const Shape& to, DiagSink& diags) {
  for (const Dim& dim : to.dims()) {
    const auto holder = std::ranges::find_if(
        call.operands, [&](const TensorType& operand) { return operand.shape.has(dim.name); });
    if (holder == call.operands.end()) {
      diags.error(DiagKind::kBadEinsum, call.span,
                  "`einsum` to " + to_string(to) + ", but " + in_backticks(dim.name) +
                      " is in no operand: " + operand_shapes(call) +
                      "; `broadcast` adds dims to a result");
      return false;
    }
    if (holder->shape.find(dim.name)->size != dim.size) {
      diags.error(DiagKind::kDimSize, call.span,
                  "`einsum` to " + to_string(to) + ", but " + in_backticks(dim.name) + " is " +
                      std::to_string(holder->shape.find(dim.name)->size) + " in its operands");
      return false;
    }
  }
  return true;
}

// Two operands for each of the terms, of the first product's dims.
bool check_terms(const OpCall& call, DiagSink& diags) {
  const std::int64_t terms = terms_of(call.args);
  if (terms == 1) {
    return true;
  }
  if (terms < 1 || static_cast<std::int64_t>(call.operands.size()) != 2 * terms) {
    diags.error(DiagKind::kBadEinsum, call.span,
                "`einsum` of " + std::to_string(terms) + " terms and " +
                    std::to_string(call.operands.size()) + " tensors; each term is of two");
    return false;
  }
  for (std::size_t i = 2; i < call.operands.size(); ++i) {
    const Shape& like = call.operands[i % 2].shape;
    if (!same_dims(call.operands[i].shape, like)) {
      diags.error(DiagKind::kBadEinsum, call.span_of(i),
                  "`einsum` of terms with " + to_string(like) + " and " +
                      to_string(call.operands[i].shape) + "; all terms have the dims of the first");
      return false;
    }
  }
  return true;
}

std::optional<TensorType> einsum_type(OpCall& call, DiagSink& diags) {
  if (call.operands.empty()) {
    diags.error(DiagKind::kMissingArgument, call.span, "`einsum` of nothing; it needs a tensor");
    return std::nullopt;
  }
  if (!check_operands(call, Accepts::kNumbers, diags) || !check_same_dtype(call, 0, diags) ||
      !check_terms(call, diags)) {
    return std::nullopt;
  }
  const std::optional<Shape> all = union_of_dims(call, diags);
  if (!all || !replace_over(call, *all, diags)) {
    return std::nullopt;
  }
  if (call.args.get<Shape>("to") == nullptr) {
    call.args.set("to", default_result(call));
  }
  if (call.operands.size() <= 2 || terms_of(call.args) > 1) {
    call.args.erase("as_written");  // there is one order
  }
  const Shape to = shape_arg(call.args, "to");
  if (!check_result_dims(call, to, diags)) {
    return std::nullopt;
  }
  const std::optional<DType> dtype = summed_dtype(call, diags);
  return dtype ? result_type(call, *dtype, to, diags) : std::nullopt;
}

// The dims of `shape` that satisfy `keep`.
template <typename F>
Shape only(const Shape& shape, F&& keep) {
  std::vector<Dim> dims;
  std::ranges::copy_if(shape.dims(), std::back_inserter(dims), keep);
  return Shape(std::move(dims));
}

// Sums the dims of `x` that neither the result nor any of the `others` needs.
ValueId without_own_sums(Builder& b, ValueId x, const Shape& to, std::span<const ValueId> others) {
  const Shape shape = b.type_of(x).shape;
  const Shape needed = only(shape, [&](const Dim& dim) {
    return to.has(dim.name) || std::ranges::any_of(others, [&](ValueId other) {
             return b.type_of(other).shape.has(dim.name);
           });
  });
  return needed == shape ? x : b.emit("sum", {x}, to_shape(needed));
}

// The product of two tensors, summed over what neither `to` nor the `rest` needs.
ValueId product(Builder& b, ValueId x, ValueId y, const Shape& to, std::span<const ValueId> rest) {
  const Shape all = union_shape(b.type_of(x).shape, b.type_of(y).shape);
  const Shape needed = only(all, [&](const Dim& dim) {
    return to.has(dim.name) || std::ranges::any_of(rest, [&](ValueId other) {
             return b.type_of(other).shape.has(dim.name);
           });
  });
  const Shape shape = rest.empty() ? to : needed;
  if (needed == all || same_dims(shape, all)) {
    return b.ordered(b.emit("mul", {x, y}), shape);
  }
  return b.emit("einsum", {x, y}, to_shape(shape));
}

// Whether the call is a product of two tensors, or a sum of such, over dims that both have.
bool is_product(const OpCall& call, const Shape& to) {
  if (terms_of(call.args) > 1) {
    return true;
  }
  if (call.operands.size() != 2) {
    return false;
  }
  const Shape& x = call.operands[0].shape;
  const Shape& y = call.operands[1].shape;
  const auto in_two = [&](const Dim& dim) {
    return to.has(dim.name) || (x.has(dim.name) && y.has(dim.name));
  };
  const auto in_result = [&](const Dim& dim) { return to.has(dim.name); };
  return std::ranges::all_of(x.dims(), in_two) && std::ranges::all_of(y.dims(), in_two) &&
         !(std::ranges::all_of(x.dims(), in_result) && std::ranges::all_of(y.dims(), in_result));
}

// Of narrow tensors: one product is wide, and rounded; anything longer is wide throughout.
ValueId expand_narrow(Builder& b, const OpCall& call, std::span<const ValueId> operands) {
  const DType dtype = call.result.dtype;
  const DType wide = wide_of(dtype);
  const Shape to = shape_arg(call.args, "to");
  if (const auto found = dtype == wide ? picked_wide(b, operands, to) : picked(b, operands, to)) {
    return *found;
  }
  std::vector<ValueId> factors(operands.begin(), operands.end());
  OpArgs args = call.args;
  if (is_product(call, to)) {
    if (dtype == wide) {
      return {};
    }
    args.set("dtype", wide);
  } else {
    std::ranges::transform(factors, factors.begin(), [&](ValueId x) { return b.widened(x); });
  }
  return b.cast(b.emit("einsum", std::move(factors), std::move(args)), dtype);
}

ProductOrder order_of(const Builder& b, const OpCall& call, const std::vector<ValueId>& factors,
                      const Shape& to) {
  std::vector<Shape> shapes;
  std::ranges::transform(factors, std::back_inserter(shapes),
                         [&b](ValueId factor) { return b.type_of(factor).shape; });
  return bool_arg(call.args, "as_written", false) ? written_order(shapes.size())
                                                  : cheapest_order(shapes, to);
}

// An invalid id: the call is one product already, and stands for itself.
std::optional<ValueId> einsum_expand(Builder& b, const OpCall& call,
                                     std::span<const ValueId> operands) {
  if (is_narrow(call.operands[0].dtype)) {
    return expand_narrow(b, call, operands);
  }
  if (terms_of(call.args) > 1) {
    return ValueId{};
  }
  const Shape to = shape_arg(call.args, "to");
  if (const std::optional<ValueId> found = picked(b, operands, to)) {
    return found;
  }
  if (is_product(call, to)) {
    return ValueId{};
  }
  std::vector<ValueId> factors(operands.begin(), operands.end());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    std::vector<ValueId> others = factors;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    factors[i] = without_own_sums(b, factors[i], to, others);
  }
  if (factors.size() == 1) {  // a value of its own, as gradients by it may be asked for
    return factors[0] == operands[0] ? b.emit(Algebra::kTranspose, {factors[0]}, to_shape(to))
                                     : b.ordered(factors[0], to);
  }
  for (const auto& [x, y] : order_of(b, call, factors, to)) {
    std::vector<ValueId> rest;
    const ValueId first = std::exchange(factors[x], ValueId{});
    const ValueId second = std::exchange(factors[y], ValueId{});
    std::ranges::copy_if(factors, std::back_inserter(rest),
                         [](ValueId factor) { return factor.valid(); });
    factors.push_back(product(b, first, second, to, rest));
  }
  return factors.back();
}

IterationSpace einsum_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kSum);
}

// The gradient of one factor is the upstream times the others of its term, summed to its dims.
void einsum_grad(GradBuilder& b) {
  const std::size_t of_term = terms_of(b.args()) == 1 ? b.arity() : 2;
  for (std::size_t i = 0; i < b.arity(); ++i) {
    if (!b.wants(i)) {
      continue;
    }
    const TensorType own = b.type_of(b.operand(i));
    Shape known = b.type_of(b.upstream()).shape;
    std::vector<ValueId> factors = {b.cast(b.upstream(), own.dtype)};
    const std::size_t first = i / of_term * of_term;
    for (std::size_t j = first; j < first + of_term; ++j) {
      if (j != i) {
        factors.push_back(b.operand(j));
        known = union_shape(known, b.type_of(b.operand(j)).shape);
      }
    }
    OpArgs args = to_shape(only(own.shape, [&](const Dim& dim) { return known.has(dim.name); }));
    args.set("dtype", wide_of(own.dtype));
    b.add_to(i, b.emit("einsum", factors, std::move(args)));
  }
}

double einsum_flops(const OpCall& call) {
  Shape all;
  for (const TensorType& operand : call.operands) {
    all = union_shape(all, operand.shape);
  }
  const std::int64_t terms = terms_of(call.args);
  double products = static_cast<double>(
      terms == 1 ? std::max<std::size_t>(call.operands.size(), 2) - 1 : call.operands.size() / 2);
  for (const Dim& dim : all.dims()) {
    products *= static_cast<double>(dim.size);
  }
  return 2 * products;
}

}  // namespace

const OpDef kEinsum{
    .name = "einsum",
    .summary = "the sum of products over the dims that the result lacks",
    .family = "products",
    .params = {{.name = "x", .kind = ParamKind::kTensors, .help = "one or more tensors"},
               {.name = "over",
                .kind = ParamKind::kDims,
                .required = false,
                .help = "the dim or dims that are summed"},
               {.name = "to",
                .kind = ParamKind::kShape,
                .required = false,
                .help = "or the result's dims (those that appear in one operand only)"},
               {.name = "terms",
                .kind = ParamKind::kInt,
                .required = false,
                .help = "how many products, of two tensors each, are added up in one sum (1)"},
               {.name = "as_written",
                .kind = ParamKind::kBool,
                .required = false,
                .help = "multiply from left to right, not in the order that takes least (false)"},
               summed_param()},
    .shape_rule =
        "the dims after `->`, all of them in the operands; or all but those of `over`; else the "
        "dims that appear exactly once, in order",
    .example = R"(dim batch = 2, io = 3, hidden = 2
let x = const([batch, io], [[1, 2, 3], [4, 5, 6]])
let w = ones([io, hidden])
print einsum(x, w -> [batch, hidden]), einsum(x, w, over = io)
)",
    .type = einsum_type,
    .expand = einsum_expand,
    .space = einsum_space,
    .grad = einsum_grad,
    .flops = einsum_flops,
    .kernel = product_kernel,
    .strided = true,
    .threaded = true,
    .narrow = true,
    .narrowing = Narrowing::kProduct,
    .algebra = Algebra::kEinsum};

}  // namespace mtf::ops
