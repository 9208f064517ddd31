// What rewrites of sums share: a program on its way into one whose sums are in their normal form.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/rewrite/transfer.h"

namespace mtf {

// A longer product stays a product, which runs element-wise, and a sum.
inline constexpr std::size_t kMaxFactors = 8;

// Types by where they lie: layers share theirs (share.h), and none of them is gone before the end.
using TypeKey = std::vector<std::uintptr_t>;

struct Contraction {
  Transfer transfer;
  OpTable ops;
  std::vector<int> uses;              // of each old value
  std::map<TypeKey, OpArgs> einsums;  // that stood for themselves: result and factors, arguments
  bool expands = false;               // some einsum became others, which have normal forms as well
};

[[nodiscard]] Algebra kind_of(const Program& program, ValueId id);

// An einsum matches dims by name, so it can read what a transpose reads, and what a broadcast reads
// if another factor has the new dims. The sums stay in the order in which they were written, if a
// factor still has their dims so: ranks that split the first of them add up what one rank does.
void look_through_views(const Program& to, std::vector<ValueId>& factors, const Shape& kept);

// A call in the new program, or nothing if its type is not the wanted one; what was appended in
// vain is dead code.
template <typename Kind>
[[nodiscard]] std::optional<ValueId> try_call(Contraction& state, const Value& like, Kind kind,
                                              const std::vector<ValueId>& operands,
                                              const OpArgs& args = {}) {
  DiagSink ignored;
  Builder builder(state.transfer.to, state.ops, ignored);
  builder.at(like);
  const std::optional<ValueId> value = builder.call(op_of(state.ops, kind), operands, args);
  return value && builder.type_of(*value) == like.type ? value : std::nullopt;
}

// The product of tensors summed to `like`'s type; no factor is a scalar.
[[nodiscard]] std::optional<ValueId> contraction(Contraction& state, const Value& like,
                                                 const std::vector<ValueId>& factors);

// The factors of what a sum adds up, in the order of the text.
struct SignedFactors {
  std::vector<ValueId> factors;
  bool negated = false;
};

// Whether the value has a dim that the sum does not keep, and is not the same along it.
[[nodiscard]] bool is_summed(const Program& program, ValueId id, const Shape& kept);

// Whether it was written to be a sum of products with a tensor that has all dims of the others and
// a summed one that they lack, over which an einsum would sum it first: sum(x * y) may be finite
// where sum(x) * y is not.
[[nodiscard]] bool sums_one_first(const Program& to, const Value& sum,
                                  const std::vector<ValueId>& factors);

// Whether a product is looked through: if nobody else reads it, as otherwise it is computed anyway;
// or, for `shared`, if what is left inside of the sum is one of its factors, so that the sum reads
// that instead. For `shared`, a change of sign is as well.
[[nodiscard]] bool may_open(const Contraction& state, ValueId id, const Shape& kept, bool shared);

// Which products are looked through: those that are multiplied first, as x * w in x * w * s, so
// that factors are multiplied as they are written, and x * (w * s) stays a product of two; or all.
enum class Brackets : std::uint8_t { kKept, kOpened };

// Values of the new program, for a sum of the old one, with the numbers that stay inside of it in
// one of them. nullopt: too many.
[[nodiscard]] std::optional<SignedFactors> factors_of(Contraction& state, const Value& sum,
                                                      bool shared, Brackets brackets);

// A sum of 1e-10 * x may be finite where that of x is not. So a number that may be below 1 stays
// inside of its sum, with the smallest of the factors that have a summed dim.
void keep_small_numbers(Contraction& state, const Value& sum, std::vector<ValueId>& factors);

// Factors of which the numbers are one, in the dtype of `like`.
struct ScaledFactors {
  std::optional<ValueId> scale;  // none: there are no numbers
  std::vector<ValueId> tensors;
};
// nullopt: their product has another dtype.
[[nodiscard]] std::optional<ScaledFactors> join_numbers(Contraction& state, const Value& like,
                                                        const std::vector<ValueId>& factors);

}  // namespace mtf
