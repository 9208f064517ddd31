// partial_sums: what blocks of a summed dim add to a tensor, each on its own.

#include "ir/rewrite/sums/partial_sums.h"

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/list.h"
#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

// How many blocks of which dim.
struct Ways {
  Dim dim;
  std::int64_t count = 1;
};

// nullopt after an error.
std::optional<Ways> evaluate_ways(Context& c, const ast::Expr& over, const ast::Expr& ways) {
  const auto dims = evaluate_dims(c, over, {}, /*may_be_new=*/false);
  const auto count = checked_size(c.report, evaluate(c, ways), "`ways`", ways.span);
  if (!dims || !count) {
    return std::nullopt;
  }
  if (dims->size() != 1) {
    c.report.error(DiagKind::kBadArgument, over.span,
                   "`partial_sums` over one dim; these are " + std::to_string(dims->size()));
    return std::nullopt;
  }
  const Dim& dim = dims->front();
  if (*count == 0 || dim.size % *count != 0) {
    c.report.error(DiagKind::kBadArgument, ways.span,
                   "`partial_sums` over the " + std::to_string(dim.size) + " of `" + dim.name +
                       "` in " + std::to_string(*count) + " ways; a divisor of " +
                       std::to_string(dim.size) + " cuts it into blocks of one size");
    return std::nullopt;
  }
  return Ways{.dim = dim, .count = *count};
}

// The sums as the unit under construction has them; nullopt after an error.
std::optional<std::vector<ValueId>> recorded_sums(Context& c, const HostFn& self, const Operand& x,
                                                  const Dim& dim) {
  const auto* list = x.value.get<List>();
  std::vector<ValueId> ids;
  for (const Value& value : list != nullptr ? *list->items : Values{x.value}) {
    const auto* tensor = value.get<Tensor>();
    if (tensor == nullptr) {
      static_cast<void>(
          wrong_argument(c.report, self, {.value = value, .span = x.span}, "tensors"));
      return std::nullopt;
    }
    if (tensor->type.shape.has(dim.name) || !is_float(tensor->type.dtype)) {
      c.report.error(DiagKind::kWrongType, x.span,
                     "`partial_sums` over `" + dim.name + "` of " + mtf::to_string(tensor->type) +
                         "; it takes what was summed over the dim, and is of floats");
      return std::nullopt;
    }
    const std::optional<ValueId> id = record(c.units, *tensor, x.span);
    if (!id) {
      return std::nullopt;
    }
    ids.push_back(*id);
  }
  return ids;
}

}  // namespace

Value partial_sums_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{{.name = "x"}, {.name = "over"}, {.name = "ways"}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  if (!bound) {
    return unknown();
  }
  const Restore inline_calls(c.units.recording().inline_calls, true);
  const ast::Expr& expr = *(*bound)[0].front();
  const Operand x{.value = evaluate(c, expr), .span = expr.span};
  const std::optional<Ways> ways = evaluate_ways(c, *(*bound)[1].front(), *(*bound)[2].front());
  if (is_unknown(x.value) || !ways) {
    return unknown();
  }
  const std::optional<std::vector<ValueId>> sums = recorded_sums(c, self, x, ways->dim);
  if (!sums) {
    return unknown();
  }
  Builder& builder = c.units.recording().builder;
  builder.at(span, c.units.frame);
  const PartialSums parts = partial_sums(builder, *sums, ways->dim.name, ways->count);
  if (!parts.any && !sums->empty()) {
    c.report.error(DiagKind::kBadArgument, expr.span,
                   "`partial_sums` over `" + ways->dim.name + "` of what is no sum over it" +
                       (c.units.in_function() ? "" : "; a function has to compute it"));
    return unknown();
  }
  Values results;
  for (const ValueId part : parts.parts) {
    results.push_back(recorded(c.units, part));
  }
  return x.value.is<List>() ? make_list(std::move(results)) : results.front();
}

}  // namespace mtf::host
