// Things by the step at which something happens to them, in lists that lie behind each other.

#pragma once

#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

namespace mtf {

// First all are counted, then all are added.
template <typename T>
class ByStep {
 public:
  explicit ByStep(std::size_t steps) : begin_(steps + 1, 0) {}

  void count(std::size_t step) { ++begin_[step + 1]; }
  void start() {
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    things_.resize(begin_.back());
    next_.assign(begin_.begin(), std::prev(begin_.end()));
  }
  void add(std::size_t step, T thing) { things_[next_[step]++] = thing; }

  [[nodiscard]] std::span<const T> at(std::size_t step) const {
    return std::span(things_).subspan(begin_[step], begin_[step + 1] - begin_[step]);
  }
  // Step by step.
  [[nodiscard]] std::span<const T> all() const { return things_; }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::size_t> next_;
  std::vector<T> things_;
};

}  // namespace mtf
