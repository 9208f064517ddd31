// A handful of operations for testing the IR by itself: types, spaces and gradients, no kernels.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace mtf::tiny {

[[nodiscard]] OpTable ops();

// A program being built from the tiny operations.
struct Sketch {
  Program program;
  DiagSink diags;
  Builder builder{program, ops(), diags};

  Sketch() { program.name = "sketch"; }

  ValueId argument(const std::string& name, Shape shape, DType dtype = DType::kF32) {
    return builder.input(InputKind::kArgument, name, {.dtype = dtype, .shape = std::move(shape)});
  }
  ValueId param(const std::string& name, Shape shape) {
    return builder.input(InputKind::kParam, name,
                         {.dtype = DType::kF32, .shape = std::move(shape)});
  }
  ValueId emit(std::string_view op, std::vector<ValueId> operands) {
    return builder.emit(op, std::move(operands));
  }
  // With the argument behind `->`.
  ValueId emit(std::string_view op, std::vector<ValueId> operands, Shape to) {
    OpArgs args;
    args.set("to", std::move(to));
    return builder.emit(op, std::move(operands), std::move(args));
  }
};

// All values of a program, row-major; `inputs` by position. Slow, and obviously right.
[[nodiscard]] std::vector<std::vector<double>> evaluate(
    const Program& program, const std::vector<std::vector<double>>& inputs);

// The program simplified; checked to verify, to compute the same outputs, and to be a fixed point.
[[nodiscard]] Program simplified(const Program& program);

}  // namespace mtf::tiny
