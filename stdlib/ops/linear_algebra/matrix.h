// Matrices in tensors: which dims are rows and columns, and copies of one matrix at a time.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
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
// Whole rows and columns.
[[nodiscard]] IterationSpace whole_matrix_space(const OpCall& call);
// Of square matrices of floats, for results like them.
[[nodiscard]] std::optional<TensorType> square_type(OpCall& call, DiagSink& diags);

// ---- factorisations: a new dim "to" that counts values, or lies between factors ----------------

// The definition with what all of them share; `help` is that of the new dim.
[[nodiscard]] OpDef factorisation(OpDef def, std::string_view help);
struct Factored {
  bool square = false;         // the matrices are to be square
  std::string_view what = {};  // gets the new dim: "values"
};
// As `check_matrix`, of floats; `to` is made as long as the shorter side.
[[nodiscard]] std::optional<MatrixDims> check_factored(OpCall& call, const Factored& how,
                                                       DiagSink& diags);

// ---- kernels -----------------------------------------------------------------------------------

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
// Where the matrices of operand 0 and of the result begin, and where their elements are.
struct MatrixPlaces {
  Places from, rows, cols;
  Places to, out_rows, out_cols;
};
[[nodiscard]] MatrixPlaces matrix_places(const KernelCall& call, const Dim& out_rows,
                                         const Dim& out_cols);
// (m + m^T) / 2 of an n x n matrix.
void make_symmetric(std::span<double> matrix, std::size_t n);

// ---- gradients -------------------------------------------------------------------------------

// A dim that no rule names, beside `dim`.
[[nodiscard]] Dim beside(const Dim& dim);
[[nodiscard]] ValueId renamed(GradBuilder& b, ValueId x, const Dim& from, const Dim& to);
// The sum over the dims that `to` lacks.
[[nodiscard]] ValueId product(GradBuilder& b, std::vector<ValueId> factors, const Shape& to);
// With two dims swapped: x^T.
[[nodiscard]] ValueId transposed(GradBuilder& b, ValueId x, const Dim& rows, const Dim& cols);
// (x + x^T) / 2
[[nodiscard]] ValueId symmetric(GradBuilder& b, ValueId x, const Dim& rows, const Dim& cols);
// 1 / (x[other] - x[to]) of values along `to`, 0 on the diagonal; [to, other].
[[nodiscard]] ValueId inverse_gaps(GradBuilder& b, ValueId x, const Dim& to, const Dim& other);
[[nodiscard]] OpArgs matrix_args(const Dim& rows, const Dim& cols);

}  // namespace mtf
