#include "ir/rewrite/sums/plain_sum.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/kernel.h"

namespace mtf {
namespace {

// Whether the sum makes less of what it sums.
bool shrinks(const Program& program, const std::vector<ValueId>& summed, const Shape& kept) {
  return std::ranges::any_of(summed, [&](ValueId id) {
    return std::ranges::any_of(program.at(id).type.shape.dims(), [&](const Dim& dim) {
      return dim.size >= 2 && !kept.has(dim.name);
    });
  });
}

// Whether each of two factors has a kept dim that the other lacks.
bool multiplies_matrices(const Program& program, const std::vector<ValueId>& factors,
                         const Shape& kept) {
  const auto lacks = [&](ValueId a, ValueId b) {
    return std::ranges::any_of(program.at(a).type.shape.dims(), [&](const Dim& dim) {
      return kept.has(dim.name) && !program.at(b).type.shape.has(dim.name);
    });
  };
  for (auto a = factors.begin(); a != factors.end(); ++a) {
    if (std::any_of(a + 1, factors.end(),
                    [&](ValueId b) { return lacks(*a, b) && lacks(b, *a); })) {
      return true;
    }
  }
  return false;
}

// Whether bands of a chain may end in the sum of a tensor (lowering/steps/bands.h), as far as whole
// sizes tell: an index of the leading dims that it keeps, or a block of the first two where it sums
// the first, is as small as a near cache.
bool fits_in_bands(const Program& to, ValueId sum) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 16;
  const OpCall call = call_of(to, sum);
  const IterationSpace space = call.op->space(call);
  const std::vector<std::int64_t> blocks = canonical_blocks(space);
  const Shape& shape = call.operands.front().shape;
  const auto bands_along = [&](std::size_t dim) {
    const std::size_t loop = space.operands.front()[dim].front();
    const bool is_kept = space.loops[loop].role == DimRole::kKept;
    return std::max<std::int64_t>(is_kept ? shape[dim].size : blocks[loop], 1);
  };
  const auto is_kept = [&](std::size_t dim) { return call.result.shape.has(shape[dim].name); };
  std::int64_t elements = shape.volume();
  const bool by_columns = !is_kept(0);
  for (std::size_t d = 0; d < shape.rank() && (by_columns ? d < 2 : is_kept(d)); ++d) {
    elements /= bands_along(d);
  }
  return elements <= kMostElements;
}

// The sum of the product of tensors, which are cast as it is, if they have the same dims, or one
// has those of all and is not to be summed first.
std::optional<ValueId> sum_of_product(Contraction& state, const Value& like,
                                      const std::vector<ValueId>& factors) {
  const Program& to = state.transfer.to;
  const Shape& shape = to.at(factors.front()).type.shape;
  const bool are_alike = std::ranges::all_of(
      factors, [&](ValueId factor) { return to.at(factor).type.shape == shape; });
  if (!are_alike && !sums_one_first(to, like, factors)) {
    return std::nullopt;
  }
  if (factors.size() == 1) {
    return contraction(state, like, factors);
  }
  DiagSink ignored;
  Builder builder(state.transfer.to, state.ops, ignored);
  builder.at(like);
  ValueId product = builder.cast(factors.front(), like.type.dtype);
  for (std::size_t i = 1; i < factors.size(); ++i) {
    const ValueId wide = builder.cast(factors[i], like.type.dtype);
    product = builder.emit(Algebra::kProduct, {product, wide});
  }
  return try_call(state, like, Algebra::kSum, {product}, to_shape(like.type.shape));
}

// The product of two that may be narrower than `like`, whose dims are those of either.
std::optional<ValueId> times(Contraction& state, const Value& like, ValueId x, ValueId y) {
  DiagSink ignored;
  Builder builder(state.transfer.to, state.ops, ignored);
  builder.at(like);
  const std::vector<ValueId> both = {builder.cast(x, like.type.dtype),
                                     builder.cast(y, like.type.dtype)};
  return builder.call(op_of(state.ops, Algebra::kProduct), both);
}

// What has a summed dim goes in, a number outside. So does what else has no summed dim, in a sum of
// a gradient, which nobody has written: sum(x * y) of an x that has the summed dim alone may be
// finite where sum(x) * y is not.
struct Factored {
  std::vector<ValueId> inside;
  std::vector<ValueId> outside;
  bool negated = false;
  Value rest;  // as the sum of what is inside
};

// nullopt: it is a product of matrices, or the sum makes no less of what it sums.
std::optional<Factored> factored(Contraction& state, const Value& sum, bool shared) {
  const Brackets brackets = sum.backward ? Brackets::kOpened : Brackets::kKept;
  const std::optional<SignedFactors> found = factors_of(state, sum, shared, brackets);
  if (!found) {
    return std::nullopt;
  }
  const Program& to = state.transfer.to;
  const auto goes_in = [&](ValueId factor) {
    return is_summed(to, factor, sum.type.shape) ||
           (!sum.backward && to.at(factor).type.shape.rank() > 0);
  };
  const Shape& kept = sum.type.shape;
  Factored parts{.inside = {}, .outside = {}, .negated = found->negated, .rest = {}};
  for (const ValueId factor : found->factors) {
    (goes_in(factor) ? parts.inside : parts.outside).push_back(factor);
  }
  if (!shrinks(to, parts.inside, kept) || multiplies_matrices(to, parts.inside, kept)) {
    return std::nullopt;
  }
  std::vector<Dim> dims;
  std::ranges::copy_if(kept.dims(), std::back_inserter(dims), [&](const Dim& dim) {
    return std::ranges::any_of(
        parts.inside, [&](ValueId factor) { return to.at(factor).type.shape.has(dim.name); });
  });
  parts.rest = sum;
  parts.rest.type.shape = Shape(std::move(dims));
  return parts;
}

// The factors one after the other, the numbers among them as one.
std::optional<ValueId> times_all(Contraction& state, const Value& like, ValueId value,
                                 const std::vector<ValueId>& factors) {
  const std::optional<ScaledFactors> joined = join_numbers(state, like, factors);
  if (!joined) {
    return std::nullopt;
  }
  std::optional<ValueId> now = value;
  for (const ValueId factor : joined->tensors) {
    now = now ? times(state, like, *now, factor) : now;
  }
  return now && joined->scale ? times(state, like, *joined->scale, *now) : now;
}

std::optional<ValueId> with_outside(Contraction& state, const Value& sum, ValueId rest,
                                    const Factored& parts) {
  std::optional<ValueId> now = times_all(state, sum, rest, parts.outside);
  if (now && parts.negated) {
    const Value like = state.transfer.to.at(*now);  // a copy: the list grows
    now = try_call(state, like, Primitive::kNegate, {*now});
  }
  if (now && state.transfer.to.at(*now).type != sum.type) {
    now = try_call(state, sum, Algebra::kTranspose, {*now}, to_shape(sum.type.shape));
  }
  return now;
}

// As most sums are: of what is no product, or of one of matrices as it is written.
bool is_clearly_none(const Contraction& state, const Value& sum) {
  const Program& from = state.transfer.from;
  const Value& summed = from.at(sum.operands.front());
  const bool is_einsum = sum.op->algebra == Algebra::kEinsum;
  return (!is_einsum && !may_open(state, sum.operands.front(), sum.type.shape, true)) ||
         multiplies_matrices(from, is_einsum ? sum.operands : summed.operands, sum.type.shape);
}

}  // namespace

// A chain may read what a shared product was made of at no cost. What is too large for bands needs
// all operands in memory: products that are there anyway stay what it reads.
std::optional<ValueId> as_plain_sum(Contraction& state, const Value& value) {
  if (is_clearly_none(state, value)) {
    return std::nullopt;
  }
  if (const std::optional<Factored> parts = factored(state, value, true)) {
    const std::optional<ValueId> rest = sum_of_product(state, parts->rest, parts->inside);
    if (rest && state.transfer.to.at(*rest).op->algebra == Algebra::kSum &&
        fits_in_bands(state.transfer.to, *rest)) {
      return with_outside(state, value, *rest, *parts);
    }
  }
  const std::optional<Factored> parts = factored(state, value, false);
  if (!parts || parts->outside.empty() || parts->inside.size() > 1) {
    return std::nullopt;
  }
  const std::optional<ValueId> rest = contraction(state, parts->rest, parts->inside);
  return rest ? with_outside(state, value, *rest, *parts) : std::nullopt;
}

}  // namespace mtf
