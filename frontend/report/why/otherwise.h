// What a collective could have been instead, and what that would have moved.

#pragma once

#include <optional>
#include <string>

#include "frontend/report/why/why.h"

namespace mtf {

// The same move, all of it gathered first; nullopt: that is what the step does.
[[nodiscard]] std::optional<Alternative> moved_whole(const SpmdProgram& program, const Step& step);

// All moves that the step is one of, along parts of an axis; nullopt: they would not move less.
[[nodiscard]] std::optional<Alternative> moved_in_parts(const SpmdProgram& program,
                                                        const Step& step);

// Of a step that is a part of the call: what that reads gathered, and the operation on each rank.
[[nodiscard]] std::optional<Alternative> done_whole(const SpmdProgram& program, const Step& step,
                                                    const LocalCall& call);

// "`shift`", "`+`"
[[nodiscard]] std::string op_in_backticks(const LocalCall& call);

}  // namespace mtf
