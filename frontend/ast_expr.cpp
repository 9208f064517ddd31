// Expressions back to text. Strings are built by appending, so that a long chain costs no more than
// its length.

#include "frontend/ast_expr.h"

#include <array>

#include "ir/support/match.h"
#include "ir/support/number.h"

namespace mtf::ast {

ExprNode::ExprNode(ExprNode&& other) noexcept = default;
ExprNode& ExprNode::operator=(ExprNode&& other) noexcept = default;
ExprNode::~ExprNode() = default;

namespace {

void append(std::string& out, const Expr& expr);

void append(std::string& out, double value) {
  const std::string text = shortest(value);
  out += text;
  out += text.find_first_not_of("0123456789-") == std::string_view::npos ? ".0" : "";
}

void append_escaped(std::string& out, std::string_view text) {
  for (const char byte : text) {
    switch (byte) {
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '"':
      case '\\':
      case '{':
      case '}':
        out += '\\';
        out += byte;
        break;
      default:
        out += byte;
    }
  }
}

void append(std::string& out, const String& string) {
  out += '"';
  for (const StringPart& part : string.parts) {
    match(
        part.node,  //
        [&](const std::string& text) { append_escaped(out, text); },
        [&](const Expr& expr) {
          out += '{';
          append(out, expr);
          out += (part.format.empty() ? "" : ":") + part.format + "}";
        });
  }
  out += '"';
}

void append(std::string& out, const Bracket& bracket) {
  out += '[';
  for (const Element& element : bracket.elements) {
    out += out.back() == '[' && &element == &bracket.elements.front() ? "" : ", ";
    match(
        element.node,  //
        [&](const Expr& expr) { append(out, expr); },
        [&](const Sized& sized) {
          out += sized.name.text + ": ";
          append(out, sized.size);
        },
        [&](const Rest&) { out += ".."; });
  }
  out += ']';
}

void append(std::string& out, const Chain& chain) {
  out += '(';
  append(out, *chain.first);
  for (const Link& link : chain.links) {
    out += ' ';
    out += to_string(link.op);
    out += ' ';
    append(out, link.operand);
  }
  out += ')';
}

void append(std::string& out, const Call& call) {
  out += '(';
  bool first = true;
  const auto comma = [&] {
    out += first ? "" : ", ";
    first = false;
  };
  const auto arguments = [&](bool named) {
    for (const Argument& argument : call.arguments) {
      if (argument.name.has_value() == named) {
        comma();
        out += named ? argument.name->text + " = " : "";
        append(out, argument.value);
      }
    }
  };
  arguments(false);
  if (call.target) {
    out += " -> ";
    append(out, *call.target);
  }
  arguments(true);
  out += ')';
  if (call.name) {
    out += " as ";
    append(out, *call.name);
  }
}

void append(std::string& out, const Index& index) {
  out += '[';
  for (const IndexItem& item : index.items) {
    out += &item == &index.items.front() ? "" : ", ";
    out += item.dim ? item.dim->text + ": " : "";
    append(out, item.value);
    out += item.as ? " as " + item.as->text : "";
  }
  out += ']';
}

void append(std::string& out, const Pin& pin) {
  out += " @ [";
  for (const Rule& rule : pin.rules) {
    out += (&rule == &pin.rules.front() ? "" : ", ") + to_string(rule);
  }
  if (pin.open) {
    out += pin.rules.empty() ? ".." : ", ..";
  }
  out += ']';
}

void append(std::string& out, const Postfix& postfix) {
  append(out, *postfix.base);
  for (const Suffix& suffix : postfix.suffixes) {
    match(
        suffix.node,  //
        [&](const Member& member) {
          out += "." + member.name.text;
          if (member.path != nullptr) {
            append(out, *member.path);
          }
        },
        [&](const auto& other) { append(out, other); });
  }
}

void append(std::string& out, const Expr& expr) {
  match(
      expr.node,  //
      [&](const Int& number) { out += std::to_string(number.value); },
      [&](const Float& number) { append(out, number.value); },
      [&](const Bool& boolean) { out += boolean.value ? "true" : "false"; },
      [&](const NameRef& name) { out += name.text; },
      [&](const Range& range) {
        append(out, *range.begin);
        out += "..";
        append(out, *range.end);
      },
      [&](const Unary& unary) {
        out += '(';
        out += to_string(unary.op);
        append(out, *unary.operand);
        out += ')';
      },
      [&](const auto& other) { append(out, other); });
}

}  // namespace

std::string_view to_string(BinaryOp op) {
  static constexpr std::array<std::string_view, 15> kSpelling{
      "or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "//", "%", "**"};
  return kSpelling.at(static_cast<std::size_t>(op));
}

std::string_view to_string(UnaryOp op) {
  return op == UnaryOp::kNegate ? "-" : "not ";
}

std::string to_string(const Expr& expr) {
  std::string out;
  append(out, expr);
  return out;
}

std::string to_string(const TypeExpr& type) {
  std::string out = type.name.text;
  if (type.dims) {
    append(out, *type.dims);
  }
  return out;
}

std::string to_string(const Rule& rule) {
  std::string axes;
  for (const Target& target : rule.targets) {
    axes += (axes.empty() ? "" : ", ") + target.axis.text;
  }
  std::string text = rule.dim.text + " -> " + (rule.targets.size() == 1 ? axes : "(" + axes + ")");
  for (const Condition& condition : rule.where) {
    text += &condition == &rule.where.front() ? " where " : " and ";
    for (const Name& coordinate : condition.coordinates) {
      text += (&coordinate == &condition.coordinates.front() ? "" : " == ") + coordinate.text;
    }
  }
  return text;
}

std::optional<std::string> plain_text(const Expr& expr) {
  const auto* string = std::get_if<String>(&expr.node);
  if (string == nullptr) {
    return std::nullopt;
  }
  std::string text;
  for (const StringPart& part : string->parts) {
    const auto* piece = std::get_if<std::string>(&part.node);
    if (piece == nullptr) {
      return std::nullopt;
    }
    text += *piece;
  }
  return text;
}

const NameRef* as_name(const Expr& expr) {
  return std::get_if<NameRef>(&expr.node);
}

}  // namespace mtf::ast
