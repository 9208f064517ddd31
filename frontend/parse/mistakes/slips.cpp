// Slips that people make who come from other languages, each told with what to write here.
//
// A slip is recognised by the token that did not fit and the words around it; the first that
// recognises itself speaks.

#include <array>

#include <antlr4-runtime.h>

#include "frontend/parse/keywords.h"
#include "frontend/parse/mistakes/scene.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {
namespace {

struct Word {
  std::string_view word;
  std::string_view message;
};

// As the first word of a statement, followed by another.
constexpr std::array kForeignHeads = std::to_array<Word>({
    {"def", "`fn` declares a function"},
    {"func", "`fn` declares a function"},
    {"function", "`fn` declares a function"},
    {"class", "there are no classes; a `model` is a function that owns parameters"},
    {"struct", "there are no records; a list holds several values, a `model` owns parameters"},
    {"try", "what fails ends the program, and `exists(path)` asks about a file before"},
    {"raise", "`assert c, \"message\"` ends the program unless c holds"},
    {"throw", "`assert c, \"message\"` ends the program unless c holds"},
    {"elif", "write `else if`"},
    {"elseif", "write `else if`"},
    {"const", "`let` declares a name that stays, `var` one that changes"},
    {"auto", "`let` declares a name that stays, `var` one that changes"},
    {"int", "`let` declares a name that stays, `var` one that changes"},
    {"float", "`let` declares a name that stays, `var` one that changes"},
    {"tensor", "`let` declares a name that stays, `var` one that changes"},
    {"del", "values are freed by themselves"},
    {"switch", "write `if … { } else if … { }`"},
    {"match", "write `if … { } else if … { }`"},
    {"until", "write `while not …`"},
    {"loop", "write `while true { }`"},
    {"elsif", "write `else if`"},
});

// In the middle of a statement, where an operator or its end should be.
constexpr std::array kForeignWords = std::to_array<Word>({
    {"if", "a choice is an `if` statement, or `where(c, a, b)` on tensors"},
    {"for", "there are no comprehensions; fill a list in a `for` statement"},
    {"is", "write `==`"},
    {"then", "a block stands in `{ }`"},
    {"do", "a block stands in `{ }`"},
    {"xor", "write `!=`"},
    {"mod", "write `%`"},
    {"lambda", "there are no functions without a name; declare one with `fn`"},
});

template <std::size_t n>
std::string_view find(const std::array<Word, n>& words, std::string_view word) {
  for (const Word& entry : words) {
    if (entry.word == word) {
      return entry.message;
    }
  }
  return {};
}

std::string misspelt(std::string_view word, const std::vector<std::string>& words) {
  const std::string_view meant = closest(word, words);
  return meant.empty()
             ? ""
             : backticked(word) + " means nothing here; did you mean " + backticked(meant) + "?";
}

// from optim import sgd   import optim.sgd   import nn, optim
std::string import_slip(const Scene& scene) {
  const bool from = scene.source.at(scene.head()) == "from" && scene.position() == 1;
  const bool member = scene.head().type == MtfParser::IMPORT && scene.position() == 2 &&
                      scene.type(0) == MtfParser::DOT;
  if (member) {
    const std::string module(scene.text(-1));
    return "a module is imported whole: write `import " + module + "`, then `" + module + "." +
           std::string(scene.text(1)) + "`";
  }
  if (scene.head().type == MtfParser::IMPORT && scene.type(0) == MtfParser::COMMA) {
    return "an `import` names one module; write `import " + std::string(scene.text(1)) +
           "` on a line of its own";
  }
  if (scene.head().type == MtfParser::IMPORT && scene.position() > 1 && is_word(scene.type(0)) &&
      scene.type(1) == MtfParser::NAME) {
    return backticked(scene.text(0)) + " means nothing here; write `as " +
           std::string(scene.text(1)) + "` for a name of your own";
  }
  if (!from) {
    return {};
  }
  if (scene.type(0) == MtfParser::STRING_BEGIN) {
    return "`from` means nothing here; write `import \"" + std::string(scene.text(1)) +
           "\" as NAME`, then `NAME.…`";
  }
  const std::string module(scene.text(0));
  const bool names_one = scene.text(1) == "import" && scene.type(2) == MtfParser::NAME;
  return "`from` means nothing here; write `import " + module + "`, then `" + module + "." +
         (names_one ? std::string(scene.text(2)) : "…") + "`";
}

std::string head_slip(const Scene& scene) {
  const std::string head = backticked(scene.source.at(scene.head()));
  if (scene.position() == 0 && scene.type(0) == MtfParser::ELSE) {
    return "`else` without an `if` before it";
  }
  const bool is_operator = scene.type(0) >= MtfParser::EQUAL && scene.type(0) <= MtfParser::UPDATE;
  if (scene.position() == 0 && is_operator) {
    return "a line cannot start with " + head + "; end the line before with it";
  }
  if (scene.position() == 1 && scene.head().type == MtfParser::NAME) {
    if (const auto hint = find(kForeignHeads, scene.source.at(scene.head())); !hint.empty()) {
      return head + " means nothing here; " + std::string(hint);
    }
    const std::string meant = misspelt_head(scene);
    return meant.empty() ? ""
                         : head + " means nothing here; did you mean " + backticked(meant) + "?";
  }
  return {};
}

// layout a on grid { * -> rows }
std::string rule_head_slip(const Scene& scene) {
  return scene.type(0) == MtfParser::STAR && scene.type(1) == MtfParser::ARROW
             ? "a rule begins with the name of a dim; `*` stands behind its `->`, last, for the "
               "axes that a tensor leaves unused"
             : "";
}

// f"a is {a}"
std::string string_slip(const Scene& scene) {
  const bool touches = scene.type(0) == MtfParser::STRING_BEGIN &&
                       scene.type(-1) == MtfParser::NAME &&
                       scene.token(-1).end == scene.token(0).begin;
  return touches
             ? "a string has nothing before its `\"`; leave out the " + backticked(scene.text(-1)) +
                   ": `{x}` stands for the value of x in any string"
             : "";
}

// `//` divides, so what follows it is read until it makes no sense.
bool after_floor(const Scene& scene) {
  for (std::ptrdiff_t i = -1; scene.position() > static_cast<std::size_t>(-i - 1); --i) {
    if (scene.type(i) == MtfParser::FLOOR) {
      return scene.source.text.substr(scene.token(i).end, scene.token(0).begin - scene.token(i).end)
                 .find('\n') == std::string_view::npos;
    }
  }
  return false;
}

// Whether what stands behind a number's digits is of a number as other languages have it: 0x10,
// 10L, 1e, 1__0.
bool goes_on_as_number(std::string_view digits, std::string_view rest) {
  constexpr std::string_view kBases = "xXbBoO";
  constexpr std::string_view kEndings = "eEfFlLuUjJ";
  const bool has_base = digits == "0" && kBases.find(rest.front()) != std::string_view::npos;
  const bool has_ending = rest.size() == 1 && kEndings.find(rest.front()) != std::string_view::npos;
  return has_base || has_ending || rest.find_first_not_of("_0123456789") == std::string_view::npos;
}

// 0x10   2d
std::string digits_slip(const Scene& scene) {
  const bool after_number = scene.type(-1) == MtfParser::INT || scene.type(-1) == MtfParser::FLOAT;
  if (scene.type(0) != MtfParser::NAME || !after_number ||
      scene.token(0).begin != scene.token(-1).end) {
    return {};
  }
  const std::string found = std::string(scene.text(-1)) + std::string(scene.text(0));
  return goes_on_as_number(scene.text(-1), scene.text(0))
             ? "a number is written as `16`, `1_000`, `0.5` or `1e-3`, found `" + found + "`"
             : "a name cannot start with a digit, found `" + found + "`";
}

std::string word_slip(const Scene& scene) {
  const bool after_value = ends_operand(scene.type(-1));
  if (std::string text = digits_slip(scene); !text.empty()) {
    return text;
  }
  const std::ptrdiff_t at =
      scene.type(-1) == MtfParser::NAME && scene.text(-1) == "lambda" ? -1 : 0;
  if (after_value && after_floor(scene)) {
    return "found " + describe(scene.source, scene.token(0)) +
           " where the statement should end; `//` divides, a comment starts with `#`";
  }
  if (is_word(scene.type(at)) && (after_value || at != 0)) {
    if (const auto hint = find(kForeignWords, scene.text(at)); !hint.empty()) {
      return backticked(scene.text(at)) + " means nothing here; " + std::string(hint);
    }
  }
  if (scene.expects(MtfParser::LAYOUT) && scene.head().type == MtfParser::USE) {
    return "write `use layout " + std::string(scene.text(0)) + "`";
  }
  if (scene.type(0) == MtfParser::AS && scene.type(-1) == MtfParser::CLOSE_PAREN) {
    return "`as` takes a string here, found " + describe(scene.source, scene.token(1));
  }
  return {};
}

// f(x, rate: 0.1)   f(x, out: 32)
std::string argument_slip(const Scene& scene) {
  const bool in_call =
      scene.type(-2) == MtfParser::COMMA || scene.type(-2) == MtfParser::OPEN_PAREN;
  if (!is_word(scene.type(-1)) || !in_call || !scene.expects(MtfParser::CLOSE_PAREN)) {
    return {};
  }
  const std::string name(scene.text(-1));
  const bool is_size = scene.type(1) == MtfParser::INT;
  const bool is_short = is_size || scene.type(1) == MtfParser::FLOAT || is_word(scene.type(1));
  const std::string given = name + " = " + (is_short ? std::string(scene.text(1)) : "…");
  return "a named argument is written `" + given + "`" +
         (is_size ? ", and a new dim `[" + name + ": " + std::string(scene.text(1)) + "]`"
                  : ", found `:`");
}

std::string colon_slip(const Scene& scene) {
  switch (scene.head().type) {
    case MtfParser::LET:
    case MtfParser::VAR:
      if (scene.expects(MtfParser::ASSIGN)) {
        return backticked(scene.source.at(scene.head())) + " takes no type; the value has one";
      }
      break;
    case MtfParser::FOR:
    case MtfParser::WHILE:
    case MtfParser::IF:
    case MtfParser::FN:
    case MtfParser::MODEL:
      if (scene.type(1) == MtfParser::SEP || scene.type(1) == MtfParser::EOF) {
        return "a block stands in `{ }`, not after `:`";
      }
      break;
    default:
      break;
  }
  if (std::string text = argument_slip(scene); !text.empty()) {
    return text;
  }
  const bool in_pin = scene.type(-2) == MtfParser::OPEN_BRACKET && scene.type(-3) == MtfParser::PIN;
  if (in_pin || scene.mistake.rule == MtfParser::RuleLayoutBody) {
    return "a rule is written `dim -> axis`, found `:`";
  }
  return scene.position() == 1 ? "write `let x = …` to declare a name, found `:`" : "";
}

// .5
std::string number_slip(const Scene& scene) {
  const bool is_number = scene.type(1) == MtfParser::INT || scene.type(1) == MtfParser::FLOAT;
  if (scene.type(0) == MtfParser::DOT && is_number) {
    return "a number starts with a digit; write `0." + std::string(scene.text(1)) + "`";
  }
  return {};
}

std::string comparison_slip(const Scene& scene) {
  const std::size_t head = scene.head().type;
  const bool condition =
      head == MtfParser::IF || head == MtfParser::WHILE || head == MtfParser::ASSERT;
  if (scene.type(0) == MtfParser::ASSIGN && condition) {
    return "`=` does not compare; write `==`";
  }
  if (scene.type(0) == MtfParser::GREATER && scene.type(-1) == MtfParser::LESS) {
    return "`<>` means nothing here; write `!=`";
  }
  if (scene.type(0) == MtfParser::LESS && scene.type(-1) == MtfParser::LESS) {
    return "`<<` means nothing here; `left_shift(a, n)` moves bits";
  }
  if (scene.type(0) == MtfParser::GREATER && scene.type(-1) == MtfParser::GREATER) {
    return "`>>` means nothing here; `right_shift(a, n)` moves bits";
  }
  return {};
}

std::string sign_slip(const Scene& scene) {
  const std::size_t head = scene.head().type;
  if (scene.type(0) == MtfParser::COLON) {
    return colon_slip(scene);
  }
  if (scene.type(0) == MtfParser::COMMA && scene.mistake.rule == MtfParser::RuleOperand &&
      scene.expects(MtfParser::CLOSE_PAREN)) {
    return "parentheses hold one value; a list is written `[a, b]`";
  }
  if (scene.type(0) == MtfParser::RANGE && ends_operand(scene.type(-1))) {
    return scene.head().type == MtfParser::FOR
               ? "a range has one `..`; write `for i in 0..10 step 2` for every second number"
               : "a range `a..b` stands in a `for` and in an index, not here";
  }
  if (scene.type(0) == MtfParser::OPEN_BRACE && scene.type(-1) == MtfParser::EXPR_BEGIN) {
    return "`{ }` in a string holds one value, as `{x}`; a brace that is shown is written `\\{`";
  }
  if (scene.type(0) == MtfParser::OPEN_BRACE && scene.expects(MtfParser::OPEN_BRACKET) &&
      !has_block(head)) {
    return "`{ }` holds a block, not a value; there are no dicts or sets: a list is written "
           "`[a, b]`";
  }
  if (scene.type(-1) == MtfParser::PIN) {
    return "`@` pins a layout, as in `x @ [batch -> rows]`; a product is written `einsum`";
  }
  return {};
}

// layout l on g unevn { }   uneven layout l on g { }
std::string layout_slip(const Scene& scene) {
  if (scene.position() == 1 && scene.text(0) == "layout") {
    const std::string kind(scene.source.at(scene.head()));
    return kind == "infer" || kind == "auto" || kind == "uneven"
               ? backticked(kind) + " stands behind the mesh: `layout " +
                     std::string(scene.text(1)) + " on MESH " + kind + " { … }`"
               : "";
  }
  if (scene.head().type != MtfParser::LAYOUT || !scene.expects(MtfParser::OPEN_BRACE) ||
      !is_word(scene.type(0))) {
    return {};
  }
  if (scene.type(1) == MtfParser::ARROW) {
    return "the rules of a layout stand in `{ }`, found " + describe(scene.source, scene.token(0));
  }
  if (std::string text = misspelt(scene.text(0), {"infer", "auto", "uneven"}); !text.empty()) {
    return text;
  }
  if (scene.text(0) == "on" && scene.position() > 2) {
    const std::string kind = std::string(scene.text(-1));
    return "`on` stands before " + backticked(kind) + "; write `layout " +
           std::string(scene.text(1 - static_cast<std::ptrdiff_t>(scene.position()))) + " on " +
           std::string(scene.text(1)) + " " + kind + " {`";
  }
  return backticked(scene.text(0)) + " means nothing here; " +
         (scene.position() == 2 ? "a layout is made `on` a mesh"
                                : "a layout may be `infer`, `auto` or `uneven`");
}

// let f = fn (x) { return x }
std::string function_slip(const Scene& scene) {
  if (scene.type(0) != MtfParser::OPEN_BRACE || scene.type(-1) != MtfParser::CLOSE_PAREN) {
    return {};
  }
  std::ptrdiff_t at = -1;
  for (int open = 1; open > 0 && scene.position() > static_cast<std::size_t>(-at);) {
    --at;
    open += scene.type(at) == MtfParser::CLOSE_PAREN  ? 1
            : scene.type(at) == MtfParser::OPEN_PAREN ? -1
                                                      : 0;
  }
  return scene.text(at - 1) == "fn" || scene.text(at - 1) == "function"
             ? "there are no functions without a name; declare one with `fn f(x) { … }` and use `f`"
             : "";
}

std::string structure_slip(const Scene& scene) {
  const std::string head = backticked(scene.source.at(scene.head()));
  const bool binds = scene.head().type == MtfParser::LET || scene.head().type == MtfParser::VAR;
  if (binds && scene.at_line_end() && scene.expects(MtfParser::ASSIGN)) {
    return head + " needs a value: " + head.substr(0, head.size() - 1) + " x = …`";
  }
  if (scene.head().type == MtfParser::MESH && scene.text(-1) == "of") {
    return "hardware has a name: `of h100`, or a `let` with a `hardware_profile(…)` of yours";
  }
  if (scene.head().type == MtfParser::MESH && scene.type(0) == MtfParser::INT) {
    return "a mesh axis has a name, as in `[rows: 2, cols: 2]`";
  }
  if (scene.head().type == MtfParser::MESH && scene.type(0) == MtfParser::DOT) {
    return "hardware is named alone: `of " + std::string(scene.text(1)) + "`";
  }
  if (scene.type(0) == MtfParser::SEP && scene.type(1) == MtfParser::OPEN_BRACE &&
      scene.expects(MtfParser::OPEN_BRACE)) {
    return "the `{` belongs on the line of its " + head;
  }
  if (scene.type(0) == MtfParser::SEP && scene.expects(MtfParser::OPEN_BRACE)) {
    return head + " needs a block in `{ }`";
  }
  return {};
}

}  // namespace

std::string explain_slip(const Source& source, std::span<const Token> tokens,
                         const Mistake& mistake) {
  const Scene scene{.source = source, .tokens = tokens, .mistake = mistake};
  for (const auto& recognise :
       {import_slip, statement_slip, binding_slip, rule_head_slip, head_slip, string_slip,
        word_slip, number_slip, comparison_slip, bracket_slip, sign_slip, layout_slip,
        function_slip, structure_slip}) {
    if (std::string text = recognise(scene); !text.empty()) {
      return text;
    }
  }
  return {};
}

}  // namespace mtf::parsing
