// split and unstack: a tensor as a list of its parts along a dim.

#include <algorithm>
#include <numeric>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/list.h"

namespace mtf::host {
namespace {

// A tensor, and the dim of it that is taken apart.
struct Along {
  Operand x;
  Tensor tensor;
  Dim dim;
};

// Of the first two arguments; nullopt after an error.
std::optional<Along> evaluate_along(Context& c, const HostFn& self, const Bound& bound) {
  const ast::Expr& expr = *bound[0].front();
  const ast::Expr& over = *bound[1].front();
  const Operand x{.value = evaluate(c, expr), .span = expr.span};
  const auto* tensor = x.value.get<Tensor>();
  if (tensor == nullptr) {
    static_cast<void>(wrong_argument(c.report, self, x, "a tensor"));
    return std::nullopt;
  }
  const Shape shape = tensor->type.shape;
  const auto dims = evaluate_dims(c, over, {&shape, 1}, /*may_be_new=*/false);
  if (!dims) {
    return std::nullopt;
  }
  const Dim* dim = dims->size() == 1 ? shape.find(dims->front().name) : nullptr;
  if (dim == nullptr) {
    c.report.error(DiagKind::kUnknownDim, over.span,
                   "`" + std::string(self.name) + "` over one dim of " + mtf::to_string(shape));
    return std::nullopt;
  }
  return Along{.x = x, .tensor = *tensor, .dim = *dim};
}

// The parts as a list, with the gradient of all of them together.
Value listed(Context& c, const Along& along, Values parts, SourceSpan span, const JoinParts& join) {
  std::vector<ValueId> ids;
  for (const Value& part : parts) {
    const auto* tensor = part.get<Tensor>();
    const std::optional<ValueId> id =
        tensor == nullptr ? std::nullopt : record(c.units, *tensor, span);
    if (!id) {
      return unknown();
    }
    ids.push_back(*id);
  }
  join_gradients(c, along.tensor, std::move(ids), span, join);
  return make_list(std::move(parts));
}

Value range_of(Context& c, const Along& along, std::int64_t begin, std::int64_t size,
               SourceSpan span) {
  OpArgs args;
  args.set("dim", std::vector{along.dim});
  args.set("begin", begin);
  args.set("end", begin + size);
  return apply_op(c.units, op_of(c.units.ops, Primitive::kSlice), {&along.x, 1}, std::move(args),
                  span);
}

// How long the parts are: a number of equal ones, or a list of sizes. Empty after an error.
std::vector<std::int64_t> sizes_of(Context& c, const Dim& dim, const ast::Expr& expr) {
  const Value value = evaluate(c, expr);
  const auto* list = value.get<List>();
  if (list == nullptr) {
    const auto count = checked_size(c.report, value, "the list of parts", expr.span);
    if (count && dim.size % *count != 0) {
      c.report.error(DiagKind::kBadArgument, expr.span,
                     "`split` of " + dim.name + " " + std::to_string(dim.size) + " into " +
                         std::to_string(*count) +
                         " equal parts; a list has sizes of its own: parts = […]");
      return {};
    }
    return count ? std::vector(static_cast<std::size_t>(*count), dim.size / *count)
                 : std::vector<std::int64_t>();
  }
  std::vector<std::int64_t> sizes;
  for (const Value& item : *list->items) {
    const auto size = checked_size(c.report, item, "a part", expr.span);
    if (!size) {
      return {};
    }
    if (*size > dim.size) {
      c.report.error(DiagKind::kBadArgument, expr.span,
                     "`split` of " + dim.name + " " + std::to_string(dim.size) +
                         " into parts of which one is " + std::to_string(*size));
      return {};
    }
    sizes.push_back(*size);
  }
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (all != dim.size) {
    c.report.error(DiagKind::kBadArgument, expr.span,
                   "`split` of " + dim.name + " " + std::to_string(dim.size) +
                       " into parts that are " + std::to_string(all) + " together");
    return {};
  }
  return sizes;
}

}  // namespace

void join_gradients(Context& c, const Tensor& whole, std::vector<ValueId> parts, SourceSpan span,
                    const JoinParts& join) {
  Builder& builder = c.units.recording().builder;
  const std::optional<ValueId> id = record(c.units, whole, span);
  if (!id || !is_float(whole.type.dtype)) {
    return;
  }
  const auto rule = [&builder, join, shape = whole.type.shape](std::span<const ValueId> upstream) {
    return std::vector{builder.ordered(join(builder, upstream), shape)};
  };
  builder.add({.results = std::move(parts), .by = {*id}, .rule = rule});
}

JoinParts stacked_along(const Dim& dim) {
  return [dim](Builder& builder, std::span<const ValueId> parts) {
    OpArgs args;
    args.set("dim", std::vector{dim});
    return builder.emit(Primitive::kStack, {parts.begin(), parts.end()}, std::move(args));
  };
}

Value split_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "x"}, {.name = "over"}, {.name = "parts"}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  const std::optional<Along> along = bound ? evaluate_along(c, self, *bound) : std::nullopt;
  if (!along) {
    return unknown();
  }
  Values parts;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes_of(c, along->dim, *(*bound)[2].front())) {
    if (!may_go_on(c.limits, c.units, span)) {
      return unknown();
    }
    parts.push_back(range_of(c, *along, begin, size, span));
    begin += size;
  }
  if (parts.empty()) {
    return unknown();
  }
  const auto joined = [dim = along->dim](Builder& builder, std::span<const ValueId> gradients) {
    OpArgs args;
    args.set("over", std::vector{dim});
    return builder.emit(Primitive::kConcat, {gradients.begin(), gradients.end()}, std::move(args));
  };
  return listed(c, *along, std::move(parts), span, joined);
}

Value unstack_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "x"}, {.name = "over"}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  const std::optional<Along> along = bound ? evaluate_along(c, self, *bound) : std::nullopt;
  if (!along) {
    return unknown();
  }
  Values parts;
  for (std::int64_t i = 0; i < along->dim.size && may_go_on(c.limits, c.units, span); ++i) {
    OpArgs args;
    args.set("dim", std::vector{along->dim});
    args.set("at", i);
    parts.push_back(apply_op(c.units, op_of(c.units.ops, Primitive::kIndex), {&along->x, 1},
                             std::move(args), span));
  }
  if (std::ssize(parts) < along->dim.size) {
    return unknown();
  }
  return listed(c, *along, std::move(parts), span, stacked_along(along->dim));
}

}  // namespace mtf::host
