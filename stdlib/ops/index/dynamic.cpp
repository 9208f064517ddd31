// dynamic_slice and dynamic_update: windows that begin at a position known only at run time. Both
// are gathers, so ranks that have parts of the dim send each other no more than what the window
// takes.

#include <algorithm>
#include <string>
#include <utility>

#include "ir/builder.h"
#include "ir/support/number.h"
#include "stdlib/ops/index/indices.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

// One dim along which a window lies.
struct Along {
  Dim over;    // of the tensor
  Dim window;  // of the window; size 1 and no name: it lacks the dim
};

std::vector<Dim> new_dims(const Shape& window, const Shape& rest) {
  std::vector<Dim> dims;
  for (const Dim& dim : window.dims()) {
    if (!rest.has(dim.name)) {
      dims.push_back(dim);
    }
  }
  return dims;
}

// The dims of x that no window lies along.
Shape rest_of(const OpCall& call) {
  Shape rest = call.operands[0].shape;
  for (const Dim& dim : indexed_dims(call.args)) {
    rest = rest.without(dim.name);
  }
  return rest;
}

// `first`: the first operand that is a position.
bool check_positions(const OpCall& call, std::size_t first, DiagSink& diags) {
  const std::vector<Dim> over = indexed_dims(call.args);
  if (!check_distinct(call, over, diags)) {
    return false;
  }
  if (call.operands.size() != over.size() + first) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) + " at " + std::to_string(call.operands.size() - first) +
                    " positions over " + plural(over.size(), "dim") +
                    "; it needs one for each dim, in the same order");
    return false;
  }
  const Shape& x = call.operands[0].shape;
  for (const Dim& dim : over) {
    if (!find_dim(call, 0, dim.name, diags)) {
      return false;
    }
  }
  const Shape rest = rest_of(call);
  for (std::size_t i = first; i < call.operands.size(); ++i) {
    if (!check_operand(call, i, Accepts::kIndices, diags)) {
      return false;
    }
    if (!contains(rest, call.operands[i].shape)) {
      diags.error(
          DiagKind::kDimMissing, call.span_of(i),
          spelled(call) + " of " + to_string(x) + " at positions " +
              to_string(call.operands[i].shape) +
              "; a position is a scalar, or one for each index of other dims of the tensor");
      return false;
    }
  }
  return true;
}

// Whether a window of these dims lies within x; its further dims are those that go along `over`, or
// there are none of them: it is what lies at one index.
bool check_window(const OpCall& call, const Shape& window, DiagSink& diags) {
  const std::vector<Dim> over = indexed_dims(call.args);
  const Shape rest = rest_of(call);
  const std::vector<Dim> dims = new_dims(window, rest);
  if (!contains(window, rest) || (dims.size() != over.size() && !dims.empty())) {
    diags.error(DiagKind::kDimMissing, call.span,
                spelled(call) + " of " + to_string(call.operands[0].shape) + " over " +
                    names_text(over) + " by a window " + to_string(window) +
                    "; it needs the dims " + to_string(rest) + " and one for each of " +
                    names_text(over) + ", in the same order, or none for what lies at one index");
    return false;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Dim own = *call.operands[0].shape.find(over[i].name);
    if (dims[i].size > own.size) {
      diags.error(DiagKind::kDimSize, call.span,
                  spelled(call) + " of " + std::to_string(dims[i].size) + " of the " +
                      plural(own.size, "element") + " along `" + own.name + "`");
      return false;
    }
  }
  return true;
}

std::vector<Along> along_of(const OpCall& call, const Shape& window) {
  const std::vector<Dim> dims = new_dims(window, rest_of(call));
  std::vector<Along> all;
  for (const Dim& dim : indexed_dims(call.args)) {
    const Dim own = *call.operands[0].shape.find(dim.name);
    all.push_back(
        {.over = own, .window = dims.empty() ? Dim{.name = "", .size = 1} : dims[all.size()]});
  }
  return all;
}

// ---- building ---------------------------------------------------------------------------------

ValueId number(Builder& b, std::int64_t value) {
  return b.scalar(static_cast<double>(value), DType::kI64);
}

ValueId counted(Builder& b, const Dim& dim) {
  OpArgs args;
  args.set("dim", one_dim(dim));
  args.set("dtype", DType::kI64);
  return b.emit("range", {}, std::move(args));
}

// Where the window begins, moved so that it fits.
ValueId start_of(Builder& b, ValueId at, const Along& along) {
  OpArgs wide;
  wide.set("dtype", DType::kI64);
  const ValueId wanted = b.emit("cast", {at}, std::move(wide));
  return b.emit("clip", {wanted, number(b, 0), number(b, along.over.size - along.window.size)});
}

ValueId renamed(Builder& b, ValueId x, const Dim& from, const Dim& to) {
  if (from == to) {
    return x;
  }
  OpArgs args;
  args.set("dim", one_dim(from));
  args.set("to", one_dim(to));
  return b.emit("rename", {x}, std::move(args));
}

ValueId gathered(Builder& b, ValueId x, std::vector<ValueId> indices, std::vector<Dim> over) {
  indices.insert(indices.begin(), x);
  OpArgs args;
  args.set("over", std::move(over));
  return b.emit("gather", std::move(indices), std::move(args));
}

// The window's dim beside those of x, which may have one of its name.
Dim beside(const Shape& x, const Dim& window) {
  return {.name = window.name + (x.has(window.name) ? "~" : ""), .size = window.size};
}

// ---- dynamic_slice ----------------------------------------------------------------------------

std::optional<TensorType> slice_type(OpCall& call, DiagSink& diags) {
  const auto* to = call.args.get<Shape>("to");
  if (to == nullptr || !check_positions(call, 1, diags) || !check_window(call, *to, diags)) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, *to, diags);
}

std::optional<ValueId> slice_expand(Builder& b, const OpCall& call,
                                    std::span<const ValueId> operands) {
  const Shape& x = call.operands[0].shape;
  const std::vector<Along> all = along_of(call, shape_arg(call.args, "to"));
  std::vector<ValueId> indices;
  std::vector<Dim> over;
  for (const Along& along : all) {
    const ValueId start = start_of(b, operands[indices.size() + 1], along);
    indices.push_back(along.window.name.empty()
                          ? start
                          : b.emit("add", {start, counted(b, beside(x, along.window))}));
    over.push_back(along.over);
  }
  ValueId result = gathered(b, operands[0], std::move(indices), std::move(over));
  for (const Along& along : all) {
    const bool is_one = along.window.name.empty();
    result = is_one ? result : renamed(b, result, beside(x, along.window), along.window);
  }
  return b.emit(Algebra::kTranspose, {result}, to_shape(call.result.shape));
}

// ---- dynamic_update ---------------------------------------------------------------------------

std::optional<TensorType> update_type(OpCall& call, DiagSink& diags) {
  if (call.operands.size() >= 2 && call.operands[0].dtype != call.operands[1].dtype) {
    diags.error(DiagKind::kDtypeMismatch, call.span_of(1),
                spelled(call) + " of " + to_string(call.operands[0]) + " by " +
                    to_string(call.operands[1]) + "; `cast` one of them");
    return std::nullopt;
  }
  if (call.operands.size() < 2 || !check_positions(call, 2, diags) ||
      !check_window(call, call.operands[1].shape, diags)) {
    return std::nullopt;
  }
  return call.operands[0];
}

// What lies in the window comes from there, by its place; all else stays.
std::optional<ValueId> update_expand(Builder& b, const OpCall& call,
                                     std::span<const ValueId> operands) {
  const Shape& window = call.operands[1].shape;
  const bool has_dims = !new_dims(window, rest_of(call)).empty();
  std::vector<ValueId> places;
  std::vector<Dim> over;
  ValueId part = operands[1];
  ValueId inside;
  for (const Along& along : along_of(call, window)) {
    const ValueId start = start_of(b, operands[places.size() + 2], along);
    const ValueId place = b.emit("sub", {counted(b, along.over), start});
    const ValueId begun = b.emit("greater_equal", {place, number(b, 0)});
    const ValueId open = b.emit("less", {place, number(b, along.window.size)});
    const ValueId here = b.emit("logical_and", {begun, open});
    inside = inside.valid() ? b.emit("logical_and", {inside, here}) : here;
    places.push_back(place);
    if (has_dims) {
      over.push_back(beside(call.operands[0].shape, along.window));
      part = renamed(b, part, along.window, over.back());
    }
  }
  if (has_dims) {
    part = gathered(b, part, std::move(places), std::move(over));
  }
  const ValueId everywhere = b.emit(Algebra::kBroadcast, {inside}, to_shape(call.result.shape));
  return b.emit("where", {everywhere, part, operands[0]});
}

OpParam position_param() {
  return {.name = "at",
          .kind = ParamKind::kTensors,
          .help = "where it begins, i32 or i64; a list for several dims; moved so that it fits"};
}

OpParam along_param() {
  return {.name = "over",
          .kind = ParamKind::kDims,
          .help = "the dim that it lies along; several: one for each position"};
}

}  // namespace

const OpDef kDynamicSlice{
    .name = "dynamic_slice",
    .summary = "a window of a tensor that begins at a position known only at run time",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               position_param(),
               along_param(),
               {.name = "to",
                .kind = ParamKind::kShape,
                .help = "the other dims, and one as long as the window for each of `over`, or "
                        "none: then it is what lies at one index"}},
    .shape_rule = "the dims after `->`",
    .example = R"(dim length = 8, window = 3
let at = const([], 2, dtype = i32)
assert all(dynamic_slice(range(length), at -> [window], over = length) == 2 + range(window))
assert all(dynamic_slice(range(length), 9 -> [window], over = length) == 5 + range(window))
assert dynamic_slice(range(length), at -> [], over = length) == 2
)",
    .type = slice_type,
    .expand = slice_expand};

const OpDef kDynamicUpdate{
    .name = "dynamic_update",
    .summary = "a tensor with a window of it replaced, at a position known only at run time",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "part",
                .kind = ParamKind::kTensor,
                .help = "what is put there: the other dims, and one for each of `over`, or none: "
                        "then it is put at one index"},
               position_param(),
               along_param()},
    .shape_rule = "the dims of x",
    .example = R"(dim length = 5, window = 2
let at = const([], 3, dtype = i32)
let x = dynamic_update(zeros([length]), ones([window]), at, over = length)
assert all(x == const([length], [0, 0, 0, 1, 1]))
assert all(dynamic_update(x, 7.0, at - 2, over = length) == const([length], [0, 7, 0, 1, 1]))
)",
    .type = update_type,
    .expand = update_expand};

}  // namespace mtf::ops
