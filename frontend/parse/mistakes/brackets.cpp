// Slips within brackets: indices and ranges as Python writes them, meshes, axes and parameters
// whose signs are those of other languages.

#include <antlr4-runtime.h>

#include "frontend/parse/mistakes/scene.h"
#include "grammar/MtfParser.h"

namespace mtf::parsing {
namespace {

// The bracket around the mistake, as a distance; 0: there is none in its statement.
std::ptrdiff_t opener(const Scene& scene) {
  int depth = 1;
  std::ptrdiff_t at = 0;
  while (depth > 0 && scene.position() > static_cast<std::size_t>(-at)) {
    --at;
    const std::size_t type = scene.type(at);
    const bool closes = type == MtfParser::CLOSE_PAREN || type == MtfParser::CLOSE_BRACKET;
    const bool opens = type == MtfParser::OPEN_PAREN || type == MtfParser::OPEN_BRACKET;
    depth += closes ? 1 : opens ? -1 : 0;
  }
  return depth == 0 ? at : 0;
}

bool is_of_range(std::size_t type) {
  return type == MtfParser::COLON || type == MtfParser::RANGE;
}

// x[:, 0]   x[1:]   x[batch: ..2]   x[batch = 0]   [batch = 4]   shard(x, [batch -> rows])
std::string in_square(const Scene& scene, bool is_index) {
  if (scene.type(0) == MtfParser::ARROW && scene.type(-1) == MtfParser::NAME && !is_index) {
    return "found `->` in a list; axes are given to a tensor by `@`, as in `x @ [batch -> rows]`, "
           "and `rename(x, a -> b)` has no brackets";
  }
  if (scene.type(0) == MtfParser::ASSIGN && scene.type(-1) == MtfParser::NAME) {
    const std::string name(scene.text(-1));
    return "`=` names an argument; " + (is_index
                                            ? "an index is written `x[" + name + ": 0]`"
                                            : "a dim with its size is written `" + name + ": 4`");
  }
  if (is_index && (is_of_range(scene.type(0)) || is_of_range(scene.type(-1)))) {
    return "found " + describe(scene.source, scene.token(0)) +
           "; an index names its dim, and a range has both ends, as in `x[io: 0..2]`; dims that "
           "are not named stay whole";
  }
  return {};
}

// Whether a bracket holds the dims of a type: `x: f32[n: 4]`, `-> f32[n]`.
bool is_of_type(const Scene& scene, std::ptrdiff_t open) {
  const std::size_t before = scene.type(open - 2);
  const std::size_t head = scene.head().type;
  const bool may_have_types = head == MtfParser::FN || head == MtfParser::MODEL ||
                              head == MtfParser::PARAM || head == MtfParser::STATE;
  return may_have_types && (before == MtfParser::COLON || before == MtfParser::ARROW);
}

std::string in_mesh(const Scene& scene) {
  const bool is_axes = scene.expects(MtfParser::COLON) || scene.expects(MtfParser::OPEN_BRACKET);
  if (scene.head().type != MtfParser::MESH || !is_axes || scene.type(0) == MtfParser::INT) {
    return {};
  }
  return "found " + describe(scene.source, scene.token(0)) +
         "; a mesh names its axes with their sizes, as in `[rows: 2, cols: 2]`";
}

// fn f(x f32[io])   fn f(x: f32[io]): f32[io] {
std::string in_parameters(const Scene& scene) {
  const std::size_t head = scene.head().type;
  if (head != MtfParser::FN && head != MtfParser::MODEL) {
    return {};
  }
  if (scene.type(0) == MtfParser::COLON && scene.type(-1) == MtfParser::CLOSE_PAREN &&
      is_word(scene.type(1))) {
    return "what a function returns stands behind `->`, not `:`";
  }
  if (scene.type(0) == MtfParser::OPEN_BRACKET &&
      (scene.type(-1) == MtfParser::COLON || scene.type(-1) == MtfParser::ARROW)) {
    return "the type of a tensor begins with its dtype, as in `f32[batch, io]`";
  }
  if (scene.type(0) == MtfParser::OPEN_BRACE && scene.type(-1) == MtfParser::ARROW) {
    return "behind `->` stands what the function returns, as `f32[batch]`; where nobody has to say "
           "it, leave out the `->`";
  }
  constexpr std::ptrdiff_t kFirst = 2;  // fn f (
  const bool is_type = is_word(scene.type(0)) && scene.type(-1) == MtfParser::NAME &&
                       static_cast<std::ptrdiff_t>(scene.position()) + opener(scene) == kFirst;
  const std::string name(scene.text(-1));
  return is_type
             ? "a type stands behind a colon: `" + name + ": " + std::string(scene.text(0)) + "`"
             : "";
}

// let (a, b) = f(x)   for (i in 0..4) {
std::string around_names(const Scene& scene) {
  const bool opens =
      scene.type(0) == MtfParser::OPEN_PAREN || scene.type(0) == MtfParser::OPEN_BRACKET;
  if (!opens || scene.position() != 1) {
    return {};
  }
  switch (scene.head().type) {
    case MtfParser::LET:
    case MtfParser::VAR:
      return "names stand without brackets, as in `let a, b = f(x)`";
    case MtfParser::FOR:
      return "a `for` has no parentheses: `for i in 0..4 { … }`";
    default:
      return {};
  }
}

}  // namespace

std::string bracket_slip(const Scene& scene) {
  for (const auto& recognise : {in_mesh, in_parameters, around_names}) {
    if (std::string text = recognise(scene); !text.empty()) {
      return text;
    }
  }
  if (scene.type(0) == MtfParser::OPEN_BRACKET && scene.type(-1) == MtfParser::ARROW &&
      scene.expects(MtfParser::STAR)) {
    return scene.type(1) == MtfParser::CLOSE_BRACKET
               ? "axes stand in parentheses; `()` stands for none"
               : "several axes stand in parentheses, as in `batch -> (x, y)`";
  }
  const std::ptrdiff_t open = opener(scene);
  if (open == 0 || scene.type(open) != MtfParser::OPEN_BRACKET) {
    return {};
  }
  return in_square(scene, ends_operand(scene.type(open - 1)) && !is_of_type(scene, open));
}

}  // namespace mtf::parsing
