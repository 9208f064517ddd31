// The conditions of a rule: which ranks hold a tensor, `k -> y where y == z`.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "frontend/ast.h"
#include "ir/layout/layout.h"

namespace mtf::host {

class Reporter;

// Whether there is such an axis; an error if not.
using AxisCheck = std::function<bool(const ast::Name&)>;

// As they are written, a chain `x == y == z` taken apart; nullopt after an error.
[[nodiscard]] std::optional<std::vector<NamedCondition>> conditions_of(Reporter& report,
                                                                       const ast::Rule& rule,
                                                                       const AxisCheck& exists);

}  // namespace mtf::host
