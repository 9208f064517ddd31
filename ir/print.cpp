// The textual IR: one line per value. Caches key on it, so whatever tells two programs apart is in
// it: numbers are printed with all the digits that they need, strings with escapes.

#include "ir/program.h"
#include "ir/support/match.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

// With a point or an exponent, so that it cannot be taken for an integer.
std::string real(double value) {
  const std::string text = shortest(value);
  const bool plain = text.find_first_not_of("-0123456789") == std::string::npos;
  return plain ? text + ".0" : text;
}

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') {
      result += '\\';
    }
    result += c;
  }
  return result + '"';
}

template <typename T, typename F>
std::string list(const std::vector<T>& elements, F text_of) {
  std::string text = "[";
  for (const T& element : elements) {
    text += text.size() > 1 ? ", " : "";
    text += text_of(element);
  }
  return text + "]";
}

std::string pin_text(const Pin& pin) {
  const auto same = [](const std::string& axis) { return axis; };
  std::string text = "[";
  for (const NamedRule& rule : pin.rules) {
    text += (text.size() > 1 ? ", " : "") + rule.dim + " -> ";
    std::vector<std::string> axes = rule.axes;
    if (rule.rest) {
      axes.emplace_back("*");
    }
    const std::string inside = list(axes, same);
    text += axes.size() == 1 ? axes[0] : "(" + inside.substr(1, inside.size() - 2) + ")";
    for (const NamedCondition& condition : rule.where) {
      text += &condition == &rule.where.front() ? " where " : " and ";
      text += condition.same ? *condition.same + " == " + condition.axis
                             : condition.axis + " == " + std::to_string(condition.at);
    }
  }
  if (pin.open) {
    text += text.size() > 1 ? ", .." : "..";
  }
  return text + "]";
}

std::string text_of(const ArgValue& value) {
  return match(
      value, [](std::monostate) { return std::string("none"); },
      [](std::int64_t v) { return std::to_string(v); }, [](double v) { return real(v); },
      [](bool v) { return std::string(v ? "true" : "false"); },
      [](const std::string& v) { return quoted_text(v); },
      [](const std::vector<Dim>& v) { return list(v, [](const Dim& dim) { return dim.name; }); },
      [](const Shape& v) { return to_string(v); },
      [](DType v) { return std::string(to_string(v)); },
      [](const std::vector<double>& v) { return list(v, shortest); },
      [](const Pin& v) { return pin_text(v); });
}

std::string named(ValueId id) {
  return "%" + std::to_string(id.index);
}

std::string_view word(InputKind kind) {
  switch (kind) {
    case InputKind::kArgument:
      return "argument";
    case InputKind::kCaptured:
      return "captured";
    case InputKind::kParam:
      return "param";
    case InputKind::kState:
      return "state";
  }
  return "";
}

// The shape behind `->` is the result's: said once is enough.
bool repeats_type(const Value& value, std::string_view key, const ArgValue& arg) {
  const Shape* shape = std::get_if<Shape>(&arg);
  return key == "to" && shape != nullptr && *shape == value.type.shape;
}

std::string call_text(const Value& value) {
  std::string text(value.op->name);
  std::string_view separator = "(";
  for (const ValueId operand : value.operands) {
    text += separator;
    text += named(operand);
    separator = ", ";
  }
  for (const auto& [key, arg] : value.args.entries()) {
    if (repeats_type(value, key, arg)) {
      continue;
    }
    text += separator;
    text += key;
    text += " = " + text_of(arg);
    separator = ", ";
  }
  return text + (separator == "(" ? "()" : ")");
}

std::string line(const Program& program, ValueId id, const Input* input) {
  const Value& value = program.at(id);
  std::string text = "  " + named(id) + " = ";
  if (value.op != nullptr) {
    text += call_text(value);
  } else if (input != nullptr) {
    text += std::string(word(input->kind)) + " " + quoted_text(input->name);
  } else {
    text += "input";
  }
  text += " : " + to_string(value.type);
  const bool named_input = input != nullptr && input->name == value.name;
  return value.name.empty() || named_input ? text + "\n" : text + "   # " + value.name + "\n";
}

}  // namespace

std::string to_string(const OpArgs& args) {
  std::string text;
  for (const auto& [key, value] : args.entries()) {
    text += text.empty() ? "" : ", ";
    text += key;
    text += " = " + text_of(value);
  }
  return text;
}

std::string to_string(const Program& program) {
  std::string text = program.name + "\n";
  std::vector<const Input*> input_at(program.values.size());
  for (const Input& input : program.inputs) {
    input_at[static_cast<std::size_t>(input.value.index)] = &input;
  }
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    text += line(program, {static_cast<std::int32_t>(i)}, input_at[i]);
  }
  for (const Update& update : program.updates) {
    text +=
        "  " + quoted_text(program.inputs[update.input].name) + " <- " + named(update.value) + "\n";
  }
  if (!program.outputs.empty()) {
    std::string_view separator = "  return ";
    for (const ValueId output : program.outputs) {
      text += separator;
      text += named(output);
      separator = ", ";
    }
    text += "\n";
  }
  return text;
}

}  // namespace mtf
