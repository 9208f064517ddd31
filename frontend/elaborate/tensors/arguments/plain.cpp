#include <algorithm>

#include "frontend/elaborate/host/numbers.h"
#include "frontend/elaborate/tensors/arguments/arguments.h"

namespace mtf::host {
namespace {

std::string_view wanted_by(ParamKind kind) {
  switch (kind) {
    case ParamKind::kDType:
      return "a dtype, as f32";
    case ParamKind::kInt:
      return "an int";
    case ParamKind::kReal:
      return "a number";
    case ParamKind::kBool:
      return "a bool";
    default:
      return "a string";
  }
}

template <typename T>
std::optional<ArgValue> if_held(const Value& value) {
  const T* held = value.get<T>();
  return held == nullptr ? std::nullopt : std::optional<ArgValue>(*held);
}

// A flag is a number, too.
std::optional<ArgValue> real_argument(OpCallSite& site, const OpParam& param, const Value& value) {
  if (const bool* flag = value.get<bool>()) {
    site.written = param.required ? DType::kBool : DType::kF32;
    return *flag ? 1.0 : 0.0;
  }
  if (is_beyond_doubles(value)) {
    site.long_numbers = {
        .param = param.name, .numbers = {*as_int(value)}, .first = to_string(value)};
  }
  return as_real(value);
}

std::optional<ArgValue> of_its_kind(OpCallSite& site, const OpParam& param, const Value& value) {
  switch (param.kind) {
    case ParamKind::kDType:
      return if_held<DType>(value);
    case ParamKind::kInt:
      return as_int(value);
    case ParamKind::kReal:
      return real_argument(site, param, value);
    case ParamKind::kBool:
      return if_held<bool>(value);
    default:
      return if_held<std::string>(value);
  }
}

// It is nothing to a type which numbers are drawn: a check need not know what a counter holds.
bool is_seed(const OpCallSite& site, const OpParam& param) {
  return site.op.random && param.kind == ParamKind::kInt && param.name == "seed";
}

// ones(batch, io)
bool is_one_of_dims(const OpCallSite& site, const Value& value) {
  return as_shape(value) && std::ranges::any_of(site.op.params, [](const OpParam& param) {
           return param.kind == ParamKind::kShape;
         });
}

// "; …": how the value would be given, if it is clear what it was for.
std::string way_to_give(const OpCallSite& site, const Value& value) {
  if (is_one_of_dims(site, value)) {
    return "; dims are one argument, in brackets: `" + std::string(site.op.name) + "([a, b])`";
  }
  const auto param = std::ranges::find(site.op.params, ParamKind::kDType, &OpParam::kind);
  return value.is<DType>() && param != site.op.params.end()
             ? "; it is given as `" + std::string(param->name) + " = " + to_string(value) + "`"
             : "";
}

}  // namespace

void wrong_kind(const OpCallSite& site, const OpParam& param, SourceSpan span,
                std::string_view wanted, const Value& value) {
  if (is_unknown(value)) {
    return;
  }
  site.c.report.error(DiagKind::kWrongType, span,
                      "`" + std::string(param.name) + "` of `" + std::string(site.op.name) +
                          "` is " + std::string(wanted) + "; this is " + kind_of(value) +
                          way_to_give(site, value));
}

std::optional<ArgValue> checked_choice(const OpCallSite& site, const OpParam& param,
                                       const std::string& text, SourceSpan span) {
  if (param.choices.empty() || std::ranges::find(param.choices, text) != param.choices.end()) {
    return text;
  }
  std::string choices;
  for (const std::string_view choice : param.choices) {
    choices += (choices.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
  }
  const std::vector<std::string> names(param.choices.begin(), param.choices.end());
  site.c.report.error(DiagKind::kBadArgument, span,
                      "`" + std::string(param.name) + "` of `" + std::string(site.op.name) +
                          "` is " +
                          (param.kind == ParamKind::kInts ? "an int, a list of ints, or " : "") +
                          "one of " + choices + suggest(text, names).text);
  return std::nullopt;
}

std::optional<ArgValue> plain_argument(OpCallSite& site, const OpParam& param,
                                       const ast::Expr& expr) {
  Value value = evaluate(site.c, expr);
  if (is_unknown(value) && is_seed(site, param) && site.c.execution.checks_only()) {
    value = make(std::int64_t{0});
  }
  std::optional<ArgValue> argument = of_its_kind(site, param, value);
  if (!argument) {
    wrong_kind(site, param, expr.span, wanted_by(param.kind), value);
    return std::nullopt;
  }
  const auto* text = std::get_if<std::string>(&*argument);
  return text == nullptr ? argument : checked_choice(site, param, *text, expr.span);
}

}  // namespace mtf::host
