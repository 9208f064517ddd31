// Singular values and vectors of matrices of any shape and rank, and cofactors of square ones.

#include "runtime/products/factor.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

struct Svd {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<double> a;
  std::vector<double> u = std::vector<double>(rows * count());
  std::vector<double> values = std::vector<double>(count());
  std::vector<double> v = std::vector<double>(cols * count());

  [[nodiscard]] std::size_t count() const { return std::min(rows, cols); }
};

// The largest part of x that the product of the factors lacks.
double lacks(const Svd& x) {
  double most = 0;
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t j = 0; j < x.cols; ++j) {
      double sum = x.a[i * x.cols + j];
      for (std::size_t k = 0; k < x.count(); ++k) {
        sum -= x.u[i * x.count() + k] * x.values[k] * x.v[j * x.count() + k];
      }
      most = std::max(most, std::abs(sum));
    }
  }
  return most;
}

// How far columns are from being orthogonal and of length 1.
double skewness(const std::vector<double>& columns, std::size_t count) {
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      double sum = i == j ? -1 : 0;
      for (std::size_t row = 0; row < columns.size(); row += count) {
        sum += columns[row + i] * columns[row + j];
      }
      most = std::max(most, std::abs(sum));
    }
  }
  return most;
}

std::vector<double> matrix_of(std::size_t rows, std::size_t cols, std::size_t rank, double scale) {
  std::vector<double> a(rows * cols);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) {
      for (std::size_t k = 0; k < rank; ++k) {
        const auto at = [k](std::size_t place) {
          return static_cast<double>((k + 2) * (place + 1));
        };
        a[i * cols + j] += scale * std::sin(at(i)) * std::cos(at(j) * 1.3);
      }
    }
  }
  return a;
}

}  // namespace

TEST_CASE("singular values and vectors make the matrix, whatever its rank", "[linear_algebra]") {
  const auto [rows, cols] = GENERATE(table<std::size_t, std::size_t>(
      {{1, 1}, {1, 7}, {6, 2}, {15, 16}, {17, 17}, {40, 33}, {20, 70}}));
  const std::size_t rank = GENERATE(0, 1, 3, 100);
  const double scale = GENERATE(1e-30, 1, 1e30);
  CAPTURE(rows, cols, rank, scale);
  Svd x{.rows = rows, .cols = cols, .a = matrix_of(rows, cols, rank, scale)};
  svd(rows, cols, x.a, x.u, x.values, x.v);
  const double size = std::max(x.values.front(), 1e-300);
  CHECK(lacks(x) <= 1e-13 * size);
  CHECK(skewness(x.u, x.count()) < 1e-13);
  CHECK(skewness(x.v, x.count()) < 1e-13);
  CHECK(std::ranges::is_sorted(x.values, std::greater()));
  CHECK(x.values.back() >= 0);
  if (rank < x.count()) {
    CHECK(x.values[rank] <= 1e-13 * size);
  }
}

TEST_CASE("cofactors are determinants of what is left, of singular matrices, too",
          "[linear_algebra]") {
  const std::size_t n = GENERATE(1, 2, 3, 6);
  const std::size_t rank = GENERATE(0, 1, 2, 5, 9);
  CAPTURE(n, rank);
  const std::vector<double> a = matrix_of(n, n, rank, 1);
  std::vector<double> found(n * n);
  cofactors(n, a, found);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t col = 0; col < n; ++col) {
      std::vector<double> left;
      for (std::size_t i = 0; i < n * n; ++i) {
        if (i / n != row && i % n != col) {
          left.push_back(a[i]);
        }
      }
      const double sign = (row + col) % 2 == 0 ? 1 : -1;
      CHECK(found[row * n + col] == Approx(sign * determinant(n - 1, left).value).margin(1e-10));
    }
  }
}

TEST_CASE("what cofactors change by is the quotient of differences, of singular matrices, too",
          "[linear_algebra]") {
  const std::size_t n = GENERATE(1, 2, 3, 6);
  const std::size_t rank = GENERATE(0, 1, 2, 5, 9);
  CAPTURE(n, rank);
  const std::vector<double> a = matrix_of(n, n, rank, 1);
  const std::vector<double> along = matrix_of(n, n, n, 2);
  std::vector<double> found(n * n);
  cofactors_along(n, a, along, found);
  const double step = 1e-4;
  std::vector<double> before(n * n);
  std::vector<double> behind(n * n);
  std::vector<double> moved = a;
  for (std::size_t i = 0; i < n * n; ++i) {
    moved[i] = a[i] - step * along[i];
  }
  cofactors(n, moved, before);
  for (std::size_t i = 0; i < n * n; ++i) {
    moved[i] = a[i] + step * along[i];
  }
  cofactors(n, moved, behind);
  for (std::size_t i = 0; i < n * n; ++i) {
    CHECK(found[i] == Approx((behind[i] - before[i]) / (2 * step)).epsilon(1e-5).margin(1e-5));
  }
}

}  // namespace mtf
