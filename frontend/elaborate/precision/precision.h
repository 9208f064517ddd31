// Which operands are cast in a block of `with precision`, and what is cast back where a program
// says its types. Outside of any block nothing is.

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "frontend/ast.h"
#include "frontend/elaborate.h"
#include "frontend/elaborate/host/value.h"
#include "frontend/elaborate/report.h"
#include "ir/builder.h"

namespace mtf::host {

class Units;

// For everything that the block's dynamic extent records; nullopt: an error.
[[nodiscard]] std::optional<Precision> precision_of(Reporter& report,
                                                    const ast::WithPrecision& with);

// Casts operands as the block in force asks for the operation.
void fit_operands(Units& units, const OpDef& op, OpArgs& args, std::vector<ValueId>& ids);
// Of a sum of `x * y` in a block the factors, if one of them is a param or narrow: it is a product.
[[nodiscard]] std::vector<ValueId> summed_factors(Units& units, const OpDef& op,
                                                  std::span<const ValueId> ids);
// In a block, a float in the dtype that is declared; else the value as it is.
[[nodiscard]] Value as_declared(Units& units, Value value, DType declared, SourceSpan span);
// The same for all tensors of a list, by those that were there before.
[[nodiscard]] Value as_before(Units& units, const Value& before, Value now, SourceSpan span);

}  // namespace mtf::host
