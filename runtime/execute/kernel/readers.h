// Which steps read a value that a step makes.

#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

// The first and the last step that reads a value.
struct Readers {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;
};

// Per value. What is there after the run is read behind the last step.
[[nodiscard]] std::vector<Readers> readers_of(const SpmdProgram& program);

// The only step that reads what step `maker` makes, which is behind that; nullopt: none or several.
[[nodiscard]] inline std::optional<std::size_t> only_reader(const std::vector<Readers>& readers,
                                                            SpmdId id, std::size_t maker) {
  const Readers& of = readers[static_cast<std::size_t>(id.index)];
  return of.first == of.last && of.last > maker ? std::optional(of.last) : std::nullopt;
}

// What a step makes in memory.
[[nodiscard]] std::vector<SpmdId> stored_by(const SpmdProgram& program, std::size_t step);

}  // namespace mtf
