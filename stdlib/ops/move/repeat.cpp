// repeat and tile: copies of the elements, or of the whole dim, one after another.

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "runtime/kernels/moved.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> repeat_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "dim").name, diags);
  if (!dim) {
    return std::nullopt;
  }
  const std::int64_t times = int_arg(call.args, "times", 1);
  std::int64_t size = 0;
  if (times < 1 || __builtin_mul_overflow(dim->size, times, &size)) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) + " of " + in_backticks(dim->name) + ", which has size " +
                    std::to_string(dim->size) + ", " + std::to_string(times) +
                    (times < 1 ? " times; it takes at least 1" : " times, which no dim can hold"));
    return std::nullopt;
  }
  if (call.args.find("to") != nullptr && !fit_new_dim(call, "to", size, diags)) {
    return std::nullopt;
  }
  return cut_type(call, size, diags);
}

// The operand's shape with the copies as a dim of their own: inside the one that is repeated, or
// around it.
Shape with_copies(const OpCall& call, bool inside) {
  const Shape& shape = call.operands[0].shape;
  const std::string name = dim_arg(call.args, "dim").name;
  Dim copies{.name = name + "~", .size = int_arg(call.args, "times", 1)};
  while (shape.has(copies.name)) {
    copies.name += "~";
  }
  std::vector<Dim> dims;
  for (const Dim& dim : shape.dims()) {
    dims.push_back(dim.name == name && !inside ? copies : dim);
    if (dim.name == name) {
      dims.push_back(inside ? copies : dim);
    }
  }
  return Shape(std::move(dims));
}

std::optional<ValueId> repeat_expand(Builder& b, const OpCall& call, std::span<const ValueId> x) {
  const ValueId copied = b.emit("broadcast", {x[0]}, to_shape(with_copies(call, /*inside=*/true)));
  return b.emit("reshape", {copied}, to_shape(call.result.shape));
}

// A ring that the result goes around several times.
IterationSpace tile_space(const OpCall& call) {
  return moved_space(call, cut_of(call.args), {.border = Border::kWrap});
}

void tile_grad(GradBuilder& b) {
  const OpCall call{.operands = {b.type_of(b.operand(0))}, .args = b.args()};
  const ValueId upstream =
      b.emit("transpose", {b.upstream()}, to_shape(b.type_of(b.result()).shape));
  b.add_to(0, b.emit("reshape", {upstream}, to_shape(with_copies(call, /*inside=*/false))));
}

OpDef repeating(OpDef def) {
  def.family = "indexing";
  def.params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
                {.name = "dim", .kind = ParamKind::kDim, .help = "the dim"},
                {.name = "times", .kind = ParamKind::kInt, .help = "the number of copies"},
                resized_dim_param()};
  def.shape_rule = kDimResized;
  def.type = repeat_type;
  return def;
}

}  // namespace

const OpDef kRepeat = repeating({.name = "repeat",
                                 .summary = "every element several times in a row along a dim",
                                 .example = R"(dim io = 3
let x = const([io], [1, 2, 3])
assert all(repeat(x, io -> twice, times = 2) == const([twice: 6], [1, 1, 2, 2, 3, 3]))
)",
                                 .expand = repeat_expand,
                                 .narrow = true});

const OpDef kTile = repeating({.name = "tile",
                               .summary = "a whole dim several times, one copy after another",
                               .example = R"(dim io = 3
let x = const([io], [1, 2, 3])
assert all(tile(x, io -> twice, times = 2) == const([twice: 6], [1, 2, 3, 1, 2, 3]))
)",
                               .space = tile_space,
                               .grad = tile_grad,
                               .kernel = moved_kernel,
                               .linear = Linear::kEach,
                               .narrow = true});

}  // namespace mtf::ops
