// Factorisations of one dense matrix, row-major, in double; the only use of Eigen.
//
// Bits depend on the matrix alone: blocks have fixed sizes, and signs are fixed. What does not
// exist (the factor of a matrix that is not positive definite, the inverse of a singular one) is
// NaN or infinite.

#pragma once

#include <cstddef>
#include <span>

namespace mtf {

// The lower triangle L of a = L L^T, from the lower triangle of `a`, in its place; above it 0.
void cholesky(std::size_t n, std::span<double> a);

// b := a^-1 b, with `columns` columns; of `a` the lower or upper triangle is read.
void solve_triangular(std::size_t n, std::span<const double> a, bool upper, std::size_t columns,
                      std::span<double> b);
void solve(std::size_t n, std::span<const double> a, std::size_t columns, std::span<double> b);

struct Determinant {
  double value = 1;
  double log = 0;  // of its size
};
[[nodiscard]] Determinant determinant(std::size_t n, std::span<const double> a);

// For each element the determinant of `a` without its row and column, with the signs of a
// chessboard: the derivative of the determinant, also of a singular matrix.
void cofactors(std::size_t n, std::span<const double> a, std::span<double> result);
// What they change by where `a` moves along `along`: the second derivative of the determinant.
void cofactors_along(std::size_t n, std::span<const double> a, std::span<const double> along,
                     std::span<double> result);

// a = vectors diag(values) vectors^T of the symmetric matrix whose lower triangle is given; values
// upwards, and in each column of `vectors` the first of the largest elements positive.
void eigh(std::size_t n, std::span<const double> a, std::span<double> values,
          std::span<double> vectors);

// a = q r with `rows` >= `columns`; r's diagonal is not negative.
void qr(std::size_t rows, std::size_t columns, std::span<const double> a, std::span<double> q,
        std::span<double> r);

// a = u diag(values) v^T with min(rows, columns) values, downwards; in each column of u the first
// of the largest elements is positive.
void svd(std::size_t rows, std::size_t columns, std::span<const double> a, std::span<double> u,
         std::span<double> values, std::span<double> v);

}  // namespace mtf
