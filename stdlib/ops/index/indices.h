// What gather and scatter_add share: dims that are read or written at indices, one tensor of them
// for each dim, behind the first operand.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/op.h"

namespace mtf::ops {

// The dims after `over`, as the call has them.
[[nodiscard]] std::vector<Dim> indexed_dims(const OpArgs& args);
// "`height` and `width`".
[[nodiscard]] std::string names_text(const std::vector<Dim>& dims);
// The dims of all indices: those of the first, then what the others have more. nullopt: they differ
// in size, or are not integers, or not as many as `over` has dims; an error was recorded.
[[nodiscard]] std::optional<Shape> places_of(const OpCall& call, DiagSink& diags);

// Whether out_of_range, if given, is one of "drop", "clip" and "error".
[[nodiscard]] bool check_out_of_range(const OpCall& call, DiagSink& diags);
// The indices as the call wants them where they lie outside: the nearest inside, or checked when
// the program runs. nullopt: the call leaves that alone, and stands for itself.
[[nodiscard]] std::optional<std::vector<ValueId>> inside(Builder& b, const OpCall& call,
                                                         std::span<const ValueId> indices,
                                                         const std::vector<Dim>& over);

[[nodiscard]] OpParam out_of_range_param();

}  // namespace mtf::ops
