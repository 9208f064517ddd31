// metric(name, x): a number for who follows the training, at the step that was taken last.

#include <algorithm>
#include <array>
#include <cctype>

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/host/operators.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/number.h"

namespace mtf::host {
namespace {

// What the files have of every record.
constexpr auto kTaken = std::to_array<std::string_view>({"step", "entry", "time"});

bool is_metric_name(std::string_view name) {
  constexpr std::string_view kSigns = "_-./ ";
  constexpr unsigned char kFirstBeyondAscii = 0x80;  // of letters of any alphabet
  return !name.empty() && std::ranges::find(kTaken, name) == kTaken.end() &&
         std::ranges::all_of(name, [&](char letter) {
           const auto byte = static_cast<unsigned char>(letter);
           return byte >= kFirstBeyondAscii || std::isalnum(byte) != 0 ||
                  kSigns.find(letter) != std::string_view::npos;
         });
}

// False after an error.
bool has_name(Reporter& report, const Operand& name) {
  const auto* text = name.value.get<std::string>();
  const bool is_name = text != nullptr && is_metric_name(*text);
  if (!is_name && !is_unknown(name.value)) {
    report.error(DiagKind::kBadArgument, name.span,
                 text == nullptr
                     ? "the name of a `metric` is a string; this is " + kind_of(name.value)
                     : "`" + *text +
                           "` is no name of a metric: it has letters, digits, `_`, `-`, `.`, `/` "
                           "and blanks, and is not `step`, `entry` or `time`");
  }
  return is_name;
}

// False after an error.
bool is_step(Reporter& report, double step, SourceSpan span) {
  const bool is_one = step >= 0 && holds(DType::kI64, step);
  if (!is_one) {
    report.error(DiagKind::kBadArgument, span,
                 "a step is a whole number from 0 on; this is " + shortest(step));
  }
  return is_one;
}

std::optional<double> number_in(Context& c, const HostFn& self, const Operand& x) {
  if (const auto* tensor = x.value.get<Tensor>()) {
    return c.execution.checks_only() ? std::nullopt : c.execution.scalar(tensor->handle);
  }
  const std::optional<double> number = as_real(x.value);
  if (!number) {
    static_cast<void>(wrong_argument(c.report, self, x, "a number or a scalar tensor"));
  }
  return number;
}

// In a function, a step of its program, which records the number whenever it runs.
void record(Context& c, const HostFn& self, const Operand& name, const Bound& bound,
            SourceSpan span) {
  std::vector<Operand> numbers;
  bool is_right = has_name(c.report, name);
  for (std::size_t i = 1; i < bound.size() && !bound[i].empty(); ++i) {
    const ast::Expr& written = *bound[i].front();
    const Operand x{.value = evaluate(c, written), .span = written.span};
    const std::optional<double> number = as_real(x.value);
    if (!number && !x.value.is<Tensor>()) {
      static_cast<void>(wrong_argument(c.report, self, x, "a number or a scalar tensor"));
      is_right = false;
    } else if (number && i > 1) {
      is_right = is_step(c.report, *number, x.span) && is_right;
    }
    numbers.push_back(x);
  }
  if (is_right) {
    OpArgs args;
    args.set("text", *name.value.get<std::string>());
    static_cast<void>(
        apply_op(c.units, op_of(c.units.ops, Primitive::kMetric), numbers, std::move(args), span));
  }
}

}  // namespace

Value metric_call(Context& c, const HostFn& self, const ast::Call& call, SourceSpan span) {
  const std::vector<Formal> formals{
      {.name = "name"}, {.name = "x"}, {.name = "step", .required = false}};
  const std::optional<Bound> bound =
      bind_required(c.report, c.names, self.name, formals, call, span);
  if (!bound) {
    return unknown();
  }
  const ast::Expr& written = *(*bound)[0].front();
  const Operand name{.value = evaluate(c, written), .span = written.span};
  if (!c.units.calls_are_units() && !c.units.recording().of_top_level) {
    record(c, self, name, *bound, span);
    return nothing();
  }
  const Operand x = number_here(c, self, *(*bound)[1].front());
  std::optional<double> step;
  if (!(*bound)[2].empty()) {
    const Operand given = number_here(c, self, *(*bound)[2].front());
    step = number_in(c, self, given);
    if (step && !is_step(c.report, *step, given.span)) {
      return unknown();
    }
  }
  const std::optional<double> number = number_in(c, self, x);
  if (has_name(c.report, name) && number) {
    c.execution.metric(*name.value.get<std::string>(), *number,
                       step ? std::optional(static_cast<std::int64_t>(*step)) : std::nullopt);
  }
  return nothing();
}

}  // namespace mtf::host
