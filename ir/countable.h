// Whether what a program reads and makes can be counted in bytes at all.

#pragma once

#include "ir/program.h"

namespace mtf {

// False after an error: at some operation it becomes more than any plan can add up.
[[nodiscard]] bool check_countable(const Program& program, DiagSink& diags);

}  // namespace mtf
