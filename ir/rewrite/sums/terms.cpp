#include "ir/rewrite/sums/terms.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/loops/loop.h"

namespace mtf {

bool is_addition(const Value& value) {
  return is(value, Primitive::kAdd) || is(value, Primitive::kSubtract);
}

bool sums_up(const Value& value) {
  return value.op != nullptr &&
         (value.op->algebra == Algebra::kEinsum || value.op->algebra == Algebra::kSum);
}

namespace {

// Which operand a product or quotient with a number scales; nullopt: it is neither. Of two numbers
// one is a constant, or the other a sum.
std::optional<std::size_t> scaled_operand(const Program& program, const Value& value) {
  if (value.op == nullptr ||
      (value.op->algebra != Algebra::kProduct && value.op->primitive != Primitive::kDivide)) {
    return std::nullopt;
  }
  const std::size_t last = value.op->algebra == Algebra::kProduct ? 2 : 1;  // 1 / x scales nothing
  for (std::size_t i = 0; i < last; ++i) {
    const Value& scaled = program.at(value.operands[i]);
    const Value& number = program.at(value.operands[1 - i]);
    const bool apart = scaled.type.shape.rank() > 0 || sums_up(scaled) ||
                       (number.op != nullptr && number.operands.empty());
    if (number.type.shape.rank() == 0 && apart && scaled.type == value.type) {
      return i;
    }
  }
  return std::nullopt;
}

// The operands that an inner node of a tree of additions passes on to the sum.
std::vector<ValueId> added_operands(const Program& program, const Value& value) {
  if (is_addition(value) || is(value, Primitive::kNegate)) {
    return value.operands;
  }
  const std::optional<std::size_t> scaled = scaled_operand(program, value);
  return scaled ? std::vector{value.operands[*scaled]} : std::vector<ValueId>{};
}

}  // namespace

std::vector<char> inner_nodes(const Program& program, const std::vector<int>& uses) {
  std::vector<char> inner(program.values.size(), 0);
  for (std::size_t i = inner.size(); i-- > 0;) {
    const Value& value = program.values[i];
    if (inner[i] == 0 && !is_addition(value)) {
      continue;
    }
    for (const ValueId operand : added_operands(program, value)) {
      const auto index = static_cast<std::size_t>(operand.index);
      const Value& term = program.at(operand);
      if (uses[index] == 1 && term.type == value.type && term.region == value.region &&
          !added_operands(program, term).empty()) {
        inner[index] = 1;
      }
    }
  }
  return inner;
}

std::vector<SumTerm> terms_of(const Program& program, const std::vector<char>& inner,
                              ValueId root) {
  std::vector<SumTerm> terms;
  std::vector<SumTerm> to_visit = {{.value = root, .negated = false, .scales = {}}};
  while (!to_visit.empty()) {
    SumTerm term = std::move(to_visit.back());
    to_visit.pop_back();
    const Value& value = program.at(term.value);
    if (term.value != root && inner[at(term.value)] == 0) {
      terms.push_back(std::move(term));
      continue;
    }
    if (const std::optional<std::size_t> scaled = scaled_operand(program, value)) {
      const TermScale scale{
          .op = value.op, .by = value.operands[1 - *scaled], .first = *scaled == 1};
      term.scales.insert(term.scales.begin(), scale);
      term.value = value.operands[*scaled];
      to_visit.push_back(std::move(term));
      continue;
    }
    for (std::size_t i = value.operands.size(); i-- > 0;) {
      SumTerm next = term;
      next.value = value.operands[i];
      next.negated = term.negated !=
                     (value.op->primitive != Primitive::kAdd && i + 1 == value.operands.size());
      to_visit.push_back(std::move(next));
    }
  }
  return terms;
}

void take_common(TermGroup& group) {
  const auto all = [&group](const auto& has) { return std::ranges::all_of(group.terms, has); };
  const SumTerm& first = group.terms.front();
  group.negated = all([](const SumTerm& term) { return term.negated; });
  while (!first.scales.empty()) {
    const TermScale outer = first.scales.back();
    if (!all([&](const SumTerm& term) {
          return !term.scales.empty() && term.scales.back() == outer;
        })) {
      break;
    }
    group.scales.insert(group.scales.begin(), outer);
    for (SumTerm& term : group.terms) {
      term.scales.pop_back();
    }
  }
  for (SumTerm& term : group.terms) {
    term.negated = term.negated && !group.negated;
  }
}

}  // namespace mtf
