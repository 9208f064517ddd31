// The names in the text of a statement, as far as they can be told from the text alone.

#pragma once

#include <set>
#include <string>
#include <string_view>

namespace mtf {

using Words = std::set<std::string, std::less<>>;

// A letter of any alphabet, a digit or `_`.
[[nodiscard]] bool is_of_word(char letter);

// What is written in a text, besides punctuation.
[[nodiscard]] Words words_of(std::string_view text);

// Those of a program's text that stand for something: not what a comment or a string says, a member
// of something else, or the name of an argument or of what is declared.
[[nodiscard]] Words names_read_in(std::string_view text);

}  // namespace mtf
