// Programs drawn from the grammar, to be parsed and not to be run; and any program's text with its
// blanks, line ends and comments drawn anew, wherever the language allows them.

#pragma once

#include <random>
#include <string>
#include <string_view>

namespace mtf::test {

[[nodiscard]] std::string random_source(std::mt19937& random);

// The same words and signs. requires: `text` has no mistakes.
[[nodiscard]] std::string laid_out_anew(std::string_view text, std::mt19937& random);

}  // namespace mtf::test
