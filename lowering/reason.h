// Why a collective is there, in the user's dims, axes and rules.

#pragma once

#include <string_view>
#include <vector>

#include "lowering/split.h"
#include "lowering/spmd.h"

namespace mtf {

// Who asked for a value in another layout.
struct Need {
  ValueId user;  // the operation that reads it; the value itself when its result is finished
  std::string_view what;  // or a part of the program: "the result"
  std::size_t operand = 0;
};

// `makers`: for each source value, the index of the kernel step that computed it, or -1.
[[nodiscard]] std::vector<Reason> explain(const SpmdProgram& program,
                                          std::span<const std::int32_t> makers, const Step& step,
                                          const Need& need);

// Why a kernel splits its loops as it does, where it could have done otherwise.
[[nodiscard]] Reason explain_choice(const SpmdProgram& program, const LocalCall& call,
                                    const LoopSplit& split);

}  // namespace mtf
