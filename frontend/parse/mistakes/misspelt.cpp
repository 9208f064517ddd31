// A word that a statement might begin with, misspelt: what stands behind it says which are meant.
//
// Short words are near to many, so that the form decides: `le x = 3` declares, `ese {` goes on.

#include <array>

#include <antlr4-runtime.h>

#include "frontend/parse/mistakes/scene.h"
#include "frontend/parse/parse.h"

namespace mtf::parsing {
namespace {

enum class Fit : std::uint8_t { kNo, kPerhaps, kYes };

Fit yes_if(bool condition) {
  return condition ? Fit::kYes : Fit::kNo;
}

// Of a word with a name behind it, what may follow that.
Fit fits_declaration(std::string_view word, const Scene& scene) {
  const std::size_t next = scene.type(1);
  if (word == "let" || word == "var") {
    return yes_if(next == MtfParser::ASSIGN || next == MtfParser::COMMA);
  }
  if (word == "param" || word == "state") {
    return yes_if(next == MtfParser::COLON || next == MtfParser::ASSIGN);
  }
  if (word == "dim" || word == "mesh" || word == "option") {
    return yes_if(next == MtfParser::ASSIGN);
  }
  if (word == "fn" || word == "model") {
    return yes_if(next == MtfParser::OPEN_PAREN);
  }
  if (word == "layout") {
    return yes_if(scene.text(1) == "on" || next == MtfParser::OPEN_BRACE);
  }
  return yes_if(word == "for" && scene.text(1) == "in");
}

// Whether the word could stand before the token of the mistake.
Fit fits(std::string_view word, const Scene& scene) {
  static constexpr std::array<std::string_view, 11> kBeforeName{
      "let", "var", "param", "state", "dim", "mesh", "option", "fn", "model", "layout", "for"};
  const std::string_view next = scene.text(0);
  if (std::ranges::find(kBeforeName, word) != kBeforeName.end()) {
    return is_word(scene.type(0)) ? fits_declaration(word, scene) : Fit::kNo;
  }
  const bool is_block = scene.type(0) == MtfParser::OPEN_BRACE;
  if (word == "else") {
    return yes_if(is_block || next == "if");
  }
  if (word == "use" || word == "with") {
    return yes_if(next == "layout" || (word == "with" && next == "precision"));
  }
  if (word == "recompute") {
    return yes_if(is_block);
  }
  if (word == "break" || word == "continue") {
    return Fit::kNo;
  }
  return is_block && word != "expect" ? Fit::kNo : Fit::kPerhaps;
}

// One letter left out, or two exchanged: of words that are too short for others to be told.
bool is_slip_of(std::string_view word, std::string_view whole) {
  if (word.size() == whole.size()) {
    return word.size() == 2 && word[0] == whole[1] && word[1] == whole[0];
  }
  for (std::size_t i = 0; word.size() + 1 == whole.size() && i < whole.size(); ++i) {
    if (word.substr(0, i) == whole.substr(0, i) && word.substr(i) == whole.substr(i + 1)) {
      return true;
    }
  }
  return false;
}

// The nearest of these, and none for a word that is none of them at all.
std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t kShort = 2;
  if (word.size() > kShort) {
    return std::string(closest(word, words));
  }
  const auto slip = std::ranges::find_if(
      words, [word](const std::string& whole) { return is_slip_of(word, whole); });
  return slip == words.end() ? "" : *slip;
}

}  // namespace

std::string misspelt_head(const Scene& scene) {
  const std::string_view word = scene.source.at(scene.head());
  const std::vector<std::string> all = statement_words();
  for (const Fit wanted : {Fit::kYes, Fit::kPerhaps}) {
    if (wanted == Fit::kPerhaps && word.size() == 1) {
      continue;  // a name, most likely
    }
    std::vector<std::string> words;
    std::ranges::copy_if(all, std::back_inserter(words),
                         [&](const std::string& one) { return fits(one, scene) == wanted; });
    if (std::string meant = nearest(word, words); !meant.empty()) {
      return meant;
    }
  }
  return std::string(closest(word, all));
}

}  // namespace mtf::parsing
