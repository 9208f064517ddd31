// Arguments of a function of the user against the types of its parameters: all that do not fit are
// told, and two that would fit in each other's place as such.

#include <algorithm>

#include "frontend/elaborate/call.h"

namespace mtf::host {
namespace {

struct MisfitOf {
  std::size_t parameter = 0;
  Misfit what;
};

// Whether the argument would do for that parameter.
bool would_fit(Context& c, const std::optional<Operand>& argument,
               const ast::Parameter& parameter) {
  if (!argument || !parameter.type || wants_scalar(*parameter.type, argument->value)) {
    return argument.has_value();
  }
  std::vector<Misfit> misfits;
  return !is_unknown(checked_value(c, *argument, *parameter.type, "", &misfits));
}

// The parameter whose argument is in the place of this one's, and the other way round.
std::optional<std::size_t> swapped_with(Context& c, const ast::Fn& fn,
                                        std::span<const std::optional<Operand>> arguments,
                                        std::size_t parameter) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i != parameter && fn.parameters[i].type &&
        would_fit(c, arguments[i], fn.parameters[parameter]) &&
        would_fit(c, arguments[parameter], fn.parameters[i])) {
      return i;
    }
  }
  return std::nullopt;
}

void report_swapped(Context& c, const Misfit& misfit, const Value& value, const ast::Name& own,
                    const ast::Name& other) {
  c.report.error(misfit.kind, misfit.span,
                 "`" + own.text + "` is " + kind_of(value) + ", which fits `" + other.text +
                     "`, whose argument fits `" + own.text + "`; are the two swapped?",
                 {{.span = misfit.declared, .text = "declared here"}});
}

void report_misfits(Context& c, const ast::Fn& fn,
                    std::span<const std::optional<Operand>> arguments,
                    std::span<const MisfitOf> misfits) {
  std::vector<bool> told(fn.parameters.size(), false);
  for (const auto& [parameter, what] : misfits) {
    if (told[parameter]) {
      continue;
    }
    const auto other = arguments[parameter] ? swapped_with(c, fn, arguments, parameter)
                                            : std::optional<std::size_t>();
    if (other) {
      told[*other] = true;
      report_swapped(c, what, arguments[parameter]->value, fn.parameters[parameter].name,
                     fn.parameters[*other].name);
    } else {
      c.report.error(what.kind, what.span, what.text,
                     {{.span = what.declared, .text = "declared here"}});
    }
  }
}

}  // namespace

bool declare_parameters(Context& c, const ast::Fn& fn,
                        std::span<const std::optional<Operand>> arguments) {
  bool is_known = true;
  std::vector<MisfitOf> all;
  for (std::size_t i = 0; i < fn.parameters.size(); ++i) {
    const ast::Parameter& parameter = fn.parameters[i];
    Operand operand = arguments[i] ? *arguments[i]
                                   : Operand{.value = evaluate(c, *parameter.initial),
                                             .span = parameter.initial->span};
    if (parameter.type) {
      std::vector<Misfit> misfits;
      operand.value =
          checked_value(c, operand, *parameter.type, "`" + parameter.name.text + "`", &misfits);
      for (Misfit& misfit : misfits) {
        all.push_back({.parameter = i, .what = std::move(misfit)});
      }
    }
    is_known = is_known && !is_unknown(operand.value);
    if (const auto* dim = operand.value.get<Dim>()) {
      c.names.dims.insert(dim->name);
    }
    c.names.scope->declare(parameter.name.text, {.value = std::move(operand.value),
                                                 .kind = NameKind::kParameter,
                                                 .span = parameter.name.span});
  }
  report_misfits(c, fn, arguments, all);
  return is_known;
}

}  // namespace mtf::host
