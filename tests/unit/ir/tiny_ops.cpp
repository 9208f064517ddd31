#include "tests/unit/ir/tiny_ops.h"

#include <array>

#include "ir/rewrite/autodiff.h"

namespace mtf::tiny {
namespace {

void no_tile(const TileCall& /*call*/, std::span<const void* const> /*in*/, void* /*out*/,
             std::size_t /*n*/) {}

IterationSpace by_name(const OpCall& call) {
  return space_by_name(call);
}

std::optional<TensorType> union_type(OpCall& call, DiagSink& diags) {
  Shape shape = call.operands.front().shape;
  for (const TensorType& operand : call.operands) {
    for (const Dim& dim : operand.shape.dims()) {
      const Dim* there = shape.find(dim.name);
      if (there == nullptr) {
        shape = shape.with(dim);
      } else if (there->size != dim.size) {
        diags.error(DiagKind::kDimSize, call.span, "two sizes of `" + dim.name + "`");
        return std::nullopt;
      }
    }
  }
  return TensorType{.dtype = call.operands.front().dtype, .shape = shape};
}

std::optional<TensorType> to_type(OpCall& call, DiagSink& diags) {
  const Shape to = *call.args.get<Shape>("to");
  const std::optional<TensorType> all = union_type(call, diags);
  if (!all || !contains(all->shape, to)) {
    diags.error(DiagKind::kDimMissing, call.span, "not in the operands");
    return std::nullopt;
  }
  call.args.erase("dtype");
  return TensorType{.dtype = all->dtype, .shape = to};
}

std::optional<TensorType> transpose_type(OpCall& call, DiagSink& diags) {
  const Shape& to = *call.args.get<Shape>("to");
  if (!same_dims(to, call.operands[0].shape)) {
    diags.error(DiagKind::kDimMissing, call.span, "other dims");
    return std::nullopt;
  }
  return TensorType{.dtype = call.operands[0].dtype, .shape = to};
}

std::optional<TensorType> broadcast_type(OpCall& call, DiagSink& diags) {
  const Shape& to = *call.args.get<Shape>("to");
  if (!contains(to, call.operands[0].shape)) {
    diags.error(DiagKind::kBroadcastConflict, call.span, "loses a dim");
    return std::nullopt;
  }
  return TensorType{.dtype = call.operands[0].dtype, .shape = to};
}

std::optional<TensorType> fill_type(OpCall& call, DiagSink& /*diags*/) {
  return TensorType{.dtype = *call.args.get<DType>("dtype"),
                    .shape = *call.args.get<Shape>("shape")};
}

std::optional<TensorType> print_type(OpCall& /*call*/, DiagSink& /*diags*/) {
  return TensorType{};
}

std::optional<ValueId> square_expand(Builder& builder, const OpCall& /*call*/,
                                     std::span<const ValueId> operands) {
  return builder.emit("mul", {operands[0], operands[0]});
}

void add_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
  b.add_to(1, b.upstream());
}

void mul_grad(GradBuilder& b) {
  for (const std::size_t i : {0U, 1U}) {
    if (b.wants(i)) {
      b.add_to(i, b.emit("mul", {b.upstream(), b.operand(1 - i)}));
    }
  }
}

void sin_grad(GradBuilder& b) {
  b.add_to(0, b.emit("mul", {b.upstream(), b.emit("cos", {b.operand(0)})}));
}

void cos_grad(GradBuilder& b) {
  const ValueId slope = b.emit("mul", {b.scalar(-1.0), b.emit("sin", {b.operand(0)})});
  b.add_to(0, b.emit("mul", {b.upstream(), slope}));
}

void pass_grad(GradBuilder& b) {
  b.add_to(0, b.upstream());
}

void einsum_grad(GradBuilder& b) {
  for (std::size_t i = 0; i < b.arity(); ++i) {
    std::vector<ValueId> factors = {b.upstream()};
    for (std::size_t other = 0; other < b.arity(); ++other) {
      if (other != i) {
        factors.push_back(b.operand(other));
      }
    }
    if (b.wants(i)) {
      b.add_to(i, b.emit("einsum", factors, to_shape(b.type_of(b.operand(i)).shape)));
    }
  }
}

const OpDef kAdd{.name = "add",
                 .symbol = "+",
                 .type = union_type,
                 .space = by_name,
                 .grad = add_grad,
                 .tile = no_tile,
                 .linear = Linear::kJoint,
                 .primitive = Primitive::kAdd};
const OpDef kMul{.name = "mul",
                 .symbol = "*",
                 .type = union_type,
                 .space = by_name,
                 .grad = mul_grad,
                 .tile = no_tile,
                 .algebra = Algebra::kProduct};
const OpDef kSin{
    .name = "sin", .type = union_type, .space = by_name, .grad = sin_grad, .tile = no_tile};
const OpDef kCos{
    .name = "cos", .type = union_type, .space = by_name, .grad = cos_grad, .tile = no_tile};
const OpDef kStop{.name = "stop", .type = union_type, .space = by_name, .tile = no_tile};
const OpDef kSum{
    .name = "sum", .type = to_type, .space = by_name, .grad = pass_grad, .algebra = Algebra::kSum};
const OpDef kEinsum{.name = "einsum",
                    .type = to_type,
                    .space = by_name,
                    .grad = einsum_grad,
                    .algebra = Algebra::kEinsum};
const OpDef kBroadcast{.name = "broadcast",
                       .type = broadcast_type,
                       .space = by_name,
                       .grad = pass_grad,
                       .algebra = Algebra::kBroadcast};
const OpDef kTranspose{.name = "transpose",
                       .type = transpose_type,
                       .space = by_name,
                       .grad = pass_grad,
                       .algebra = Algebra::kTranspose};
const OpDef kFill{
    .name = "fill", .type = fill_type, .space = by_name, .primitive = Primitive::kFill};
const OpDef kNoise{.name = "noise", .type = fill_type, .space = by_name, .random = true};
const OpDef kPrint{.name = "print", .type = print_type, .space = by_name, .effect = true};
const OpDef kSquare{.name = "square", .type = union_type, .expand = square_expand};

constexpr std::array<const OpDef*, 13> kTable{&kAdd,   &kMul,    &kSin,       &kCos,       &kStop,
                                              &kSum,   &kEinsum, &kBroadcast, &kTranspose, &kFill,
                                              &kNoise, &kPrint,  &kSquare};

}  // namespace

OpTable ops() {
  return kTable;
}

}  // namespace mtf::tiny
