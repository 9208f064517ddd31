// pad: a dim made longer at its ends, or with gaps between its elements.

#include <algorithm>
#include <array>

#include "ir/rewrite/autodiff.h"
#include "runtime/kernels/moved.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

struct Mode {
  std::string_view name;  // as in NumPy
  Border border;
};
constexpr std::array kModes{Mode{.name = "constant", .border = Border::kValue},
                            Mode{.name = "edge", .border = Border::kEdge},
                            Mode{.name = "reflect", .border = Border::kReflect},
                            Mode{.name = "wrap", .border = Border::kWrap}};

const Mode& mode_of(const OpArgs& args) {
  const auto* mode = std::ranges::find(kModes, text_arg(args, "mode"), &Mode::name);
  return mode == kModes.end() ? kModes.front() : *mode;
}

IndexMap map_of(const OpArgs& args) {
  return {.offset = -int_arg(args, "begin", 0),
          .gap = int_arg(args, "step", 1),
          .border = mode_of(args).border,
          .value = real_arg(args, "value", 0)};
}

// The other arguments go with the mode.
bool check_mode(const OpCall& call, DiagSink& diags) {
  const Mode& mode = mode_of(call.args);
  if (mode.border == Border::kValue) {
    return check_number(call, call.operands[0].dtype, real_arg(call.args, "value", 0), diags);
  }
  if (call.args.find("value") == nullptr && int_arg(call.args, "step", 1) == 1) {
    return true;
  }
  diags.error(DiagKind::kBadArgument, call.span,
              R"(`pad` with mode = ")" + std::string(mode.name) +
                  R"(" takes its elements from x; `value` and `step` go with mode = "constant")");
  return false;
}

std::optional<TensorType> pad_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "dim").name, diags);
  if (!dim || !check_step(call, diags) || !check_mode(call, diags)) {
    return std::nullopt;
  }
  const std::int64_t begin = int_arg(call.args, "begin", 0);
  const std::int64_t size = int_arg(call.args, "size", 0);
  const std::int64_t step = int_arg(call.args, "step", 1);
  std::int64_t end = 0;  // behind the last element
  const bool counts = !__builtin_mul_overflow(dim->size - 1, step, &end) &&
                      !__builtin_add_overflow(end, begin, &end) &&
                      !__builtin_add_overflow(end, 1, &end);
  if (begin < 0 || !counts || size < end) {
    diags.error(DiagKind::kBadIndex, call.span,
                "`pad` of " + in_backticks(dim->name) + " to size " + std::to_string(size) +
                    "; positions " + std::to_string(begin) +
                    (counts ? ".." + std::to_string(end) : " and on") + " do not fit");
    return std::nullopt;
  }
  constexpr std::int64_t kMostCopies = 1024;  // each is a piece of its own to move
  const Border border = mode_of(call.args).border;
  const bool repeats = border == Border::kWrap || border == Border::kReflect;
  if (repeats && dim->size > 1 && size / dim->size > kMostCopies) {
    diags.error(DiagKind::kBadIndex, call.span,
                "`pad` of " + in_backticks(dim->name) + " " + std::to_string(dim->size) +
                    " to size " + std::to_string(size) + " goes through it more than " +
                    std::to_string(kMostCopies) + " times; `tile` repeats a dim");
    return std::nullopt;
  }
  if (call.args.find("to") != nullptr && !fit_new_dim(call, "to", size, diags)) {
    return std::nullopt;
  }
  return cut_type(call, size, diags);
}

IterationSpace pad_space(const OpCall& call) {
  return moved_space(call, cut_of(call.args), map_of(call.args));
}

// What the elements of one run have of the gradient.
ValueId gradient_of_run(GradBuilder& b, const IndexRun& run) {
  const CutDim cut = cut_of(b.args());
  const Shape shape = b.type_of(b.upstream()).shape;
  const Dim own = *b.type_of(b.operand(0)).shape.find(cut.operand);
  OpArgs range;
  range.set("dim", one_dim(*shape.find(cut.result)));
  range.set("begin", run.to);
  range.set("end", run.to + (run.count - 1) * run.to_step + 1);
  if (run.to_step != 1) {
    range.set("step", run.to_step);
  }
  ValueId part = b.emit("slice", {b.upstream()}, range);
  if (run.from_step == 0) {  // one element stands at all of them
    part = b.emit("sum", {part}, to_shape(shape.without(cut.result)));
    part = b.emit("broadcast", {part}, to_shape(shape.resized(cut.result, 1)));
  }
  if (run.from_step < 0) {
    OpArgs over;
    over.set("over", one_dim(*b.type_of(part).shape.find(cut.result)));
    part = b.emit("reverse", {part}, over);
  }
  OpArgs back;
  back.set("dim", one_dim(*b.type_of(part).shape.find(cut.result)));
  back.set("begin", run.from_step < 0 ? run.from + (run.count - 1) * run.from_step : run.from);
  back.set("size", own.size);
  back.set("to", one_dim(own));
  return b.emit("pad", {part}, back);
}

void pad_grad(GradBuilder& b) {
  const CutDim cut = cut_of(b.args());
  const std::int64_t own = b.type_of(b.operand(0)).shape.find(cut.operand)->size;
  const std::int64_t size = b.type_of(b.result()).shape.find(cut.result)->size;
  for (const IndexRun& run : runs_of(map_of(b.args()), own, {.begin = 0, .extent = size})) {
    b.add_to(0, gradient_of_run(b, run));
  }
}

}  // namespace

const OpDef kPad{
    .name = "pad",
    .summary = "a dim made longer before and after, by zeros or otherwise",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "dim", .kind = ParamKind::kDim, .help = "the dim"},
               {.name = "begin",
                .kind = ParamKind::kInt,
                .help = "the position of the first element of x"},
               {.name = "size", .kind = ParamKind::kInt, .help = "the new size"},
               resized_dim_param(),
               {.name = "step",
                .kind = ParamKind::kInt,
                .required = false,
                .help = "the distance between elements of x in the result, with `value` between "
                        "them (1)"},
               {.name = "value",
                .kind = ParamKind::kReal,
                .required = false,
                .help = "the number that is put there (0)"},
               {.name = "mode",
                .kind = ParamKind::kText,
                .required = false,
                .help = "what is put there: the value, or elements of x as in NumPy (\"constant\")",
                .choices = {"constant", "edge", "reflect", "wrap"}}},
    .shape_rule = kDimResized,
    .example = R"(dim io = 3
let x = const([io], [1, 2, 3])
assert all(pad(x, io -> w, begin = 1, size = 6) == const([w: 6], [0, 1, 2, 3, 0, 0]))
assert all(pad(x, io -> v, begin = 2, size = 5, mode = "reflect") == const([v: 5], [3, 2, 1, 2, 3]))
)",
    .type = pad_type,
    .space = pad_space,
    .grad = pad_grad,
    .kernel = moved_kernel,
    .linear = Linear::kEach,
    .narrow = true,
    .algebra = Algebra::kMove};

}  // namespace mtf::ops
