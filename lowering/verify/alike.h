// Slices and calls that are alike in all that decides whether they are right, as those of a model's
// layers are: then what holds for the first of them holds for all.

#pragma once

#include <span>
#include <vector>

#include "lowering/known/content_key.h"
#include "lowering/known/numbered.h"
#include "lowering/spmd.h"

namespace mtf {

class Alike {
 public:
  // `program`: that all slices and calls are of; it is not changed meanwhile.
  explicit Alike(const SpmdProgram& program) : program_(program), slices_(program.values.size()) {}

  // Whether the slice, by its types and layout, is the first of its kind.
  [[nodiscard]] bool is_new(SpmdId slice);
  // Whether the call is, by its operation, its loops and its slices, which have been asked for.
  // `combine`: per operand, how what is partial is joined.
  [[nodiscard]] bool is_new(const LocalCall& call, std::span<const Combine> combine);
  // Whether the step, which moves a slice that has been asked for into another one, is the first of
  // its kind, by what it counts as well. requires: it is no sort.
  [[nodiscard]] bool is_new(const Step& step);

 private:
  const SpmdProgram& program_;
  std::vector<Number> slices_;  // per slice, the number of its kind
  NumberedLists kinds_of_slices_;
  NumberedLists kinds_of_calls_;
  NumberedLists kinds_of_steps_;
  ContentKey key_;  // of what is asked for
};

}  // namespace mtf
