// The operations that random programs are drawn from, by place: this list stays as it is, so that a
// new operation changes no program. It has programs of its own (`GenerateOptions::focus`).

#pragma once

#include <array>
#include <string_view>

namespace mtf::tests {

inline constexpr auto kVocabulary = std::to_array<std::string_view>(
    {"add",           "sub",        "neg",         "mul",           "div",
     "reciprocal",    "floordiv",   "mod",         "pow",           "square",
     "minimum",       "maximum",    "less",        "less_equal",    "greater",
     "greater_equal", "equal",      "not_equal",   "isfinite",      "close",
     "logical_and",   "logical_or", "logical_not", "exp",           "expm1",
     "log",           "log1p",      "sqrt",        "rsqrt",         "sin",
     "cos",           "tanh",       "identity",    "stop_gradient", "abs",
     "sign",          "where",      "cast",        "relu",          "sigmoid",
     "gelu",          "silu",       "softplus",    "sum",           "mean",
     "max",           "min",        "prod",        "cumsum",        "any",
     "all",           "logsumexp",  "softmax",     "log_softmax",   "range",
     "one_hot",       "argmax",     "einsum",      "broadcast",     "transpose",
     "rename",        "reshape",    "index",       "slice",         "pad",
     "concat",        "stack",      "shift",       "gather",        "scatter_add",
     "fill",          "zeros",      "ones",        "const",         "normal",
     "uniform",       "load",       "write",       "print",         "assert",
     "check_finite",  "pin"});

}  // namespace mtf::tests
