// A sum of a product and an einsum call meet in one normal form: numbers that make its terms larger
// outside, then one einsum of the other factors in the order of the text. So both spellings are the
// same program.

#include "ir/rewrite/sums/contract.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "ir/builder.h"
#include "ir/rewrite/sums/contraction.h"
#include "ir/rewrite/sums/plain_sum.h"
#include "ir/rewrite/transfer.h"

namespace mtf {
namespace {

// Factors of the new program.
std::optional<ValueId> normal_form(Contraction& state, const Value& like,
                                   const std::vector<ValueId>& factors) {
  const std::optional<ScaledFactors> joined = join_numbers(state, like, factors);
  if (!joined || joined->tensors.empty()) {
    return joined ? joined->scale : std::nullopt;
  }
  const std::optional<ValueId> rest = contraction(state, like, joined->tensors);
  if (!rest || !joined->scale) {
    return rest;
  }
  return try_call(state, like, Algebra::kProduct, {*joined->scale, *rest});
}

// The normal form of a sum of products or an einsum; nullopt: it is neither, or has none.
std::optional<ValueId> as_contraction(Contraction& state, const Value& value) {
  if (value.op->algebra == Algebra::kEinsum) {
    if (value.args.find("terms") != nullptr) {
      return std::nullopt;  // several products: they are in one sum as it is
    }
    if (const std::optional<ValueId> plain = as_plain_sum(state, value)) {
      return plain;
    }
    std::vector<ValueId> factors;
    std::ranges::transform(value.operands, std::back_inserter(factors),
                           [&state](ValueId operand) { return state.transfer.at(operand); });
    look_through_views(state.transfer.to, factors, value.type.shape);
    keep_small_numbers(state, value, factors);
    return normal_form(state, value, factors);
  }
  if (value.op->algebra != Algebra::kSum ||
      state.transfer.from.at(value.operands.front()).type.dtype != value.type.dtype) {
    return std::nullopt;
  }
  if (const std::optional<ValueId> plain = as_plain_sum(state, value)) {
    return plain;
  }
  const std::optional<SignedFactors> found =
      factors_of(state, value, /*shared=*/false, Brackets::kKept);
  return found && found->factors.size() > 1 &&
                 !sums_one_first(state.transfer.to, value, found->factors)
             ? normal_form(state, value, found->factors)
             : std::nullopt;
}

// ---- everything else -----------------------------------------------------------------------

// May the operation read what its operand `view` reads, if its type stays the same? Element-wise
// operations broadcast and match by name themselves; a sum would count a broadcast dim once.
bool may_skip(const OpDef& op, Algebra view) {
  if (view == Algebra::kBroadcast) {
    return op.tile != nullptr || op.algebra == Algebra::kBroadcast;
  }
  return view == Algebra::kTranspose &&
         (op.tile != nullptr || op.algebra == Algebra::kBroadcast ||
          op.algebra == Algebra::kTranspose || op.algebra == Algebra::kSum);
}

bool keeps_type(const Program& to, const Value& value, const std::vector<ValueId>& operands) {
  OpCall call{.op = value.op,
              .operands = {},
              .args = value.args,
              .result = {},
              .span = value.span,
              .operand_spans = {}};
  for (const ValueId operand : operands) {
    call.operands.push_back(to.at(operand).type);
  }
  DiagSink ignored;
  return value.op->type(call, ignored) == value.type;
}

// Reads the sources of transposes and broadcasts where the type stays the same.
void skip_views(const Program& to, Value& value) {
  for (std::size_t i = 0; i < value.operands.size(); ++i) {
    while (may_skip(*value.op, kind_of(to, value.operands[i]))) {
      std::vector<ValueId> operands = value.operands;
      operands[i] = to.at(operands[i]).operands.front();
      if (!keeps_type(to, value, operands)) {
        break;
      }
      value.operands = std::move(operands);
    }
  }
}

// Whether sums behind it may ask for what it reads.
bool may_be_opened(const Value& value) {
  return value.op->algebra == Algebra::kProduct || value.op->algebra == Algebra::kBroadcast ||
         value.op->primitive == Primitive::kNegate;
}

// A value that is no contraction: as it is, but for what it reads.
void take(Contraction& state, ValueId id) {
  const Value& value = state.transfer.from.at(id);
  const bool stays = value.op != nullptr && may_be_opened(value);
  const ValueId now = stays ? append_moved(state.transfer, id) : append_taken(state.transfer, id);
  state.transfer.map(id, now);
  Value& taken = state.transfer.to.at(now);
  if (taken.op != nullptr) {
    skip_views(state.transfer.to, taken);
  }
}

void contract_all(Contraction& state) {
  const Program& program = state.transfer.from;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const Value& value = program.values[i];
    const std::optional<ValueId> sum =
        value.op == nullptr ? std::nullopt : as_contraction(state, value);
    if (!sum) {
      take(state, id);
      continue;
    }
    state.transfer.map(id, *sum);
    Value& now = state.transfer.to.at(*sum);
    if (value.recompute.of.valid() && *sum == state.transfer.to.last()) {
      now.recompute.of = state.transfer.at(value.recompute.of);
    }
    if (now.name.empty()) {
      now.name = value.name;
    }
  }
}

}  // namespace

Program contract(Program program, OpTable ops) {
  bool again = true;
  while (again) {
    Contraction state{.transfer = start_transfer(program),
                      .ops = ops,
                      .uses = count_uses(program),
                      .einsums = {}};
    contract_all(state);
    again = state.expands;
    program = finish_transfer(std::move(state.transfer));
  }
  return program;
}

}  // namespace mtf
