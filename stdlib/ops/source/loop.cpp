// What `while` on tensors becomes in a function (ir/loops/loop.h). Nobody can write these names;
// the executor does their work, but for the first copy of what is carried.

#include <cstring>

#include "ir/kernel.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

constexpr std::string_view kLoopExample = R"(dim io = 3
fn grown(x: f32[io]) {
  var y = x
  while sum(y) < 100 {
    y = y * 2
  }
  return y   # y <- …
}
assert sum(grown(ones([io]))) == 192, "loop.carry, loop.while, loop.end"
)";

std::optional<TensorType> condition_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kBools, diags)) {
    return std::nullopt;
  }
  if (call.operands[0].shape.rank() > 0) {
    diags.error(DiagKind::kBadArgument, call.span_of(0),
                "the condition is " + to_string(call.operands[0]) + ", which is many bools");
    return std::nullopt;
  }
  return TensorType{};
}

std::optional<TensorType> next_type(OpCall& call, DiagSink& diags) {
  if (call.operands[0] != call.operands[1]) {
    diags.error(DiagKind::kWrongType, call.span_of(1),
                "what is carried is " + to_string(call.operands[0]) + " and would become " +
                    to_string(call.operands[1]));
    return std::nullopt;
  }
  return TensorType{};
}

std::optional<TensorType> nothing_type(OpCall& /*call*/, DiagSink& /*diags*/) {
  return TensorType{};
}

IterationSpace next_space(const OpCall& call) {
  IterationSpace space = space_by_name(call, DimRole::kKept);
  space.result.clear();
  return space;
}

void carry_kernel(const KernelCall& call) {
  const auto bytes = static_cast<std::size_t>(call.out.shape.volume()) * bytes_of(call.out.dtype);
  if (bytes > 0) {
    std::memcpy(call.out.data, call.in[0].data, bytes);
  }
}

void no_kernel(const KernelCall& /*call*/) {}

}  // namespace

const OpDef kLoopCarry{
    .name = "loop.carry",
    .summary = "of a loop on the device: what is handed from trip to trip, at first x",
    .family = "loops",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "what comes in"}},
    .shape_rule = kSameDims,
    .example = kLoopExample,
    .type = any_elements,
    .space = kept_space,
    .kernel = carry_kernel,
    .narrow = true,
    .primitive = Primitive::kCarry};

const OpDef kLoopWhile{
    .name = "loop.while",
    .summary = "of a loop on the device: one more trip, up to loop.end, if c holds",
    .family = "loops",
    .params = {{.name = "c", .kind = ParamKind::kTensor, .help = "the condition, carried"}},
    .shape_rule = "nothing",
    .example = kLoopExample,
    .type = condition_type,
    .space = kept_space,
    .kernel = no_kernel,
    .narrow = true,
    .effect = true,
    .primitive = Primitive::kWhile};

const OpDef kLoopNext{
    .name = "loop.next",
    .symbol = "<-",
    .precedence = 1,
    .summary = "of a loop on the device: what y is in the next trip",
    .family = "loops",
    .params = {{.name = "y", .kind = ParamKind::kTensor, .help = "what is carried"},
               {.name = "x", .kind = ParamKind::kTensor, .help = "its next value"}},
    .shape_rule = "nothing",
    .example = kLoopExample,
    .type = next_type,
    .space = next_space,
    .kernel = no_kernel,
    .narrow = true,
    .effect = true,
    .primitive = Primitive::kNext};

const OpDef kLoopEnd{.name = "loop.end",
                     .summary = "of a loop on the device: back to loop.while",
                     .family = "loops",
                     .params = {},
                     .shape_rule = "nothing",
                     .example = kLoopExample,
                     .type = nothing_type,
                     .space = kept_space,
                     .kernel = no_kernel,
                     .effect = true,
                     .primitive = Primitive::kAgain};

}  // namespace mtf::ops
