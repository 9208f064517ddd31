// Text between the tags of HTML and SVG.

#pragma once

#include <string>
#include <string_view>

namespace mtf {

[[nodiscard]] std::string escaped_html(std::string_view text);

}  // namespace mtf
