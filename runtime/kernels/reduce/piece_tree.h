// The pieces of a leaf that is longer than kLongestLeaf, in the order of reduce_kernel.h.

#pragma once

#include <cstdint>
#include <vector>

namespace mtf {

// Joins two subtrees of equal size as soon as both are there.
template <typename Op, typename T>
class PieceTree {
 public:
  [[nodiscard]] bool empty() const { return count_ == 0; }

  void add(T piece) {
    for (std::uint64_t whole = count_; whole % 2 == 1; whole /= 2) {
      piece = Op::apply(subtrees_.back(), piece);
      subtrees_.pop_back();
    }
    subtrees_.push_back(piece);
    ++count_;
  }

  // What all pieces come to; requires one.
  [[nodiscard]] T joined() const {
    T result = subtrees_.back();
    for (std::size_t i = subtrees_.size() - 1; i-- > 0;) {
      result = Op::apply(subtrees_[i], result);
    }
    return result;
  }

 private:
  std::vector<T> subtrees_;  // the largest first
  std::uint64_t count_ = 0;
};

}  // namespace mtf
