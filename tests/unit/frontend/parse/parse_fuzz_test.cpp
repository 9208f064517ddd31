// Every prefix and thousands of mutations of real programs: a tree without errors, or errors
// without a tree, and never a crash. What parses prints as a program with the same tree.

#include <random>

#include <catch2/catch.hpp>

#include "tests/unit/frontend/parse/parse_helpers.h"

namespace mtf::test {
namespace {

// Not CHECK for each: a hundred thousand passing assertions only cost time.
std::string complaint(const std::string& text) {
  const Parsed parsed = parse_text(text);
  if (parsed.file.has_value() != parsed.diags.ok()) {
    return parsed.file ? "a tree in spite of errors" : "neither a tree nor an error";
  }
  if (parsed.diags.errors() > kMaxSyntaxErrors) {
    return "too many errors";
  }
  for (const Diag& diag : parsed.diags.diags()) {
    if (diag.span.begin > diag.span.end || diag.span.end > text.size() || diag.text.empty()) {
      return "an error without a place: " + diag.text;
    }
  }
  if (!parsed.file) {
    return {};
  }
  const std::string once = ast::to_string(*parsed.file);
  const std::string twice = tree(once);
  return once == twice ? "" : "prints as another program:\n" + once + "\nand then\n" + twice;
}

void check(const std::string& text) {
  const std::string wrong = complaint(text);
  if (!wrong.empty()) {
    FAIL_CHECK(wrong << "\n" << text);
  }
}

TEST_CASE("every prefix of a program parses or is told why not") {
  for (const std::string_view program : {kTwoLayer, kEverything}) {
    for (std::size_t length = 0; length <= program.size(); ++length) {
      check(std::string(program.substr(0, length)));
      static_cast<void>(needs_more(program.substr(0, length)));
    }
  }
}

TEST_CASE("every suffix of a program parses or is told why not") {
  for (const std::string_view program : {kTwoLayer, kEverything}) {
    for (std::size_t start = 0; start <= program.size(); ++start) {
      check(std::string(program.substr(start)));
    }
  }
}

TEST_CASE("a program cut at a line either stands or asks for more") {
  for (const std::string_view program : {kTwoLayer, kEverything}) {
    for (std::size_t end = program.find('\n'); end != std::string_view::npos;
         end = program.find('\n', end + 1)) {
      const std::string start(program.substr(0, end + 1));
      INFO(start);
      CHECK(needs_more(start) != parse_text(start).file.has_value());
    }
  }
}

// One change of a kind that people or files suffer.
std::string mutated(std::string text, std::mt19937& random) {
  static const std::vector<std::string> kPieces = {
      "(",  ")",  "[",   "]",    "{",      "}",     "\"",   "\n",   ";",      ",",   "->",     "=",
      "..", "*",  "-",   "**",   "<-",     "@",     ":",    ".",    "not ",   "and", "let",    "fn",
      "as", "in", "if ", "else", "layout", "with ", "{x}",  "3",    "1.5",    "\\",  "'",      "&&",
      "é",  "#",  " ",   "or ",  "model ", "state", "use ", "for ", "params", "at ", "return", "$"};
  const auto below = [&](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound)(random);
  };
  const std::size_t at = below(text.size());
  switch (below(4)) {
    case 0:
      return text.insert(at, kPieces[below(kPieces.size() - 1)]);
    case 1:
      return text.erase(at, below(12));
    case 2:
      return text.replace(at, std::min<std::size_t>(1, text.size() - at),
                          kPieces[below(kPieces.size() - 1)]);
    case 3:
      return text.insert(at, text.substr(below(text.size()), below(40)));
    default:
      text.insert(at, 1, static_cast<char>(below(255)));
      return text;
  }
}

TEST_CASE("mutations of a program parse or are told why not") {
  std::mt19937 random(7);  // NOLINT: the same programs every time
  for (int round = 0; round < 1500; ++round) {
    std::string text(round % 2 == 0 ? kTwoLayer : kEverything);
    for (int change = 0; change <= round % 5; ++change) {
      text = mutated(std::move(text), random);
    }
    check(text);
  }
}

TEST_CASE("words and signs in any order parse or are told why not") {
  std::mt19937 random(11);  // NOLINT
  for (int round = 0; round < 1500; ++round) {
    std::string text;
    for (int piece = 0; piece < 30; ++piece) {
      text = mutated(std::move(text), random);
    }
    check(text);
  }
}

}  // namespace
}  // namespace mtf::test
