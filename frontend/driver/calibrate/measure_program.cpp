#include "frontend/driver/calibrate/measure_program.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "stdlib/ops/rules.h"

namespace mtf {
namespace {

constexpr std::int64_t kRows = 256;
constexpr std::int64_t kCols = 64;

// Shapes that an argument may ask for, beside tensors of [rows, cols].
std::vector<Shape> shapes_to_try() {
  const Dim rows = {.name = "rows", .size = kRows};
  const Dim cols = {.name = "cols", .size = kCols};
  return {Shape({cols, rows}), Shape({rows}), Shape({rows, cols}),
          Shape({rows, cols, {.name = "more", .size = 4}})};
}

std::optional<OpArgs> args_of(const OpDef& op, const Shape& shape) {
  OpArgs args;
  const auto is_tensor = [](const OpParam& param) {
    return param.kind == ParamKind::kTensor || param.kind == ParamKind::kTensors;
  };
  const bool makes = std::ranges::none_of(op.params, is_tensor);
  for (const OpParam& param : op.params) {
    const bool is_given = param.required || (makes && param.kind == ParamKind::kShape);
    if (is_tensor(param) || !is_given) {
      continue;
    }
    switch (param.kind) {
      case ParamKind::kDim:
      case ParamKind::kDims:
        args.set(param.name, std::vector<Dim>{{.name = "cols", .size = kCols}});
        break;
      case ParamKind::kShape:
        args.set(param.name, shape);
        break;
      case ParamKind::kReal:
        args.set(param.name, 0.5);
        break;
      default:
        return std::nullopt;
    }
  }
  return args;
}

std::optional<Program> program_of(const OpDef& op, OpTable ops, DType dtype, const Shape& shape) {
  Program program;
  DiagSink diags;
  Builder builder(program, ops, diags);
  const TensorType type = {
      .dtype = dtype,
      .shape = Shape({{.name = "rows", .size = kRows}, {.name = "cols", .size = kCols}})};
  std::vector<ValueId> operands;
  for (const OpParam& param : op.params) {
    if (param.kind == ParamKind::kTensor || param.kind == ParamKind::kTensors) {
      operands.push_back(
          builder.input(InputKind::kArgument, "x" + std::to_string(operands.size()), type));
    }
  }
  std::optional<OpArgs> args = args_of(op, shape);
  const std::optional<ValueId> made =
      args ? builder.call(op, operands, *std::move(args)) : std::nullopt;
  if (!made || !diags.ok() || program.at(*made).op != &op) {
    return std::nullopt;
  }
  program.outputs = {*made};
  return program;
}

}  // namespace

std::optional<Program> program_of(const OpDef& op, OpTable ops) {
  for (const DType dtype : {DType::kF32, DType::kBool, DType::kI32}) {
    for (const Shape& shape : shapes_to_try()) {
      if (std::optional<Program> program = program_of(op, ops, dtype, shape)) {
        return program;
      }
    }
  }
  return std::nullopt;
}

Program cast_program(OpTable ops, DType from, DType to) {
  Program program;
  DiagSink diags;
  Builder builder(program, ops, diags);
  const Shape shape({{.name = "rows", .size = kRows}, {.name = "cols", .size = kCols}});
  const ValueId x = builder.input(InputKind::kArgument, "x", {.dtype = from, .shape = shape});
  program.outputs = {builder.cast(x, to)};
  return program;
}

std::optional<Program> convolution_program(OpTable ops, DType dtype) {
  const std::vector<Dim> window = {{.name = "row", .size = 16}, {.name = "col", .size = 16}};
  const std::vector<Dim> taps = {{.name = "down", .size = 3}, {.name = "across", .size = 3}};
  const Dim from = {.name = "from", .size = 128};
  const Dim to = {.name = "to_channel", .size = 128};
  const auto tensor = [dtype](std::vector<Dim> dims, const std::vector<Dim>& behind) {
    dims.insert(dims.end(), behind.begin(), behind.end());
    return TensorType{.dtype = dtype, .shape = Shape(std::move(dims))};
  };
  Program program;
  DiagSink diags;
  Builder builder(program, ops, diags);
  std::vector<Dim> images = {{.name = "batch", .size = 8}};
  images.insert(images.end(), window.begin(), window.end());
  const ValueId x = builder.input(InputKind::kArgument, "x", tensor(images, {from}));
  const ValueId kernel = builder.input(InputKind::kArgument, "kernel", tensor(taps, {from, to}));
  OpArgs args;
  args.set("to", tensor(images, {to}).shape);
  args.set("window", window);
  args.set("taps", taps);
  args.set("padding", std::string("same"));
  args.set("dtype", wide_of(dtype));
  const std::optional<ValueId> made =
      builder.call(*find_op(ops, "conv"), std::vector{x, kernel}, std::move(args));
  if (!made || !diags.ok()) {
    return std::nullopt;
  }
  program.outputs = {*made};
  return program;
}

Program dots_program(OpTable ops) {
  constexpr std::int64_t kSummed = 1024;
  constexpr std::int64_t kKept = 256;
  Program program;
  DiagSink diags;
  Builder builder(program, ops, diags);
  const Shape kept({{.name = "n", .size = kKept}});
  const TensorType type = {.dtype = DType::kF32,
                           .shape = kept.with({.name = "k", .size = kSummed})};
  const ValueId a = builder.input(InputKind::kArgument, "a", type);
  const ValueId b = builder.input(InputKind::kArgument, "b", type);
  program.outputs = {builder.emit(Algebra::kEinsum, {a, b}, to_shape(kept))};
  return program;
}

Program chain_of_small_kernels(OpTable ops, int length) {
  Program program;
  DiagSink diags;
  Builder builder(program, ops, diags);
  const Dim dim = {.name = "n", .size = 2};
  const TensorType pair = {.dtype = DType::kF32, .shape = Shape({dim})};
  ValueId value = builder.input(InputKind::kArgument, "a", pair);
  const ValueId other = builder.input(InputKind::kArgument, "b", pair);
  for (int i = 0; i < length; ++i) {
    OpArgs along;
    along.set("over", one_dim(dim));
    value = builder.emit("cumsum", {builder.emit("mul", {value, other})}, std::move(along));
  }
  program.outputs = {value};
  return program;
}

Program chain_of_products(OpTable ops, std::int64_t side, int length) {
  Program program;
  DiagSink diags;
  Builder builder(program, ops, diags);
  const auto matrix = [side](const char* rows, const char* cols) {
    return TensorType{.dtype = DType::kF32,
                      .shape = Shape({{.name = rows, .size = side}, {.name = cols, .size = side}})};
  };
  ValueId value = builder.input(InputKind::kArgument, "a", matrix("m", "k"));
  const std::array others = {builder.input(InputKind::kArgument, "b", matrix("k", "n")),
                             builder.input(InputKind::kArgument, "c", matrix("n", "k"))};
  for (int i = 0; i < length; ++i) {
    const bool is_odd = i % 2 != 0;
    value = builder.emit(Algebra::kEinsum, {value, others[is_odd ? 1 : 0]},
                         to_shape(matrix("m", is_odd ? "k" : "n").shape));
  }
  program.outputs = {value};
  return program;
}

}  // namespace mtf
