// Slips in the form of a statement: it is written like a call, or a comma is missing in it.

#include <antlr4-runtime.h>

#include "frontend/parse/mistakes/scene.h"

namespace mtf::parsing {
namespace {

bool is_head(const Scene& scene, std::size_t type) {
  return scene.head().type == type;
}

// What stands between two tokens, the first of which has that distance from the mistake.
std::string written_between(const Scene& scene, std::ptrdiff_t first, std::ptrdiff_t end) {
  const Token& last = scene.token(end - 1);
  return std::string(
      scene.source.text.substr(scene.token(first).begin, last.end - scene.token(first).begin));
}

// The distance of what follows the statement, from `begin` on.
std::ptrdiff_t end_of_statement(const Scene& scene, std::ptrdiff_t begin) {
  while (scene.type(begin) != MtfParser::SEP && scene.type(begin) != MtfParser::EOF &&
         scene.type(begin) != MtfParser::CLOSE_BRACE) {
    ++begin;
  }
  return begin;
}

// That of the first token of a type; `end` if there is none before.
std::ptrdiff_t distance_to(const Scene& scene, std::size_t type, std::ptrdiff_t end) {
  std::ptrdiff_t at = 0;
  while (at < end && scene.type(at) != type) {
    ++at;
  }
  return at;
}

// The distance of the statement's first word.
std::ptrdiff_t head_at(const Scene& scene) {
  return -static_cast<std::ptrdiff_t>(scene.position());
}

// `minimize LOSS with RULE(…)`, of a loss and a rule as they are written, where they are short.
std::string minimize_form(const std::string& loss, const std::string& rule) {
  constexpr std::size_t kShort = 60;
  const bool is_short = !loss.empty() && rule.find('(') != std::string::npos &&
                        (loss + rule).find('\n') == std::string::npos &&
                        loss.size() + rule.size() < kShort;
  return is_short ? "`minimize " + loss + " with " + rule + "`"
                  : "`minimize loss with optim.sgd(lr = 0.1)`";
}

// minimize(loss, rule)   minimize loss, rule   minimize(loss)
std::string minimize_slip(const Scene& scene) {
  if (!is_head(scene, MtfParser::MINIMIZE)) {
    return {};
  }
  const std::ptrdiff_t first = head_at(scene) + 1;
  const bool in_parentheses = scene.type(first) == MtfParser::OPEN_PAREN &&
                              scene.mistake.rule == MtfParser::RuleOperand &&
                              scene.expects(MtfParser::CLOSE_PAREN);
  if (scene.type(0) == MtfParser::COMMA && in_parentheses) {
    const Token& close = scene.tokens[scene.token(first).partner];
    const std::uint32_t begin = scene.token(1).begin;
    const std::string rule(scene.source.text.substr(begin, std::max(begin, close.begin) - begin));
    return "`minimize` takes no parentheses around its parts; write " +
           minimize_form(written_between(scene, first + 1, 0), rule);
  }
  if (!scene.expects(MtfParser::WITH)) {
    return {};
  }
  const std::ptrdiff_t end = end_of_statement(scene, 1);
  const bool is_other_word =  // minimize loss using optim.sgd()
      scene.type(0) == MtfParser::NAME && scene.type(1) == MtfParser::NAME;
  const bool is_skipped = scene.type(0) == MtfParser::COMMA || is_other_word;
  const std::ptrdiff_t with = distance_to(scene, MtfParser::WITH, end);
  if (is_skipped && with < end) {  // minimize loss over params(net) with optim.sgd()
    return "the params that alone are trained stand behind the rule: `minimize " +
           written_between(scene, first, 0) + " with " + written_between(scene, with + 1, end) +
           ", params = " + written_between(scene, 1, with) + "`";
  }
  const std::string found =
      scene.at_line_end() ? "`minimize` needs a rule" : "the rule stands behind `with`";
  return found + "; write " +
         minimize_form(written_between(scene, first, 0),
                       scene.at_line_end() ? "" : written_between(scene, is_skipped ? 1 : 0, end));
}

// maximize reward with optim.adam(lr = 0.1)
std::string maximize_slip(const Scene& scene) {
  if (scene.source.at(scene.head()) != "maximize" || scene.position() != 1) {
    return {};
  }
  const std::ptrdiff_t with = distance_to(scene, MtfParser::WITH, end_of_statement(scene, 0));
  const std::string gain =
      scene.type(with) == MtfParser::WITH ? written_between(scene, 0, with) : "gain";
  const bool is_call = scene.type(1) == MtfParser::OPEN_PAREN &&
                       scene.tokens[scene.token(1).partner].begin == scene.token(with - 1).begin;
  const bool is_one = with == 1 || is_call || scene.type(with) != MtfParser::WITH;
  return "`maximize` means nothing here; write `minimize -" + (is_one ? gain : "(" + gain + ")") +
         " with …`";
}

// `with precision "bf16" { }`: the word is there, and no name behind it.
std::string names_its_choice(const Scene& scene, std::ptrdiff_t word) {
  const bool is_precision = scene.text(word) == "precision";
  std::string name(scene.text(word + 2));
  if (!is_word(scene.type(word + 2)) && scene.type(word + 2) != MtfParser::TEXT) {
    name = is_precision ? "bf16" : "NAME";
  }
  const bool is_region = scene.source.at(scene.head()) == "with";
  return backticked(scene.text(word)) + " takes a name, without quotes or parentheses; write `" +
         std::string(scene.source.at(scene.head())) + " " + std::string(scene.text(word)) + " " +
         name + (is_region ? " { … }`" : "`");
}

// with precison bf16 { }   use lay both
std::string region_slip(const Scene& scene) {
  const std::string_view head = scene.source.at(scene.head());
  const bool is_region = head == "with" || head == "use";
  const std::ptrdiff_t word = 1 - static_cast<std::ptrdiff_t>(scene.position());
  if (!is_region || scene.position() > 1 || scene.type(word) != MtfParser::NAME) {
    return {};
  }
  const std::vector<std::string> words = head == "with"
                                             ? std::vector<std::string>{"layout", "precision"}
                                             : std::vector<std::string>{"layout"};
  if (scene.text(word) == words.back()) {  // and no name behind it
    return names_its_choice(scene, word);
  }
  const std::string_view meant = closest(scene.text(word), words);
  if (meant.empty() && head == "use") {
    return {};  // the name of a layout, perhaps
  }
  return backticked(head) + " goes on with " + backticked(words.front()) +
         (words.size() > 1 ? " or " + backticked(words.back()) : "") + ", not " +
         backticked(scene.text(word)) +
         (meant.empty() ? "" : "; did you mean " + backticked(meant) + "?");
}

// use layout(both)   with layout "both" { }
std::string layout_name_slip(const Scene& scene) {
  const bool is_named =
      scene.type(-1) == MtfParser::LAYOUT && scene.position() == 2 &&
      (scene.type(0) == MtfParser::STRING_BEGIN || scene.type(0) == MtfParser::OPEN_PAREN);
  return is_named ? names_its_choice(scene, -1) : "";
}

// print(a, b)   assert(c, "message")
std::string parentheses_slip(const Scene& scene) {
  const bool has_parts = is_head(scene, MtfParser::PRINT) || is_head(scene, MtfParser::ASSERT);
  const bool is_first = scene.token(head_at(scene) + 1).type == MtfParser::OPEN_PAREN &&
                        scene.type(0) == MtfParser::COMMA &&
                        scene.mistake.rule == MtfParser::RuleOperand &&
                        scene.expects(MtfParser::CLOSE_PAREN);
  return has_parts && is_first
             ? backticked(scene.source.at(scene.head())) + " takes no parentheses around its parts"
             : "";
}

std::string takes_a_path(bool is_save) {
  return is_save ? "`save` takes a path and writes all variables: `save \"net.safetensors\"`"
                 : "`restore` takes a path and reads all variables: `restore "
                   "\"net.safetensors\"`; `as \"net/*\"` behind it reads these alone";
}

// save "x.safetensors", keep   save "x.safetensors", net
std::string option_form(const Scene& scene, bool is_save) {
  const std::string_view name = scene.text(-1);
  const bool is_one = is_save ? name == "keep" || name == "part_bytes" || name == "note"
                              : name == "cast" || name == "from";
  if (!is_one) {
    return takes_a_path(is_save);
  }
  const std::string_view value = name == "note"   ? "\"…\""
                                 : name == "from" ? "\"net/*\""
                                 : name == "cast" ? "true"
                                                  : "3";
  return backticked(name) + " takes a value, as in `" + std::string(name) + " = " +
         std::string(value) + "`";
}

// save net, "x.safetensors"   save "x.safetensors", "a note"
std::string second_part(const Scene& scene, bool is_save) {
  if (scene.type(-1) != MtfParser::COMMA || !scene.expects(MtfParser::NAME)) {
    return {};
  }
  if (scene.token(head_at(scene) + 1).type != MtfParser::STRING_BEGIN) {
    return takes_a_path(is_save);
  }
  if (scene.type(0) != MtfParser::STRING_BEGIN) {
    return {};
  }
  return is_save ? "`save` writes one file; a text beside the variables is its `note = \"…\"`"
                 : "`restore` reads one file; the variables that it reads stand behind `as`";
}

// save net to "x.safetensors"   restore "x.safetensors" as "net/*" cast = true
std::string checkpoint_slip(const Scene& scene) {
  const bool is_save = is_head(scene, MtfParser::SAVE);
  if (!(is_save || is_head(scene, MtfParser::RESTORE))) {
    return {};
  }
  if (std::string text = second_part(scene, is_save); !text.empty()) {
    return text;
  }
  if (!ends_operand(scene.type(-1))) {
    return {};
  }
  if (scene.type(0) == MtfParser::NAME && scene.type(1) == MtfParser::ASSIGN) {
    return "a comma is missing before " + backticked(scene.text(0));
  }
  const std::string head = backticked(scene.source.at(scene.head()));
  if (const bool is_option = scene.type(-2) == MtfParser::COMMA && is_word(scene.type(-1));
      is_option && scene.expects(MtfParser::ASSIGN)) {
    return option_form(scene, is_save);
  }
  if (!is_save && scene.type(0) == MtfParser::STRING_BEGIN) {
    return head +
           " names the variables that it reads behind `as`: `restore \"net.safetensors\" as " +
           "\"net/*\"`";
  }
  const bool is_other =
      (scene.type(0) == MtfParser::NAME && scene.text(0) != "if") || scene.type(0) == MtfParser::IN;
  if (!is_other) {
    return {};
  }
  return takes_a_path(is_save);
}

// Whether the statement was read to its end, had it ended here.
bool may_end(const Scene& scene) {
  return scene.mistake.rule == MtfParser::RuleFile || scene.mistake.rule == MtfParser::RuleBlock;
}

// assert c "message"   print "loss" loss
std::string comma_slip(const Scene& scene) {
  const std::size_t type = scene.type(0);
  const bool is_string = type == MtfParser::STRING_BEGIN;
  const bool is_value =
      is_string || type == MtfParser::NAME || type == MtfParser::INT || type == MtfParser::FLOAT;
  const bool is_part = is_head(scene, MtfParser::ASSERT) ? is_string
                       : is_head(scene, MtfParser::PRINT)
                           ? is_value && (is_string || scene.type(-1) == MtfParser::STRING_END)
                           : false;
  return is_part && may_end(scene) && scene.token(-1).end < scene.token(0).begin
             ? "a comma is missing before " + describe(scene.source, scene.token(0))
             : "";
}

// minimize loss with optim.sgd, lr = 0.1   minimize loss with optim.sgd(), lr = 0.1
std::string rule_slip(const Scene& scene) {
  const bool is_option = scene.type(0) == MtfParser::NAME && scene.type(1) == MtfParser::ASSIGN;
  if (!is_head(scene, MtfParser::MINIMIZE) || !is_option) {
    return "";
  }
  const bool is_behind_comma = scene.type(-1) == MtfParser::COMMA;
  const std::ptrdiff_t last = is_behind_comma ? -2 : -1;
  const std::string where = "the options of a rule stand in `( )` behind its name";
  if (scene.type(last) == MtfParser::NAME) {
    return where + ": `" + std::string(scene.text(last)) + "(" + std::string(scene.text(0)) +
           " = …)`";
  }
  return is_behind_comma ? where + "; `params = …` alone follows it" : "";
}

// option steps = 40, "how many"
std::string option_slip(const Scene& scene) {
  return is_head(scene, MtfParser::OPTION) && scene.type(0) == MtfParser::COMMA
             ? "an `option` has one value; what it is for stands in a comment behind it"
             : "";
}

}  // namespace

std::string statement_slip(const Scene& scene) {
  for (const auto& recognise :
       {region_slip, layout_name_slip, minimize_slip, maximize_slip, parentheses_slip,
        checkpoint_slip, comma_slip, rule_slip, option_slip}) {
    if (std::string text = recognise(scene); !text.empty()) {
      return text;
    }
  }
  return {};
}

}  // namespace mtf::parsing
