// Why a step is there, in the user's dims, axes and rules.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/support/source.h"
#include "lowering/partition/stages.h"
#include "lowering/spmd.h"

namespace mtf {

// "hidden is summed and split over cols", of one of the step's reasons.
[[nodiscard]] std::string to_text(const SpmdProgram& program, const Step& step,
                                  const Reason& reason);
// "`hidden -> cols`", "`infer`, from `h` through `relu`"; "" for none.
[[nodiscard]] std::string to_text(const SpmdProgram& program, const Cause& cause);

// The call of the step that a reason is about.
[[nodiscard]] const LocalCall& call_meant(const Step& step, const Reason& reason);

// The reasons of the steps of a plan, which stays as it is meanwhile. A move whose own reasons name
// no rule is led back to one hop by hop.
class Reasons {
 public:
  explicit Reasons(const SpmdProgram& program);

  // "hidden is summed and split over cols by `hidden -> cols` (two_layer.mtf:18)"
  [[nodiscard]] std::string of(std::size_t step, const SourceMap& sources) const;
  // The rules behind a reason of a step, which together split over all of its axes.
  [[nodiscard]] std::vector<Cause> causes(std::size_t step, std::size_t reason) const;

 private:
  const SpmdProgram& program_;
  std::map<std::size_t, std::vector<Cause>> led_back_;  // of the first reason of a step
};

// "batch and length": the dims around a sum of which there is one for each block.
[[nodiscard]] std::string outer_dims(const CarriedSum& carried);
// "that sum is inside the one over batch, of which a rank has 8 blocks"
[[nodiscard]] std::string carried_text(const CarriedSum& carried);
// What moves one sum instead: "length before batch in the operands, or --fast"
[[nodiscard]] std::string way_out(const SpmdProgram& program, const Step& step,
                                  const CarriedSum& carried);

// "batch over x, ff over y"; "nothing".
[[nodiscard]] std::string loops_text(const SpmdProgram& program, const IterationSpace& space,
                                     const std::vector<Axes>& loops);
// Of a split that moves no more than the chosen one's bytes, what it takes more of: ", with twice
// the arithmetic"; else "".
[[nodiscard]] std::string besides_text(const SpmdProgram& program, const PricedLoops& other,
                                       std::int64_t chosen);

}  // namespace mtf
