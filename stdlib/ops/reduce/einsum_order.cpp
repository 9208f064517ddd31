#include "stdlib/ops/reduce/einsum_order.h"

#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>

namespace mtf::ops {
namespace {

constexpr std::size_t kMostTensors = 10;  // of which all orders are compared
constexpr std::size_t kMostDims = 64;

// An element that is written and read again takes as long as so many multiplications.
constexpr double kElement = 4;

using Set = std::uint64_t;  // of tensors, or of dims

Set only(std::size_t i) {
  return Set{1} << i;
}

class Orders {
 public:
  Orders(std::span<const Shape> shapes, const Shape& to) {
    for (const Shape& shape : shapes) {
      tensors_.push_back(numbered(shape));
    }
    kept_ = numbered(to);
  }

  // Whether there are few enough tensors and dims.
  [[nodiscard]] bool are_few() const {
    return tensors_.size() <= kMostTensors && sizes_.size() <= kMostDims;
  }

  ProductOrder cheapest() {
    const Set all = only(tensors_.size()) - 1;
    best_.resize(all + 1);
    for (Set set = 1; set <= all; ++set) {
      if (std::popcount(set) > 1) {
        best_[set] = best_of(set);
      }
    }
    ProductOrder pairs;
    if (best_[all].cost < cost_from_left()) {
      add_pairs(all, pairs);
      return pairs;
    }
    return written_order(tensors_.size());
  }

 private:
  struct Best {
    double cost = 0;
    Set left = 0;  // the first of two sets
  };

  Set numbered(const Shape& shape) {
    Set dims = 0;
    for (const Dim& dim : shape.dims()) {
      const auto [at, is_new] = numbers_.try_emplace(dim.name, sizes_.size());
      if (is_new) {
        sizes_.push_back(static_cast<double>(dim.size));
      }
      dims |= at->second < kMostDims ? only(at->second) : 0;
    }
    return dims;
  }

  [[nodiscard]] double volume(Set dims) const {
    double volume = 1;
    for (; dims != 0; dims &= dims - 1) {
      volume *= sizes_[static_cast<std::size_t>(std::countr_zero(dims))];
    }
    return volume;
  }

  // The dims of the tensors' product, summed over what nobody else has.
  [[nodiscard]] Set dims_of(Set tensors) const {
    Set inside = 0;
    Set outside = kept_;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      ((tensors & only(i)) != 0 ? inside : outside) |= tensors_[i];
    }
    return inside & outside;
  }

  [[nodiscard]] double cost_of(Set left, Set right) const {
    return volume(dims_of(left) | dims_of(right)) + kElement * volume(dims_of(left | right));
  }

  [[nodiscard]] Best best_of(Set tensors) const {
    const Set first = tensors & -tensors;
    Best best = {.cost = std::numeric_limits<double>::infinity(), .left = first};
    for (Set left = (tensors - 1) & tensors; left != 0; left = (left - 1) & tensors) {
      const Set right = tensors & ~left;
      const double cost = best_[left].cost + best_[right].cost + cost_of(left, right);
      if ((left & first) != 0 && cost < best.cost) {
        best = {.cost = cost, .left = left};
      }
    }
    return best;
  }

  [[nodiscard]] double cost_from_left() const {
    double cost = 0;
    for (std::size_t i = 1; i < tensors_.size(); ++i) {
      cost += cost_of(only(i) - 1, only(i));
    }
    return cost;
  }

  // Returns the number of the tensors' product.
  std::size_t add_pairs(Set tensors, ProductOrder& pairs) const {
    if (std::has_single_bit(tensors)) {
      return static_cast<std::size_t>(std::countr_zero(tensors));
    }
    const Set left = best_[tensors].left;
    const std::size_t first = add_pairs(left, pairs);
    const std::size_t second = add_pairs(tensors & ~left, pairs);
    pairs.emplace_back(first, second);
    return tensors_.size() + pairs.size() - 1;
  }

  std::map<std::string, std::size_t, std::less<>> numbers_;  // of dims
  std::vector<double> sizes_;
  std::vector<Set> tensors_;
  Set kept_ = 0;
  std::vector<Best> best_;
};

}  // namespace

ProductOrder cheapest_order(std::span<const Shape> shapes, const Shape& to) {
  Orders orders(shapes, to);
  return shapes.size() > 2 && orders.are_few() ? orders.cheapest() : written_order(shapes.size());
}

ProductOrder written_order(std::size_t tensors) {
  ProductOrder pairs;
  for (std::size_t i = 1; i < tensors; ++i) {
    pairs.emplace_back(i == 1 ? 0 : tensors + i - 2, i);
  }
  return pairs;
}

}  // namespace mtf::ops
