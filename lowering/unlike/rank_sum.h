// A number that every rank has, such as what it receives, and which rank has most of it.
//
// It is a sum of products of counts, as the volume of a slice is a product of the lengths of its
// blocks. A count depends on where the rank is along a few axes, and takes few values. So the axes
// are gone through one by one, and of all places along them those are kept that differ in what is
// to come: how many they are depends on sizes that do not divide, and hardly on the ranks.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "ir/layout/mesh.h"

namespace mtf {

class RankSum {
 public:
  explicit RankSum(const Mesh& mesh) : mesh_(mesh) {}

  // By the place of a rank along each axis.
  using Count = std::function<std::int64_t(const Coordinates&)>;
  struct Factor {
    std::size_t index = 0;

    friend auto operator<=>(Factor, Factor) = default;  // NOLINT(modernize-use-nullptr): clang 14
  };
  // How long the rank's block of a dim is that these axes split. Equal ones are one factor.
  [[nodiscard]] Factor block(std::int64_t size, const Axes& axes);
  // Any other count. requires: it depends on nothing but these axes.
  [[nodiscard]] Factor count(const Axes& axes, Count of);

  void add(std::int64_t scale, std::vector<Factor> product);

  // What the rank at a place has.
  [[nodiscard]] std::int64_t at(const Coordinates& place) const;

  struct Most {
    std::int64_t amount = 0;
    std::int64_t rank = 0;  // the first of those that have as much
  };
  // nullopt: more than `places` would have to be told apart.
  [[nodiscard]] std::optional<Most> most(std::size_t places) const;

 private:
  friend class RankSearch;

  // Of a dim of `size`, or whatever `of` says.
  struct Known {
    std::int64_t size = 0;
    Axes axes;
    Count of;

    [[nodiscard]] std::int64_t value(const Mesh& mesh, const Coordinates& at) const {
      return of != nullptr ? of(at) : mesh.part_of(size, axes, at).extent;
    }
  };
  struct Product {
    std::int64_t scale = 1;
    std::vector<Factor> factors;
  };

  const Mesh& mesh_;
  std::vector<Known> factors_;
  std::vector<Product> products_;
  std::map<std::vector<Factor>, std::size_t> places_;  // of products
};

}  // namespace mtf
