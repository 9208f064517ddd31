// Random choices, the same for a seed on every machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fuzz {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {  // splitmix64
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  // Less than `end`; 0 if that is 0.
  std::size_t below(std::size_t end) { return end == 0 ? 0 : next() % end; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  // requires: not empty.
  template <typename List>
  const typename List::value_type& of(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace fuzz
