// What calls give where a value is needed: something, and not nothing as of a function without
// `return`.

#pragma once

#include <string_view>
#include <vector>

#include "frontend/elaborate/evaluate.h"

namespace mtf::host {

// Where the function is that the expression calls by its name: a library may call one of the
// user's. Of one that gives nothing, what its `return` could have been.
[[nodiscard]] std::vector<Note> called_function(Context& c, const ast::Expr& expr,
                                                const Value& value);

// What the expression gave; unknown, and told, if that is nothing. `use`: "that could be passed to
// `f`".
[[nodiscard]] Value some_value(Context& c, const ast::Expr& expr, Value value,
                               std::string_view use);

}  // namespace mtf::host
