// Which values a program holds at times at which it holds much, its inputs left out, in its order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace mtf {

// From when to when values are held in the program's order, where variables are updated as soon as
// their gradients are there. A time is the number of a value.
class Lives {
 public:
  explicit Lives(const Program& program);

  // Whether it is computed element by element for nothing but new values of variables.
  [[nodiscard]] bool is_update(std::size_t i) const { return is_update_[i] != 0; }
  // Whether it has memory of its own.
  [[nodiscard]] bool takes_memory(std::size_t i) const;
  // Per time the bytes, unsplit.
  [[nodiscard]] std::vector<std::int64_t> held() const;
  [[nodiscard]] std::vector<ValueId> held_at(std::size_t time) const;

 private:
  void find_updates();

  const Program& program_;
  std::vector<char> is_update_;
  std::vector<std::size_t> begin_;  // per value
  std::vector<std::size_t> end_;    // when it is last read
};

// So many parts of a program are looked at, so that what is found is not all of one place.
inline constexpr std::size_t kPartsOfProgram = 8;
[[nodiscard]] inline std::pair<std::ptrdiff_t, std::ptrdiff_t> part_of_program(std::size_t part,
                                                                               std::size_t size) {
  return {static_cast<std::ptrdiff_t>(part * size / kPartsOfProgram),
          static_cast<std::ptrdiff_t>((part + 1) * size / kPartsOfProgram)};
}

// What is held when most is, of each part.
[[nodiscard]] std::vector<std::vector<ValueId>> held_values(const Program& program);

}  // namespace mtf
