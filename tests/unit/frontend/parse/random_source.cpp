#include "tests/unit/frontend/parse/random_source.h"

#include <array>
#include <functional>
#include <set>
#include <vector>

#include "frontend/parse/written.h"
#include "tests/unit/frontend/parse/parse_helpers.h"

namespace mtf::test {
namespace {

class Drawer {
 public:
  explicit Drawer(std::mt19937& random) : random_(random) {}

  std::string program() {
    std::string text;
    for (int statements = 0; statements < 12;) {
      const std::string one = statement(3) + "\n";
      if (parse_text(one).file) {  // the grammar does not say all
        text += one;
        ++statements;
      }
    }
    return text;
  }

 private:
  std::size_t below(std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
  }
  bool maybe() { return below(2) == 0; }

  template <typename... Texts>
  std::string any(Texts... texts) {
    const std::array<std::string, sizeof...(texts)> all = {texts...};
    return all[below(all.size())];
  }

  std::string list(const std::function<std::string()>& element, std::size_t least,
                   const std::string& comma = ", ") {
    std::string text;
    const std::size_t count = least + below(4);
    for (std::size_t i = 0; i < count; ++i) {
      text += (i == 0 ? "" : comma) + element();
    }
    return text;
  }

  std::string name() {
    return any("x", "y", "batch", "hidden", "d_model", "length", "w", "logits", "größe",
               "layer_norm", "a_rather_long_name_of_a_value", "h", "tokens");
  }
  std::string text() { return any("\"plain\"", "\"# no { x } {y:.4f}\"", "\"\"", "\"a\\\"b é\""); }

  std::string expr(int depth) {
    std::string result = operand(depth);
    const std::size_t more = depth > 0 ? below(4) : 0;
    bool compared = false;
    for (std::size_t i = 0; i < more; ++i) {
      std::string sign = any("+", "-", "*", "/", "//", "%", "**", "and", "or", "==", "<=", "!=");
      const bool compares = sign == "==" || sign == "<=" || sign == "!=";
      if (compares && compared) {
        sign = "+";
      }
      compared = (compared || compares) && sign != "and" && sign != "or";
      result += " " + sign + " " + operand(depth - 1);
    }
    return result;
  }

  std::string operand(int depth) {
    const std::string prefix = below(6) == 0 ? any("-", "not ", "- -") : "";
    if (depth <= 0) {
      return prefix + any(name(), name(), "1_000", "1e-3", "0.5", "true", text());
    }
    switch (below(8)) {
      case 0:
        return prefix + "(" + expr(depth - 1) + ")";
      case 1:
        return prefix + "[" + list([&] { return element(depth - 1); }, 0) + "]";
      case 2:
      case 3:
      case 4:
        return prefix + name() + call(depth - 1);
      case 5:
        return prefix + name() + "[" + list([&] { return index(depth - 1); }, 1) + "]";
      case 6:
        return prefix + name() + "." + name() + (maybe() ? call(depth - 1) : "");
      default:
        return prefix + name() + " @ [" + name() + " -> (" + name() + ", *), " + name() + " -> y" +
               (maybe() ? ", .." : "") + "]";
    }
  }

  std::string call(int depth) {
    std::string text = "(" + list([&] { return expr(depth); }, 1);
    text += maybe() ? " -> [" + list([&] { return element(depth - 1); }, 0) + "]" : "";
    if (maybe()) {
      text += ", " + list([&] { return name() + " = " + expr(depth); }, 1);
    }
    return text + (below(4) == 0 ? ") as \"layer_{i}\"" : ")");
  }

  std::string index(int depth) {
    const std::string range = maybe() ? expr(depth) : expr(0) + ".." + expr(0);
    return (maybe() ? name() + ": " : "") + range + (below(4) == 0 ? " as " + name() : "");
  }

  std::string element(int depth) {
    return below(5) == 0 ? ".." : name() + (maybe() ? ": " + expr(depth) : "");
  }

  std::string type() {
    return any("dim", "int", "f32[" + list([&] { return element(1); }, 0) + "]", "i32[]");
  }

  std::string rule() {
    return any("batch, hidden -> x", "io -> *", "ff -> (x, *)", "length -> ()", "gather = again",
               "k -> (y, x) where y == z and z == 0");
  }
  std::string rules() {
    return list([&] { return rule(); }, 0, any(", ", "; ", "\n  "));
  }

  std::string layout() {
    std::string text = "layout " + name() + any("", " on grid", " on pod infer uneven") + " {";
    text += any(" ", "\n") + rules();
    if (maybe()) {
      text += any("; ", "\n") + any("params", "at \"net/*\"", "at let \"w\"") + " {" +
              any(" ", "\n") + "batch -> x; io -> *" + any(" ", "\n") + "}";
    }
    return text + any(" ", "\n") + "}";
  }

  std::string block(int depth) {
    const std::string apart = any("\n", "\n", "; ");
    std::string text = "{" + any("\n", " ");
    const std::size_t count = below(4);
    for (std::size_t i = 0; i < count; ++i) {
      text += statement(depth - 1) + (i + 1 < count ? apart : "");
    }
    return text + any("\n", " ") + "}";
  }

  std::string statement(int depth) {
    return depth > 0 && below(3) == 0 ? with_block(depth) : simple();
  }

  std::string with_block(int depth) {
    switch (below(7)) {
      case 0:
        return "if " + expr(1) + " " + block(depth) + " else if " + name() + " " + block(depth) +
               " else " + block(depth);
      case 1:
        return "for i in 0.." + expr(1) + any("", " step 2", " while x < 3") + " " + block(depth);
      case 2:
        return any("fn ", "model ") + name() + "(" + list([&] { return parameter(); }, 0) + ")" +
               any("", " -> " + type(), " -> " + type() + ", " + type()) + " " + block(depth);
      case 3:
        return any("while x < 1 ", "recompute ", "with layout other ", "gradient x, y ",
                   "with precision bf16 ", "with precision f16, gradients = f16 ") +
               block(depth);
      case 4:
        return "expect " + any("", "step under both ", "under [a, b] ") + "{" + any(" ", "\n") +
               "all_reduce(cols) = 1" + any("; ", ", ", "\n") + "peak_memory < 2 * batch GiB" +
               any(" ", "\n") + "}";
      default:
        return layout();
    }
  }

  std::string parameter() { return name() + any("", ": " + type()) + any("", " = " + expr(1)); }

  std::string simple() {
    switch (below(14)) {
      case 0:
        return any("import nn", "import nn as n", "import \"lib/mine.mtf\" as mine");
      case 1:
        return "dim " + list([&] { return name() + " = " + expr(1); }, 1);
      case 2:
        return "mesh grid = [" + list([&] { return name() + ": " + expr(0); }, 1) + "]" +
               any("", " of tpu_v2");
      case 3:
        return any("use layout both", "break", "continue", "save \"a.st\"", "restore \"a.st\"");
      case 4:
        return any("let ", "var ") + list([&] { return name(); }, 1) + " = " + expr(3);
      case 5:
      case 6:
        return any("param ", "state ") + name() + " : " + type() + any("", " = " + expr(2));
      case 7:
        return "state " + name() + " = " + expr(2);
      case 8:
        return any("return ", "print ") + list([&] { return expr(2); }, 0);
      case 9:
        return "assert " + expr(2) + any("", ", \"because {x}\"");
      case 10:
        return "minimize loss with optim.sgd(lr = " + expr(1) + ")";
      case 11:
        return name() + ", " + name() + " = " + expr(2);
      case 12:
        return name() + " <- " + expr(2);
      default:
        return name() + call(2);
    }
  }

  std::mt19937& random_;
};

// Whether a line may end behind the word without ending the statement.
bool goes_on(std::string_view word) {
  static const std::set<std::string_view> kGoOn = {
      "==", "!=", "<", "<=", ">", ">=", "+", "-",   "*",  "/",   "//", "%", "**",
      "->", "<-", "=", ".",  ":", ",",  "@", "and", "or", "not", "(",  "["};
  return kGoOn.contains(word);
}

class Spreader {
 public:
  Spreader(std::string_view source, std::mt19937& random) : source_(source), random_(random) {}

  std::string run(const Written& file) {
    add(file, file);
    return out_ + any({"", "\n", "\n\n\n", "  # at the end", "\n# at the end\n"});
  }

 private:
  std::string any(const std::vector<std::string>& texts) {
    return texts[std::uniform_int_distribution<std::size_t>(0, texts.size() - 1)(random_)];
  }

  void add(const Written& node, const Written& parent) {
    if (node.form == Form::kSeparator) {
      separator(node, parent);
    } else if (node.form == Form::kToken || node.form == Form::kString) {
      word(node, parent);
    }
    for (const Written& child : node.children) {
      add(child, node);
    }
  }

  // Rules and clauses keep theirs: what stands on one line shares an axis.
  void separator(const Written& node, const Written& parent) {
    const bool statements = parent.form == Form::kFile || parent.form == Form::kBlock;
    const bool sign = node.begin < node.end;
    if (out_.empty() || (out_.ends_with('{') && !sign)) {
      out_ += any({"", " ", "\n", " # first é\n", "\n\n\n# first\n\n"});
    } else if (sign || (statements && any({"line", "line", "sign"}) == "sign")) {
      out_ += any({";", " ; ", ";\n", "; # behind\n", "\n;"});
    } else {
      out_ +=
          any({"\n", "\n\n\n", "  # behind\n", "\r\n", "\n#on its own\n", "#behind\n# below \n\n"});
    }
    fresh_ = true;
  }

  void word(const Written& leaf, const Written& parent) {
    const std::string_view text = text_of(leaf, source_);
    const bool prefix = parent.form == Form::kOperand && text == "-";
    // The star of `io -> *` does end its line, and so may a word that is a rule's last.
    const bool line =
        text != "//" && last_ != "where" && (depth_ > 0 || (goes_on(last_) && !star_ && !prefix_));
    if (!fresh_) {
      const std::string blank = needs_blank(text) ? " " : "";
      out_ += line && any({"no", "no", "no", "yes"}) == "yes"
                  ? any({"\n", "\n   ", " # inside\n", "\n# between\n", "\r\n\t", " #a\n #b\n\n"})
                  : any({blank, " ", "  ", "\t", blank});
    }
    fresh_ = false;
    out_ += text;
    depth_ += text == "(" || text == "[" ? 1 : 0;
    depth_ -= text == ")" || text == "]" ? 1 : 0;
    last_ = text;
    star_ = parent.form == Form::kTarget;
    prefix_ = prefix && depth_ == 0;
  }

  // Two words, or two signs that would be another one together.
  [[nodiscard]] bool needs_blank(std::string_view next) const {
    static const std::string kAlone = "()[],:;{}\"";
    return kAlone.find(last_.back()) == std::string::npos &&
           kAlone.find(next.front()) == std::string::npos;
  }

  std::string_view source_;
  std::mt19937& random_;
  std::string out_;
  std::string_view last_ = "(";
  int depth_ = 0;
  bool fresh_ = true;  // at the start of a statement
  bool star_ = false;  // the last word is what a rule maps to
  bool prefix_ = false;
};

}  // namespace

std::string random_source(std::mt19937& random) {
  return Drawer(random).program();
}

std::string laid_out_anew(std::string_view text, std::mt19937& random) {
  SourceMap sources;
  DiagSink diags;
  const FileId file = sources.add({.name = "random", .path = {}, .text = std::string(text)});
  const std::optional<Written> tree = parse_written(file, sources, diags);
  return tree ? Spreader(text, random).run(*tree) : std::string(text);
}

}  // namespace mtf::test
