// The smallest part of a text that still does what the whole does.

#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace fuzz {

// `holds` is asked at most `tries` times.
[[nodiscard]] std::string shrink(std::string text, std::size_t tries,
                                 const std::function<bool(const std::string&)>& holds);

}  // namespace fuzz
