// A program of one operation, for its time.

#pragma once

#include <optional>

#include "ir/op.h"
#include "ir/program.h"

namespace mtf {

// On tensors of 16,384 elements, with the first operands and arguments that it takes; nullopt: it
// takes none of what is tried.
[[nodiscard]] std::optional<Program> program_of(const OpDef& op, OpTable ops);

// A convolution with windows of 3 x 3 and many channels: what kernels have a way of their own for,
// of f32 and of bf16 (IterationSpace::way).
[[nodiscard]] std::optional<Program> convolution_program(OpTable ops, DType dtype);

// A cast of so many, from or to a narrow dtype.
[[nodiscard]] Program cast_program(OpTable ops, DType from, DType to);

// Sums of products element by element, as a gradient of a vector has them.
[[nodiscard]] Program dots_program(OpTable ops);

// Kernels that do next to nothing, each of which reads what the one before it made: two for each of
// `length`. They are of kinds that no rewrite takes out of the chain, or puts into one kernel.
[[nodiscard]] Program chain_of_small_kernels(OpTable ops, int length);

// `length` products of square matrices, each of which reads what the one before it made.
[[nodiscard]] Program chain_of_products(OpTable ops, std::int64_t side, int length);

}  // namespace mtf
