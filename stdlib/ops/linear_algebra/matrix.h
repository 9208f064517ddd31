// Matrices in tensors: which dims are rows and columns, and copies of one matrix at a time.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "ir/rewrite/autodiff.h"

namespace mtf {

// The dims of the arguments "rows" and "cols" of operand 0.
struct MatrixDims {
  Dim rows;
  Dim cols;
  Shape batch;  // the others
};

[[nodiscard]] std::vector<OpParam> matrix_params();
// nullopt after an error. `square`: of equal sizes.
[[nodiscard]] std::optional<MatrixDims> check_matrix(const OpCall& call, bool square,
                                                     DiagSink& diags);
// requires: a checked call.
[[nodiscard]] MatrixDims matrix_dims(const OpCall& call);
[[nodiscard]] IterationSpace matrix_space(const OpCall& call, const std::vector<Dim>& whole);

// Where elements are in a slice: one place for each index of `dims`, row-major; those that the
// slice lacks do not count.
[[nodiscard]] std::vector<std::int64_t> places_in(const TensorView& view, const Shape& dims);
// Of a slice with fewer batches than the whole: its own sizes of these dims.
[[nodiscard]] Shape local_dims(const TensorView& view, const Shape& dims);

using Places = std::vector<std::int64_t>;
[[nodiscard]] std::vector<double> load(const TensorView& view, std::int64_t first,
                                       const Places& rows, const Places& cols);
void store(std::span<const double> from, const TensorView& view, std::int64_t first,
           const Places& rows, const Places& cols);

// ---- gradients -------------------------------------------------------------------------------

// A dim that no rule names, beside `dim`.
[[nodiscard]] Dim beside(const Dim& dim);
[[nodiscard]] ValueId renamed(GradBuilder& b, ValueId x, const Dim& from, const Dim& to);
// The sum over the dims that `to` lacks.
[[nodiscard]] ValueId product(GradBuilder& b, std::vector<ValueId> factors, const Shape& to);
// (x + x^T) / 2
[[nodiscard]] ValueId symmetric(GradBuilder& b, ValueId x, const Dim& rows, const Dim& cols);
[[nodiscard]] OpArgs matrix_args(const Dim& rows, const Dim& cols);

}  // namespace mtf
