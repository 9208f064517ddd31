// print, assert, check_finite and metric: what a program says about its tensors.
//
// Text is a template: `{}` stands for the next tensor, `{:.4f}` for its numbers in that format,
// `{{` and `}}` for a brace.

#include <cmath>

#include "ir/host_tensor.h"
#include "ir/kernel.h"
#include "ir/support/number.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

// What stands between braces at `at`: the format of the next tensor. nullopt: a brace, or text.
std::optional<std::string_view> place_at(std::string_view text, std::size_t at) {
  if (text[at] != '{' || text.substr(at, 2) == "{{") {
    return std::nullopt;
  }
  const std::size_t end = text.find('}', at);
  return end == std::string_view::npos ? std::nullopt
                                       : std::optional(text.substr(at + 1, end - at - 1));
}

bool is_brace(std::string_view text, std::size_t at) {
  return text.substr(at, 2) == "{{" || text.substr(at, 2) == "}}";
}

std::size_t placeholders(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_brace(text, i)) {
      ++i;
    } else if (const auto place = place_at(text, i)) {
      ++count;
      i += place->size() + 1;
    }
  }
  return count;
}

bool check_template(const OpCall& call, std::size_t tensors, DiagSink& diags) {
  const std::size_t places = placeholders(text_arg(call.args, "text"));
  if (places == tensors) {
    return true;
  }
  diags.error(DiagKind::kBadArgument, call.span,
              spelled(call) + " with " + std::to_string(places) + " places `{}` for " +
                  std::to_string(tensors) + " tensors");
  return false;
}

HostTensor host_tensor(const TensorView& view) {
  HostTensor tensor{.type = {.dtype = view.dtype, .shape = view.shape}, .data = {}};
  const auto* first = static_cast<const std::byte*>(view.data);
  tensor.data.assign(first, first + tensor.type.bytes());
  return tensor;
}

std::string filled_in(std::string_view text, std::span<const TensorView> tensors) {
  std::string result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_brace(text, i)) {
      result += text[i++];
    } else if (const auto place = place_at(text, i)) {
      const std::string_view numbers = place->substr(place->starts_with(':') ? 1 : 0);
      result +=
          format(host_tensor(tensors[next++]), number_format(numbers).value_or(NumberFormat{}));
      i += place->size() + 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

// ---- print -----------------------------------------------------------------------------------

std::optional<TensorType> print_type(OpCall& call, DiagSink& diags) {
  if (!check_template(call, call.operands.size(), diags)) {
    return std::nullopt;
  }
  return TensorType{};
}

IterationSpace effect_space(const OpCall& call) {
  IterationSpace space = whole_space(call);
  space.result.clear();
  return space;
}

void print_kernel(const KernelCall& call) {
  if (call.host.first_rank()) {
    call.host.print(filled_in(text_arg(call.call.args, "text"), call.in));
  }
}

// ---- assert ----------------------------------------------------------------------------------

std::optional<TensorType> assert_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kBools, diags)) {
    return std::nullopt;
  }
  if (call.operands[0].shape.rank() > 0) {
    diags.error(DiagKind::kBadArgument, call.span_of(0),
                "`assert` of " + to_string(call.operands[0]) +
                    ", which is many bools; `all(…)` makes one of them");
    return std::nullopt;
  }
  if (!check_template(call, call.operands.size() - 1, diags)) {
    return std::nullopt;
  }
  return TensorType{};
}

void assert_kernel(const KernelCall& call) {
  if (elements<const std::uint8_t>(call.in[0])[0] != 0) {
    return;
  }
  const std::string text = filled_in(text_arg(call.call.args, "text"), call.in.subspan(1));
  call.host.fail(DiagKind::kAssertion, text.empty() ? "the assertion does not hold" : text);
}

// ---- check_finite ------------------------------------------------------------------------------

std::optional<TensorType> check_finite_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kFloats, diags)) {
    return std::nullopt;
  }
  return TensorType{};
}

void check_finite_kernel(const KernelCall& call) {
  with_float(call.in[0].dtype, [&](auto type) {
    for (const auto x : elements<const decltype(type)>(call.in[0])) {
      if (!std::isfinite(x)) {
        return call.host.warn(DiagKind::kNotANumber,
                              std::string("the loss is ") + (std::isnan(x) ? "nan" : "infinite"));
      }
    }
  });
}

// ---- metric ----------------------------------------------------------------------------------

std::optional<TensorType> metric_type(OpCall& call, DiagSink& diags) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (!check_operand(call, i, Accepts::kNumbers, diags)) {
      return std::nullopt;
    }
    if (call.operands[i].shape.rank() > 0) {
      diags.error(DiagKind::kBadArgument, call.span_of(i),
                  "a metric is one number; this is " + to_string(call.operands[i]) +
                      ", of which `mean` or `max` makes one");
      return std::nullopt;
    }
  }
  if (call.operands.empty() || call.operands.size() > 2) {
    diags.error(DiagKind::kBadArgument, call.span,
                "a metric is of a number, and of a step at most");
    return std::nullopt;
  }
  return TensorType{};
}

double number_of(const TensorView& scalar) {
  double number = 0;
  with_number(scalar.dtype, [&](auto type) {
    number = static_cast<double>(elements<const decltype(type)>(scalar)[0]);
  });
  return number;
}

void metric_kernel(const KernelCall& call) {
  std::optional<std::int64_t> step;
  if (call.in.size() > 1) {
    const double number = number_of(call.in[1]);
    if (!holds(DType::kI64, number) || number < 0) {
      return call.host.fail(DiagKind::kBadArgument,
                            "a step is a whole number from 0 on; this is " + shortest(number));
    }
    step = static_cast<std::int64_t>(number);
  }
  if (call.host.first_rank()) {
    call.host.metric(text_arg(call.call.args, "text"), number_of(call.in[0]), step);
  }
}

}  // namespace

const OpDef kPrint{
    .name = "print",
    .summary = "prints one line on rank 0; tensors look like NumPy arrays, with their dims",
    .family = "effects",
    .params = {{.name = "text", .kind = ParamKind::kText, .help = "the line, `{}` per tensor"},
               {.name = "x",
                .kind = ParamKind::kTensors,
                .required = false,
                .help = "the tensors, which every rank gathers"}},
    .shape_rule = "nothing",
    .example = R"(dim io = 3
let x = const([io], [1, 2, 3])
print "sum {sum(x)} of", x
)",
    .type = print_type,
    .space = effect_space,
    .kernel = print_kernel,
    .narrow = true,
    .effect = true,
    .primitive = Primitive::kPrint};

const OpDef kAssert{
    .name = "assert",
    .summary = "stops all ranks with a message unless the condition holds",
    .family = "effects",
    .params = {{.name = "c", .kind = ParamKind::kTensor, .help = "the condition, a boolean"},
               {.name = "text",
                .kind = ParamKind::kText,
                .required = false,
                .help = "the message, `{}` per tensor"},
               {.name = "x",
                .kind = ParamKind::kTensors,
                .required = false,
                .help = "tensors for the message"}},
    .shape_rule = "nothing",
    .example = R"(dim io = 3
assert all(ones([io]) == 1), "ones are not one"
)",
    .type = assert_type,
    .space = effect_space,
    .kernel = assert_kernel,
    .narrow = true,
    .effect = true,
    .primitive = Primitive::kAssert};

const OpDef kCheckFinite{
    .name = "check_finite",
    .summary = "warns if an element is infinite or not a number; `minimize` checks its loss so",
    .family = "effects",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor, as a rule a scalar"}},
    .shape_rule = "nothing",
    .example = R"(dim io = 3
fn f(x: f32[io]) {
  check_finite(sum(x))
  return sum(x)
}
print f(ones([io]))
)",
    .type = check_finite_type,
    .space = effect_space,
    .kernel = check_finite_kernel,
    .effect = true,
    .primitive = Primitive::kCheckFinite};

const OpDef kMetric{
    .name = "metric.record",
    .summary = "a number for who follows the training: what `metric` does in a function",
    .family = "effects",
    .params = {{.name = "text", .kind = ParamKind::kText, .help = "the metric's name"},
               {.name = "x",
                .kind = ParamKind::kTensors,
                .help = "the number; and the step, if it is another than the one in progress"}},
    .shape_rule = "nothing",
    .example = R"(dim io = 3
fn f(x: f32[io]) {
  metric("sum", sum(x), step = 2)
  return x
}
assert sum(f(ones([io]))) == 3, "metric.record"
)",
    .type = metric_type,
    .space = effect_space,
    .kernel = metric_kernel,
    .effect = true,
    .primitive = Primitive::kMetric};

}  // namespace mtf::ops
