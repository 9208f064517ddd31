// reshape: the same elements in row-major order under other dims.
//
// Both shapes are walked from the major end. While they have a common divisor, it is a loop that
// belongs to both, and splitting it moves nothing. From where they have none up to where they meet
// again, the operand is needed whole and the result is cut from it.

#include <cassert>
#include <numeric>

#include "ir/rewrite/autodiff.h"
#include "ir/support/number.h"
#include "runtime/kernels/strided.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> reshape_type(OpCall& call, DiagSink& diags) {
  const TensorType& x = call.operands[0];
  const Shape to = shape_arg(call.args, "to");
  const std::optional<std::int64_t> volume = to.checked_volume();
  if (volume && *volume == x.shape.volume()) {
    return TensorType{.dtype = x.dtype, .shape = to};
  }
  diags.error(DiagKind::kBadReshape, call.span_of(0),
              "`reshape` of " + to_string(x.shape) + " to " + to_string(to) + "; " +
                  plural(x.shape.volume(), "element") + " against " +
                  (volume ? std::to_string(*volume) : "more than can be counted"));
  return std::nullopt;
}

// One side of the walk: a shape, the dim it is at, and what of that dim is not yet in a loop.
struct Side {
  const Shape& shape;
  DimMap map;
  std::size_t dim = 0;
  std::int64_t left = 0;

  explicit Side(const Shape& of) : shape(of), map(of.rank()) {
    left = shape.rank() == 0 ? 1 : shape[0].size;
  }
  [[nodiscard]] bool done() const { return dim == shape.rank(); }
  [[nodiscard]] bool fresh() const { return left == shape[dim].size; }  // nothing taken yet
  [[nodiscard]] const std::string& name() const { return shape[dim].name; }
  void next() {
    ++dim;
    left = done() ? 1 : shape[dim].size;
  }
};

// A loop for what is left of the side's dim, which it then leaves.
void take_rest(IterationSpace& space, Side& side, DimRole role, std::string_view mark) {
  space.loops.push_back({.name = side.name() + std::string(side.fresh() ? "" : mark),
                         .size = side.left,
                         .role = role});
  side.map[side.dim].push_back(space.loops.size() - 1);
  side.next();
}

void take_common(IterationSpace& space, Side& from, Side& to, std::int64_t size) {
  const bool all = from.fresh() && to.fresh() && from.left == size && to.left == size;
  const std::string name =
      all && from.name() == to.name() ? to.name() : from.name() + "/" + to.name();
  space.loops.push_back({.name = name, .size = size, .role = DimRole::kKept});
  from.map[from.dim].push_back(space.loops.size() - 1);
  to.map[to.dim].push_back(space.loops.size() - 1);
  from.left /= size;
  to.left /= size;
}

// From here on there is no common divisor: whole loops until the products meet again.
void take_unequal(IterationSpace& space, Side& from, Side& to) {
  std::int64_t from_product = from.left;
  std::int64_t to_product = to.left;
  take_rest(space, from, DimRole::kWhole, "\"");
  take_rest(space, to, DimRole::kKept, "'");
  while (from_product != to_product) {
    if (from_product < to_product) {
      from_product *= from.left;
      take_rest(space, from, DimRole::kWhole, "\"");
    } else {
      to_product *= to.left;
      take_rest(space, to, DimRole::kKept, "'");
    }
  }
}

void skip_finished(IterationSpace& space, Side& side, DimRole role) {
  while (!side.done() && side.left == 1) {
    if (side.map[side.dim].empty()) {  // a dim of size 1
      space.loops.push_back({.name = side.name(), .size = 1, .role = role});
      side.map[side.dim].push_back(space.loops.size() - 1);
    }
    side.next();
  }
}

IterationSpace reshape_space(const OpCall& call) {
  IterationSpace space;
  Side from(call.operands[0].shape);
  Side to(call.result.shape);
  skip_finished(space, from, DimRole::kWhole);
  skip_finished(space, to, DimRole::kKept);
  while (!from.done() && !to.done()) {
    const std::int64_t common = std::gcd(from.left, to.left);
    if (common > 1) {
      take_common(space, from, to, common);
    } else {
      take_unequal(space, from, to);
    }
    skip_finished(space, from, DimRole::kWhole);
    skip_finished(space, to, DimRole::kKept);
  }
  while (!from.done()) {  // tensors of no elements
    take_rest(space, from, DimRole::kWhole, "\"");
  }
  while (!to.done()) {
    take_rest(space, to, DimRole::kKept, "'");
  }
  space.operands = {std::move(from.map)};
  space.result = std::move(to.map);
  return space;
}

void reshape_grad(GradBuilder& b) {
  // Elements count in the result's order, which the upstream need not have.
  const ValueId upstream =
      b.emit("transpose", {b.upstream()}, to_shape(b.type_of(b.result()).shape));
  b.add_to(0, b.emit("reshape", {upstream}, to_shape(b.type_of(b.operand(0)).shape)));
}

// Extents of the loops on this rank: those of a dim share its local size, major loops split first.
struct LocalLoop {
  std::int64_t extent = 1;
  std::int64_t offset = 0;
  bool common = false;  // in the operand and in the result
};

std::vector<LocalLoop> local_loops(const KernelCall& call) {
  std::vector<LocalLoop> loops(call.space.loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const LoopShare& share = call.shares[i];
    loops[i].extent = share.extent;
    loops[i].offset = share.offset;
  }
  for (const std::vector<std::size_t>& dim : call.space.operands[0]) {
    for (const std::size_t loop : dim) {
      loops[loop].common = true;
    }
  }
  return loops;
}

// The operand's slice is read as if it had the result's dims: common loops are as long as here, the
// others complete, of which the result takes its part.
void reshape_kernel(const KernelCall& call) {
  if (call.out.shape.volume() == 0) {  // a rank outside the layout has nothing of any loop
    return;
  }
  const std::vector<LocalLoop> loops = local_loops(call);
  std::vector<StridedDim> dims;
  std::int64_t from = 1;
  std::int64_t to = 1;
  std::int64_t start = 0;
  for (std::size_t d = call.space.result.size(); d-- > 0;) {
    const std::vector<std::size_t>& parts = call.space.result[d];
    for (std::size_t p = parts.size(); p-- > 0;) {
      const LocalLoop& loop = loops[parts[p]];
      dims.insert(dims.begin(), {.extent = loop.extent, .from = from, .to = to});
      start += loop.common ? 0 : loop.offset * from;
      from *= loop.common ? loop.extent : call.space.loops[parts[p]].size;
      to *= loop.extent;
    }
  }
  assert(to == call.out.shape.volume() && from == call.in[0].shape.volume());
  copy_strided(std::move(dims), bytes_of(call.out.dtype), at(call.in[0], start), call.out.data);
}

}  // namespace

const OpDef kReshape{
    .name = "reshape",
    .summary = "the same elements, in row-major order, under other dims",
    .family = "shapes",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "to", .kind = ParamKind::kShape, .help = "the result's dims"}},
    .shape_rule = "the dims after `->`, with as many elements",
    .example = R"(dim batch = 2, io = 6
let x = const([batch, io], [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]])
print reshape(x -> [batch, outer: 2, inner: 3])
)",
    .type = reshape_type,
    .space = reshape_space,
    .grad = reshape_grad,
    .kernel = reshape_kernel,
    .linear = Linear::kEach,
    .narrow = true,
    .algebra = Algebra::kMove,
    .primitive = Primitive::kReshape};

}  // namespace mtf::ops
