// Runs of items that are there several times in a row, with other names.
//
// An item has a key, which says all of it but the names in it. Two runs are alike where their keys
// are the same and the names of one can be exchanged for those of the other one by one. A
// repetition is looked for from each item, at the distances of the next ones with its key.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mtf {

struct Repeat {
  std::size_t length = 0;
  std::int64_t times = 1;
  bool ends_by_names = false;  // there are more items with the keys, of other names

  [[nodiscard]] std::size_t hidden() const { return length * static_cast<std::size_t>(times - 1); }
};

class Repeats {
 public:
  // Names are numbers below the count that is given to `start`.
  void add(std::size_t key, std::span<const std::size_t> names);
  void start(std::size_t names);

  // The repetition from an item on that hides most; of those that hide few, none.
  [[nodiscard]] Repeat at(std::size_t begin, std::size_t end);
  [[nodiscard]] std::span<const std::size_t> names_in(std::size_t item) const {
    return std::span(names_in_).subspan(begin_[item], begin_[item + 1] - begin_[item]);
  }

 private:
  // The name that stands for another in a comparison.
  struct Other {
    std::size_t comparison = 0;
    std::size_t name = 0;
  };

  [[nodiscard]] bool alike(std::size_t first, std::size_t second, std::size_t length);
  [[nodiscard]] Repeat repeat_of(std::size_t begin, std::size_t end, std::size_t length);
  [[nodiscard]] bool exchanges(Other& other, std::size_t name) const;

  std::vector<std::size_t> keys_;
  std::vector<std::size_t> begin_ = {0};  // per item, in `names_in_`
  std::vector<std::size_t> names_in_;
  std::vector<std::size_t> next_;  // the next item with the same key, or behind them all
  std::vector<Other> there_;       // per name
  std::vector<Other> back_;
  std::size_t comparison_ = 0;
};

}  // namespace mtf
