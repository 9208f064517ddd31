#include "runtime/products/factor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Dense>

namespace mtf {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Index index(std::size_t n) {
  return static_cast<Eigen::Index>(n);
}

// A copy, at an address and in an order that Eigen's kernels always meet the same way. The sizes of
// the caches decide the order of sums, so they are not asked of the machine.
Matrix matrix(std::size_t rows, std::size_t columns, std::span<const double> a) {
  [[maybe_unused]] static const bool fixed = [] {
    Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20);
    return true;
  }();
  return Eigen::Map<const RowMajor>(a.data(), index(rows), index(columns));
}

void write(const Matrix& from, std::span<double> to) {
  Eigen::Map<RowMajor>(to.data(), from.rows(), from.cols()) = from;
}

// -1 for a column whose first largest element is negative.
double sign_of(const Matrix& a, Eigen::Index column) {
  Eigen::Index largest = 0;
  for (Eigen::Index i = 1; i < a.rows(); ++i) {
    largest = std::abs(a(i, column)) > std::abs(a(largest, column)) ? i : largest;
  }
  return a.rows() > 0 && a(largest, column) < 0 ? -1 : 1;
}

// a = u diag(values) v^T of a square matrix, and the sign of u's and v's determinants.
struct Turned {
  Matrix u;
  std::vector<double> values;
  Matrix v;
  double sign;
};

Turned turned(std::size_t n, std::span<const double> a) {
  std::vector<double> u(n * n);
  std::vector<double> v(n * n);
  std::vector<double> values(n);
  svd(n, n, a, u, values, v);
  const double both = determinant(n, u).value * determinant(n, v).value;
  return {.u = matrix(n, n, u),
          .values = std::move(values),
          .v = matrix(n, n, v),
          .sign = std::copysign(1.0, both)};
}

// For each value the product of the others, and of `first`.
std::vector<double> products_of_others(std::span<const double> values, double first) {
  std::vector<double> others(values.size());
  double before = first;
  for (std::size_t i = 0; i < values.size(); ++i) {
    others[i] = before;
    before *= values[i];
  }
  double behind = 1;
  for (std::size_t i = values.size(); i-- > 0;) {
    others[i] *= behind;
    behind *= values[i];
  }
  return others;
}

}  // namespace

void cholesky(std::size_t n, std::span<double> a) {
  const Eigen::LLT<Matrix> factors(matrix(n, n, a));
  const bool exists = factors.info() == Eigen::Success;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Matrix lower =
      exists ? Matrix(factors.matrixL()) : Matrix::Constant(index(n), index(n), nan);
  write(Matrix(lower.triangularView<Eigen::Lower>()), a);
}

void solve_triangular(std::size_t n, std::span<const double> a, bool upper, std::size_t columns,
                      std::span<double> b) {
  const Matrix triangle = matrix(n, n, a);
  Matrix x = matrix(n, columns, b);
  if (upper) {
    triangle.triangularView<Eigen::Upper>().solveInPlace(x);
  } else {
    triangle.triangularView<Eigen::Lower>().solveInPlace(x);
  }
  write(x, b);
}

void solve(std::size_t n, std::span<const double> a, std::size_t columns, std::span<double> b) {
  const Matrix x = Eigen::PartialPivLU<Matrix>(matrix(n, n, a)).solve(matrix(n, columns, b));
  write(x, b);
}

Determinant determinant(std::size_t n, std::span<const double> a) {
  const Eigen::PartialPivLU<Matrix> factors(matrix(n, n, a));
  Determinant found{.value = static_cast<double>(factors.permutationP().determinant())};
  for (Eigen::Index i = 0; i < index(n); ++i) {
    found.value *= factors.matrixLU()(i, i);
    found.log += std::log(std::abs(factors.matrixLU()(i, i)));
  }
  return found;
}

void eigh(std::size_t n, std::span<const double> a, std::span<double> values,
          std::span<double> vectors) {
  const Matrix symmetric = matrix(n, n, a);
  if (!symmetric.allFinite()) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::ranges::fill(values, nan);
    std::ranges::fill(vectors, nan);
    return;
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> found(symmetric);
  Matrix columns = found.eigenvectors();
  for (Eigen::Index i = 0; i < index(n); ++i) {
    values[static_cast<std::size_t>(i)] = found.eigenvalues()(i);
    columns.col(i) *= sign_of(columns, i);
  }
  write(columns, vectors);
}

void qr(std::size_t rows, std::size_t columns, std::span<const double> a, std::span<double> q,
        std::span<double> r) {
  const Eigen::HouseholderQR<Matrix> factors(matrix(rows, columns, a));
  Matrix orthogonal = Matrix::Identity(index(rows), index(columns));
  orthogonal.applyOnTheLeft(factors.householderQ());
  Matrix upper = Matrix(factors.matrixQR().triangularView<Eigen::Upper>()).topRows(index(columns));
  for (Eigen::Index i = 0; i < index(columns); ++i) {
    if (upper(i, i) < 0) {
      upper.row(i) *= -1;
      orthogonal.col(i) *= -1;
    }
  }
  write(orthogonal, q);
  write(upper, r);
}

void svd(std::size_t rows, std::size_t columns, std::span<const double> a, std::span<double> u,
         std::span<double> values, std::span<double> v) {
  const Matrix given = matrix(rows, columns, a);
  if (!given.allFinite()) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::ranges::fill(u, nan);
    std::ranges::fill(values, nan);
    std::ranges::fill(v, nan);
    return;
  }
  const Eigen::BDCSVD<Matrix> found(given, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Matrix left = found.matrixU();
  Matrix right = found.matrixV();
  for (Eigen::Index i = 0; i < left.cols(); ++i) {
    values[static_cast<std::size_t>(i)] = found.singularValues()(i);
    const double sign = sign_of(left, i);
    left.col(i) *= sign;
    right.col(i) *= sign;
  }
  write(left, u);
  write(right, v);
}

// Each value is replaced by the product of the others.
void cofactors(std::size_t n, std::span<const double> a, std::span<double> result) {
  if (n == 0) {
    return;
  }
  const Turned of = turned(n, a);
  const std::vector<double> others = products_of_others(of.values, of.sign);
  const Eigen::Map<const Eigen::VectorXd> scales(others.data(), index(n));
  write(of.u * scales.asDiagonal() * of.v.transpose(), result);
}

// Of diag(values), the cofactor at i changes with the value at j by the product of all others, and
// the one at (i, j) with the element at (j, i) by that product, negative.
void cofactors_along(std::size_t n, std::span<const double> a, std::span<const double> along,
                     std::span<double> result) {
  if (n == 0) {
    return;
  }
  const Turned of = turned(n, a);
  const Matrix given = of.u.transpose() * matrix(n, n, along) * of.v;
  Matrix change = Matrix::Zero(index(n), index(n));
  for (std::size_t at = 0; at < n; ++at) {
    std::vector<double> values = of.values;
    values[at] = 1;
    const std::vector<double> others = products_of_others(values, of.sign);
    const Eigen::Index i = index(at);
    for (Eigen::Index j = 0; j < index(n); ++j) {
      if (i != j) {
        const double product = others[static_cast<std::size_t>(j)];
        change(j, j) += product * given(i, i);
        change(j, i) -= product * given(i, j);
      }
    }
  }
  write(of.u * change * of.v.transpose(), result);
}

}  // namespace mtf
