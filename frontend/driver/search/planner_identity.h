// What layouts are searched by: kept answers are those of one planner. It is a hash of its sources,
// so that it is the same on all ranks and machines that have them; written at build time by
// frontend/driver/search/planner_identity.cmake.

#pragma once

#include <string_view>

namespace mtf {

[[nodiscard]] std::string_view planner_identity();

}  // namespace mtf
