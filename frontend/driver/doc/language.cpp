#include "frontend/driver/doc/language.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "frontend/driver/stdlib_modules.h"
#include "ir/support/source.h"
#include "ir/support/text/trimmed.h"

namespace mtf {
namespace {

// The titles of sections, and the words that a reader may ask for in their place.
struct TitledWords {
  std::string_view title;
  std::string_view words;
};

constexpr std::array kTitledWords = std::to_array<TitledWords>({
    {"A whole program", "example program tutorial"},
    {"Text", "comment name number string format true false"},
    {"Dims, shapes, types", "dim type dtype bool u8 i8 i16 i32 i64 f32 f64"},
    {"Mixed precision", "precision bf16 f16"},
    {"Host values and tensors",
     "let var for in step while loop if else break continue return operator and or not"},
    {"Operations", "broadcasting indexing random seed"},
    {"Functions, models, parameters",
     "fn function model entry param state variable optimizer training microbatch"},
    {"Meshes and layouts", "mesh axis layout rule use on"},
    {"At rest and in use", "fsdp stream"},
    {"On a part of the mesh", "diagonal"},
    {"For variables, for one tensor, for a region", "with at"},
    {"Sizes that do not divide", "uneven"},
    {"Layouts that follow", "infer"},
    {"Layouts that are searched", "auto search"},
    {"Hardware", "of"},
    {"What a layout may cost", "expect"},
    {"Files and modules", "import as module checkpoint"},
    {"Errors", "diagnostic"},
    {"The command", "option status"},
    {"While it runs", "metrics tensorboard signal nan"},
    {"Exact results", "bits reproducibility"},
});

constexpr std::string_view kBar = "  | ";  // beside what a program prints

char in_lower_case(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return in_lower_case(c); });
  return result;
}

// Whether `words` stand in the title, not within other words.
bool is_titled(const std::string& title, const std::string& words) {
  const auto is_letter = [&](std::size_t at) {
    return at < title.size() && std::isalnum(static_cast<unsigned char>(title[at])) != 0;
  };
  for (std::size_t at = title.find(words); at != std::string::npos;
       at = title.find(words, at + 1)) {
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + words.size())) {
      return true;
    }
  }
  return false;
}

// An empty line has a bar, but no blanks.
std::string shown_line(std::string_view line, std::string_view indent) {
  const bool is_blank = line.empty() && indent != kBar;
  return std::string(is_blank ? "" : indent) + std::string(line) + "\n";
}

}  // namespace

std::vector<LanguageWord> language_words() {
  std::vector<LanguageWord> words;
  for (const TitledWords& section : kTitledWords) {
    std::istringstream stream{std::string(section.words)};
    for (std::string word; stream >> word;) {
      words.push_back({.name = word, .title = section.title});
    }
  }
  return words;
}

std::optional<std::string_view> section_of_word(std::string_view word) {
  const std::string name = in_lower_case(word);
  for (const LanguageWord& one : language_words()) {
    if (one.name == name || one.name + "s" == name) {
      return one.title;
    }
  }
  return std::nullopt;
}

std::vector<Heading> language_sections() {
  std::vector<Heading> sections = html_of_markdown(language_reference()).headings;
  std::erase_if(sections, [](const Heading& one) { return one.level == 1; });
  return sections;
}

const Heading* find_section(std::span<const Heading> sections, std::string_view asked) {
  const std::string words = in_lower_case(asked);
  const auto first = [&](const auto& is_meant) -> const Heading* {
    const auto found = std::ranges::find_if(
        sections, [&](const Heading& one) { return is_meant(in_lower_case(one.text)); });
    return found == sections.end() ? nullptr : &*found;
  };
  if (const Heading* one = first([&](const std::string& title) { return title == words; })) {
    return one;
  }
  if (const auto title = section_of_word(words)) {
    return first([&](const std::string& one) { return one == in_lower_case(*title); });
  }
  return first([&](const std::string& title) { return is_titled(title, words); });
}

std::vector<std::string_view> parts_of(std::span<const Heading> sections, const Heading& section) {
  std::vector<std::string_view> parts;
  for (const Heading* one = &section + 1;
       one < sections.data() + sections.size() && one->level > section.level; ++one) {
    parts.emplace_back(one->text);
  }
  return parts;
}

std::string section_text(const Heading& section) {
  std::string text;
  std::string_view indent;
  bool is_code = false;
  for (const std::string_view line : lines_of(section.below)) {
    if (line.starts_with("```")) {
      is_code = !is_code;
      indent = !is_code ? "" : line.starts_with("```output") ? kBar : "    ";
    } else if (is_code || !line.starts_with("<!--")) {
      text += shown_line(line, indent);
    }
  }
  return std::string(trimmed(text, "\n")) + "\n";
}

}  // namespace mtf
