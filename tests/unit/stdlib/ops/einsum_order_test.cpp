// The order in which the tensors of an einsum are multiplied.

#include "stdlib/ops/reduce/einsum_order.h"

#include <algorithm>
#include <random>

#include <catch2/catch.hpp>

namespace mtf::ops {
namespace {

Shape matrix(std::int64_t rows, std::int64_t cols, const std::string& row, const std::string& col) {
  return Shape({{row, rows}, {col, cols}});
}

std::vector<Shape> chain(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  return {matrix(a, b, "a", "b"), matrix(b, c, "b", "c"), matrix(c, d, "c", "d")};
}

double volume(const Shape& shape) {
  double volume = 1;
  for (const Dim& dim : shape.dims()) {
    volume *= static_cast<double>(dim.size);
  }
  return volume;
}

// Multiplications, and four for each element between them, of products one after the other.
double cost_of(std::vector<Shape> values, const Shape& to, const ProductOrder& order) {
  double cost = 0;
  std::vector<bool> live(values.size(), true);
  for (const auto& [x, y] : order) {
    REQUIRE((live[x] && live[y] && x != y));
    live[x] = live[y] = false;
    std::vector<Dim> all(values[x].dims().begin(), values[x].dims().end());
    std::ranges::copy_if(values[y].dims(), std::back_inserter(all),
                         [&](const Dim& dim) { return !values[x].has(dim.name); });
    std::vector<Dim> kept;
    std::ranges::copy_if(all, std::back_inserter(kept), [&](const Dim& dim) {
      bool needed = to.has(dim.name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        needed = needed || (live[i] && values[i].has(dim.name));
      }
      return needed;
    });
    cost += volume(Shape(all)) + 4 * volume(Shape(kept));
    values.emplace_back(kept);
    live.push_back(true);
  }
  CHECK(std::ranges::count(live, true) == 1);
  return cost;
}

// The least that any order of pairs takes.
double least_cost(const std::vector<Shape>& shapes, const Shape& to) {
  double least = std::numeric_limits<double>::infinity();
  const auto extend = [&](const auto& self, const std::vector<std::size_t>& live,
                          const ProductOrder& order) -> void {
    if (live.size() == 1) {
      least = std::min(least, cost_of(shapes, to, order));
      return;
    }
    for (std::size_t i = 0; i < live.size(); ++i) {
      for (std::size_t j = i + 1; j < live.size(); ++j) {
        std::vector<std::size_t> left = live;
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(j));
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
        left.push_back(shapes.size() + order.size());
        ProductOrder next = order;
        next.emplace_back(live[i], live[j]);
        self(self, left, next);
      }
    }
  };
  std::vector<std::size_t> all(shapes.size());
  std::ranges::generate(all, [n = std::size_t{0}]() mutable { return n++; });
  extend(extend, all, {});
  return least;
}

}  // namespace

TEST_CASE("a chain of matrices is multiplied where it is narrow first") {
  const Shape ends({{"a", 10}, {"d", 50}});
  CHECK(cheapest_order(chain(10, 100, 5, 50), ends) == ProductOrder{{0, 1}, {3, 2}});
  const Shape others({{"a", 50}, {"d", 10}});
  CHECK(cheapest_order(chain(50, 5, 100, 10), others) == ProductOrder{{1, 2}, {0, 3}});
}

TEST_CASE("of equal orders tensors are multiplied from left to right") {
  const Shape ends({{"a", 8}, {"d", 8}});
  CHECK(cheapest_order(chain(8, 8, 8, 8), ends) == written_order(3));
  CHECK(written_order(4) == ProductOrder{{0, 1}, {4, 2}, {5, 3}});
  CHECK(written_order(1).empty());
  CHECK(cheapest_order(std::vector<Shape>(2, Shape({{"a", 3}})), Shape()) == ProductOrder{{0, 1}});
}

TEST_CASE("of more tensors than are compared, all are multiplied from left to right") {
  std::vector<Shape> many(12, Shape({{"a", 100}, {"b", 100}}));
  many.emplace_back(std::vector<Dim>{{"a", 100}});
  CHECK(cheapest_order(many, Shape({{"b", 100}})) == written_order(13));
}

TEST_CASE("no order takes less than the one chosen") {
  std::mt19937 random(3);
  const auto pick = [&random](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 60; ++round) {
    std::vector<Dim> dims;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      dims.push_back({name, pick(1, 40)});
    }
    const auto some = [&] {
      std::vector<Dim> chosen;
      std::ranges::copy_if(dims, std::back_inserter(chosen),
                           [&](const Dim&) { return pick(0, 2) == 0; });
      return Shape(std::move(chosen));
    };
    std::vector<Shape> shapes(static_cast<std::size_t>(pick(3, 5)));
    std::ranges::generate(shapes, some);
    const Shape to = some();
    for (Shape& shape : shapes) {
      const auto is_own = [&](const Dim& dim) {
        return !to.has(dim.name) && std::ranges::count_if(shapes, [&](const Shape& other) {
                                      return other.has(dim.name);
                                    }) == 1;
      };
      std::vector<Dim> shared(shape.dims().begin(), shape.dims().end());
      std::erase_if(shared, is_own);
      shape = Shape(std::move(shared));
    }
    CHECK(cost_of(shapes, to, cheapest_order(shapes, to)) == least_cost(shapes, to));
  }
}

}  // namespace mtf::ops
