// What is alike in a program: the values that layers repeat, and how they are joined.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/program.h"
#include "lowering/known/numbered.h"

namespace mtf {

// Kinds of values, of a program and of what is cut out of it: alike are values that do the same
// with values that are alike, two steps back, whatever number a layer has in their names.
//
// Minor values, so small beside the largest one that they cost nothing to speak of (the losses of
// layers, added up one after the other), are alike if they do the same, whatever they do it with.
class LayerKinds {
 public:
  explicit LayerKinds(const Program& whole);

  [[nodiscard]] std::vector<Number> of(const Program& program);
  // By what they do, whatever they do it with.
  [[nodiscard]] std::vector<Number> alone(const Program& program);

  // How many values there are of each kind that are read alike; and which of its kind each operand
  // is: from one reader to the next of that kind it is so many further on.
  struct Pattern {
    std::map<Number, std::int64_t> counts;
    std::map<std::array<Number, 3>, std::int64_t> steps;  // by reader, place and operand
  };
  static constexpr std::int64_t kUneven = std::int64_t{1} << 40U;
  [[nodiscard]] Pattern pattern(const Program& program);

 private:
  [[nodiscard]] bool is_minor(const Value& value) const;
  void count(const Program& program, const std::vector<Number>& kinds, Pattern& pattern);
  void add_steps(const Program& program, const std::vector<Number>& kinds, Pattern& pattern) const;

  NumberedTexts numbers_;
  std::int64_t largest_ = 0;  // bytes of a value
};

// Whether the whole is `more`, and the difference between the two so many times again.
[[nodiscard]] bool repeats(const LayerKinds::Pattern& whole, const LayerKinds::Pattern& more,
                           const LayerKinds::Pattern& fewer, std::int64_t further);

}  // namespace mtf
