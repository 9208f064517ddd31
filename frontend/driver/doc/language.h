// The sections of the language reference, as `mtf doc language` shows them, and what each keyword
// is explained in.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/driver/doc/markdown.h"

namespace mtf {

inline constexpr std::string_view kLanguagePage = "language";

// A keyword, or what a reader may call a thing, and the title of its section.
struct LanguageWord {
  std::string name;
  std::string_view title;
};

[[nodiscard]] std::vector<LanguageWord> language_words();

// The section of such a word, `layouts` as `layout`; nothing of any other.
[[nodiscard]] std::optional<std::string_view> section_of_word(std::string_view word);

// Those of the reference, in its order, behind its title.
[[nodiscard]] std::vector<Heading> language_sections();

// What is asked for: a title, one that has these words in it, or a word above; or null.
[[nodiscard]] const Heading* find_section(std::span<const Heading> sections,
                                          std::string_view asked);

// "Layouts that follow" below "Meshes and layouts".
[[nodiscard]] std::vector<std::string_view> parts_of(std::span<const Heading> sections,
                                                     const Heading& section);

// As a terminal shows it: programs four columns in, what they print behind a bar.
[[nodiscard]] std::string section_text(const Heading& section);

}  // namespace mtf
