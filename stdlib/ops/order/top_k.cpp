// top_k and nth_largest: the largest elements along a dim, by their places.

#include <limits>

#include "ir/builder.h"
#include "ir/support/number.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/order/places.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

// The one dim of "to" that x lacks: it counts what is taken.
std::optional<Dim> taken_dim(const OpCall& call) {
  const Shape to = shape_arg(call.args, "to");
  std::optional<Dim> taken;
  for (const Dim& dim : to.dims()) {
    if (!call.operands[0].shape.has(dim.name)) {
      if (taken) {
        return std::nullopt;
      }
      taken = dim;
    }
  }
  return taken;
}

std::optional<TensorType> places_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> over = find_dim(call, 0, dim_arg(call.args, "over").name, diags);
  if (!over) {
    return std::nullopt;
  }
  const Shape& x = call.operands[0].shape;
  const auto* to = call.args.get<Shape>("to");
  const std::optional<Dim> taken = to == nullptr ? std::nullopt : taken_dim(call);
  const Shape rest = x.without(over->name);
  if (!taken || to->rank() != rest.rank() + 1 || !contains(*to, rest)) {
    diags.error(DiagKind::kDimMissing, call.span,
                spelled(call) + " of " + to_string(x) + " over " + in_backticks(over->name) +
                    (to == nullptr ? "" : " to " + to_string(*to)) +
                    "; after `->` it needs the other dims and one new one, as many as are taken");
    return std::nullopt;
  }
  if (over->size > std::numeric_limits<std::int32_t>::max()) {
    diags.error(DiagKind::kOverflow, call.span,
                spelled(call) + " along " + in_backticks(over->name) + " of " +
                    std::to_string(over->size) + ", beyond the range of i32");
    return std::nullopt;
  }
  if (taken->size > over->size) {
    diags.error(DiagKind::kDimSize, call.span,
                spelled(call) + " of " + std::to_string(taken->size) + " of the " +
                    plural(over->size, "element") + " along " + in_backticks(over->name));
    return std::nullopt;
  }
  return result_type(call, DType::kI32, *to, diags);
}

std::optional<TensorType> top_k_type(OpCall& call, DiagSink& diags) {
  std::optional<TensorType> type = places_type(call, diags);
  if (type) {
    type->dtype = call.operands[0].dtype;
  }
  return type;
}

CutDim taken_cut(const OpCall& call) {
  return {.operand = dim_arg(call.args, "over").name, .result = taken_dim(call)->name};
}

// What a rank proposes of its part is as many elements as are taken of the whole, as words.
IterationSpace places_space(const OpCall& call) {
  IterationSpace space = cut_space(call, taken_cut(call), DimRole::kSelected);
  space.digest = Digest{.dtype = DType::kI64,
                        .width = taken_dim(call)->size * words_of(call.operands[0].dtype)};
  return space;
}

void places_kernel(const KernelCall& call) {
  const CutDim cut = taken_cut(call.call);
  switch (call.part) {
    case CallPart::kAll:
      return top_places(call.in[0], cut.operand, call.out, cut.result, call.host.cpu());
    case CallPart::kDigest:
      return propose_places(call.in[0], cut.operand, call.out, call.host.cpu());
    case CallPart::kRest:
      choose_places(call.in[0], call.space.digest->width / taken_dim(call.call)->size, call.out,
                    cut.result);
  }
}

double places_flops(const OpCall& call) {
  return static_cast<double>(call.operands[0].shape.volume());
}

// The elements at the places, which a gather brings gradients back to.
ValueId elements_at(Builder& b, const OpCall& call, ValueId x, ValueId places) {
  OpArgs over;
  over.set("over", one_dim(dim_arg(call.args, "over")));
  const ValueId found = b.emit("gather", {x, places}, over);
  return b.emit("transpose", {found}, to_shape(call.result.shape));
}

std::optional<ValueId> top_k_expand(Builder& b, const OpCall& call,
                                    std::span<const ValueId> operands) {
  const ValueId places = b.emit("top_k_places", {operands[0]}, call.args);
  return elements_at(b, call, operands[0], places);
}

// ---- nth_largest -------------------------------------------------------------------------------

std::optional<TensorType> nth_largest_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> over = find_dim(call, 0, dim_arg(call.args, "over").name, diags);
  if (!over) {
    return std::nullopt;
  }
  const std::int64_t n = int_arg(call.args, "n", 0);
  if (n < 0 || n >= over->size) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`nth_largest` number " + std::to_string(n) + " of the " +
                    plural(over->size, "element") + " along " + in_backticks(over->name) +
                    ", counted from 0");
    return std::nullopt;
  }
  return TensorType{.dtype = call.operands[0].dtype,
                    .shape = call.operands[0].shape.without(over->name)};
}

std::optional<ValueId> nth_largest_expand(Builder& b, const OpCall& call,
                                          std::span<const ValueId> operands) {
  const std::int64_t n = int_arg(call.args, "n", 0);
  const Dim taken{.name = dim_arg(call.args, "over").name + "~", .size = n + 1};
  OpArgs args = to_shape(call.result.shape.with(taken));
  args.set("over", one_dim(dim_arg(call.args, "over")));
  const ValueId places = b.emit("top_k_places", {operands[0]}, args);
  OpArgs last;
  last.set("dim", one_dim(taken));
  last.set("at", n);
  return elements_at(b, call, operands[0], b.emit("index", {places}, last));
}

std::vector<OpParam> top_k_params() {
  return {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
          {.name = "over", .kind = ParamKind::kDim, .help = "the dim to take from"},
          {.name = "to",
           .kind = ParamKind::kShape,
           .help = "the other dims, and one as long as the range"}};
}

}  // namespace

const OpDef kTopK{
    .name = "top_k",
    .summary = "the largest elements along a dim, largest first; NaN counts as the largest",
    .family = "order",
    .params = top_k_params(),
    .shape_rule = "the dims after `->`",
    .example = R"(dim io = 5, best = 2
let x = const([io], [3, 1, 4, 1, 5])
let values, places = top_k(x -> [best], over = io)
assert all(values == const([best], [5, 4])) and all(places == const([best], [4, 2], dtype = i32))
)",
    .companion = "top_k_places",
    .type = top_k_type,
    .expand = top_k_expand};

const OpDef kTopKPlaces{
    .name = "top_k_places",
    .summary = "the indices of the largest elements along a dim; equal ones keep their order",
    .family = "order",
    .params = top_k_params(),
    .shape_rule = "the dims after `->`, as i32",
    .example = R"(dim io = 5, best = 3
let x = const([io], [3, 1, 5, 1, 5])
assert all(top_k_places(x -> [best], over = io) == const([best], [2, 4, 0], dtype = i32))
)",
    .type = places_type,
    .space = places_space,
    .flops = places_flops,
    .kernel = places_kernel,
    .threaded = true};

const OpDef kNthLargest{
    .name = "nth_largest",
    .summary = "the element at position n of a dim sorted from the largest to the smallest",
    .family = "order",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "over", .kind = ParamKind::kDim, .help = "the dim"},
               {.name = "n", .kind = ParamKind::kInt, .help = "0 for the largest"}},
    .shape_rule = "the dims of x without `over`",
    .example = R"(dim io = 5
assert nth_largest(const([io], [3, 1, 4, 1, 5]), over = io, n = 1) == 4
)",
    .type = nth_largest_type,
    .expand = nth_largest_expand};

}  // namespace mtf::ops
