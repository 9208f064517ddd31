// What the call of an operation is given besides tensors, each argument as the kind that its
// parameter declares.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/elaborate/call.h"

namespace mtf::host {

// What an argument is, as whole numbers, where a double may not hold one of them.
struct LongNumbers {
  std::string_view param = {};
  std::vector<std::int64_t> numbers = {};  // none where some are floats
  std::string first = {};                  // of those; empty: there are none
};

// The call, and what its arguments tell of what it gives.
struct OpCallSite {
  Context& c;
  const OpDef& op;
  SourceSpan span;
  std::vector<Shape> operands;  // of those that are tensors
  DType written = DType::kF32;  // kBool, kI32: all numbers that are written out are such
  LongNumbers long_numbers = {};
};

[[nodiscard]] bool is_tensor_kind(ParamKind kind);

// Of parameters that take no tensors. All functions here give nullopt after an error.
[[nodiscard]] std::optional<OpArgs> evaluate_arguments(OpCallSite& site,
                                                       std::span<const Formal> formals,
                                                       const Bound& bound);

// ---- one dtype, number, flag or word (plain.cpp) ---------------------------------------------

[[nodiscard]] std::optional<ArgValue> plain_argument(OpCallSite& site, const OpParam& param,
                                                     const ast::Expr& expr);
[[nodiscard]] std::optional<ArgValue> checked_choice(const OpCallSite& site, const OpParam& param,
                                                     const std::string& text, SourceSpan span);
// An error, unless the value is unknown.
void wrong_kind(const OpCallSite& site, const OpParam& param, SourceSpan span,
                std::string_view wanted, const Value& value);

// ---- numbers in lists (rows.cpp) -------------------------------------------------------------

// Flat, or nested as the shape in the same call is.
[[nodiscard]] std::optional<ArgValue> data_argument(OpCallSite& site, const OpParam& param,
                                                    const ast::Expr& expr, const OpArgs& args);
// One whole number, one of the parameter's words, or all numbers of a list.
[[nodiscard]] std::optional<ArgValue> ints_argument(OpCallSite& site, const OpParam& param,
                                                    const ast::Expr& expr);

}  // namespace mtf::host
