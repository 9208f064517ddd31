// Signs that mean nothing here but something elsewhere, each with what to write instead.

#include <algorithm>
#include <array>
#include <span>

#include "frontend/parse/token.h"

namespace mtf::parsing {
namespace {

struct Hint {
  std::string_view text;
  std::string_view message;
};

constexpr std::array kForeign = std::to_array<Hint>({
    {":=", "write `let x = …` for a new name, `x = …` for a `var`"},
    {"&&", "write `and`"},
    {"||", "write `or`"},
    {"!", "write `not`"},
    {"@=", "`einsum` multiplies matrices"},
    {"===", "write `==`"},
    {"!==", "write `!=`"},
    {"&", "write `and`; of bits it is `bitwise_and(a, b)`"},
    {"|", "write `or`; of bits it is `bitwise_or(a, b)`"},
    {"^", "a power is `**`; of bits it is `bitwise_xor(a, b)`"},
    {"~", "write `not`; of bits it is `bitwise_not(x)`"},
    {"?", "a choice is an `if` statement, or `where(c, a, b)` on tensors"},
    {"\\", "a line goes on by itself inside brackets and after an operator"},
    {"$", "inside a string, `{x}` stands for the value of x"},
    {"'", "strings are written in double quotes"},
    {"`", "strings are written in double quotes"},
    {"...", "a range and the rest of the dims are `..`"},
    {"=>", "write `->`, or `>=` to compare; a function is declared with `fn f(x) { … }`"},
});

// What assigns what it computes: `+=` and its like.
constexpr std::array<std::string_view, 7> kChanges = {"+", "-", "*", "/", "//", "%", "**"};

constexpr std::array kLookalikes = std::to_array<Hint>({
    {"“", "a plain `\"` opens and closes a string"},
    {"”", "a plain `\"` opens and closes a string"},
    {"‘", "a plain `\"` opens and closes a string"},
    {"’", "a plain `\"` opens and closes a string"},
    {"−", "write `-`"},
    {"–", "write `-`"},
    {"—", "write `-`"},
    {"×", "write `*`"},
    {"·", "write `*`"},
    {"÷", "write `/`"},
    {"≤", "write `<=`"},
    {"≥", "write `>=`"},
    {"≠", "write `!=`"},
    {"→", "write `->`"},
    {"←", "write `<-`"},
    {"…", "write `..`"},
    {"\u200B", "it is a space of no width; delete it"},
    {"\uFEFF", "it is a space of no width; delete it"},
});

std::string_view find_hint(std::span<const Hint> hints, std::string_view text) {
  for (const Hint& hint : hints) {
    if (hint.text == text) {
      return hint.message;
    }
  }
  return {};
}

// "" or how to write it.
std::string written_out(std::string_view text, std::string_view name) {
  const std::string_view op = text.substr(0, text.size() - 1);
  const bool changes = text.ends_with('=') && std::ranges::find(kChanges, op) != kChanges.end();
  if (!changes && text != "++") {
    return "";
  }
  const std::string to(name.empty() ? "x" : name);
  return "; write `" + to + " = " + to + " " + std::string(op) + (changes ? " …`" : " 1`");
}

}  // namespace

std::string explain_sign(std::string_view text, std::string_view name) {
  std::string message = backticked(text) + " means nothing here" + written_out(text, name);
  for (const std::span<const Hint> hints : {std::span<const Hint>(kForeign), {kLookalikes}}) {
    const std::string_view hint = find_hint(hints, text);
    message += hint.empty() ? "" : "; " + std::string(hint);
  }
  return message;
}

}  // namespace mtf::parsing
