// Slips where something gets a name, or a layout its rules: several at once, a comma that is
// missing, a function that is bound like a value.

#include <antlr4-runtime.h>

#include "frontend/parse/mistakes/scene.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {
namespace {

bool begins_binding(const Scene& scene, std::ptrdiff_t at) {
  return scene.type(at) == MtfParser::NAME && scene.type(at + 1) == MtfParser::ASSIGN;
}

// let a = 1, b = 2   let a, b = 1, 2   let a = b = 1   let f(x) = x
std::string let_slip(const Scene& scene) {
  const bool binds = scene.head().type == MtfParser::LET || scene.head().type == MtfParser::VAR;
  if (!binds) {
    return {};
  }
  const std::string word(scene.source.at(scene.head()));
  constexpr std::size_t kBehindName = 2;
  if (scene.type(0) == MtfParser::OPEN_PAREN && scene.position() == kBehindName) {
    const std::string name(scene.text(-1));
    return "a function is declared as `fn " + name + "(x) { return … }`, and not by `" + word + "`";
  }
  if (!scene.expects(MtfParser::SEP) || !ends_operand(scene.type(-1))) {
    return {};
  }
  if (scene.type(0) == MtfParser::COMMA) {
    return begins_binding(scene, 1)
               ? "a `" + word + "` has one value; `" + word + " " + std::string(scene.text(1)) +
                     " = …` stands on a line of its own, or behind `;`"
               : "several values stand in a list, as in `" + word + " a, b = [1, 2]`";
  }
  return scene.type(0) == MtfParser::ASSIGN
             ? "a `" + word +
                   "` has one `=`; each name is bound on a line of its own, or behind `;`"
             : "";
}

// dim n: 4   dim n = 4 m = 5
std::string dim_slip(const Scene& scene) {
  if (scene.head().type != MtfParser::DIM) {
    return {};
  }
  if (scene.type(0) == MtfParser::COLON && scene.expects(MtfParser::ASSIGN)) {
    return "a dim gets its size by `=`, as in `dim " + std::string(scene.text(-1)) + " = 4`";
  }
  return begins_binding(scene, 0) && scene.expects(MtfParser::SEP)
             ? "a comma is missing before " + describe(scene.source, scene.token(0))
             : "";
}

// layout l on m { a -> x } uneven
std::string kind_slip(const Scene& scene) {
  const std::string kind(scene.text(0));
  const bool is_kind = kind == "infer" || kind == "auto" || kind == "uneven";
  const bool is_behind =
      scene.head().type == MtfParser::LAYOUT && scene.type(-1) == MtfParser::CLOSE_BRACE;
  return is_kind && is_behind
             ? "`" + kind + "` stands before the rules: `layout NAME on MESH " + kind + " { … }`"
             : "";
}

// layout l on m { a -> x y }   { a -> x at "w" { } }   { param { } }   { params a -> x }
std::string layout_rule_slip(const Scene& scene) {
  if (scene.mistake.rule != MtfParser::RuleLayoutBody) {
    return {};
  }
  const std::string_view word = scene.source.at(scene.head());
  const bool is_first = scene.position() == 0 || scene.position() == 1;
  const std::vector<std::string> named{"params"};
  if (is_first && (word == "param" || word == "params" || !closest(word, named).empty())) {
    return "rules of params stand in `params { … }`, as in `params { batch -> rows }`";
  }
  const bool is_behind_name = scene.type(-1) == MtfParser::NAME && is_word(scene.type(0));
  if (!is_behind_name || scene.expects(MtfParser::OPEN_BRACE)) {
    return {};
  }
  const bool is_item =
      scene.type(1) == MtfParser::ARROW || scene.text(0) == "at" || scene.text(0) == "params";
  if (is_item) {
    return "a comma is missing before " + describe(scene.source, scene.token(0));
  }
  return scene.expects(MtfParser::SEP) && scene.type(-2) == MtfParser::ARROW
             ? "several axes stand in parentheses, as in `batch -> (" +
                   std::string(scene.text(-1)) + ", " + std::string(scene.text(0)) + ")`"
             : "";
}

// @jit   :plan step
std::string sign_before_statement(const Scene& scene) {
  if (scene.position() != 0) {
    return {};
  }
  if (scene.type(0) == MtfParser::COLON && is_word(scene.type(1))) {
    return "`:" + std::string(scene.text(1)) +
           "` is a command of a session, which `mtf repl` reads; a file has none";
  }
  return scene.type(0) == MtfParser::PIN
             ? "`@` pins a layout, as in `x @ [batch -> rows]`; there are no decorators"
             : "";
}

}  // namespace

std::string binding_slip(const Scene& scene) {
  for (const auto& recognise :
       {let_slip, dim_slip, kind_slip, layout_rule_slip, sign_before_statement}) {
    if (std::string text = recognise(scene); !text.empty()) {
      return text;
    }
  }
  return {};
}

}  // namespace mtf::parsing
