// What one way to split the loops moves: operands to it, and the result from it.

#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lowering/partition/split/split.h"

namespace mtf {

// The layouts that an operand may be read from: those that it is in, or if there are none without a
// sum to finish, that in which it rests.
[[nodiscard]] std::vector<const ValueLayout*> forms_of(const SplitProblem& problem,
                                                       std::size_t operand);

class SplitPricer {
 public:
  SplitPricer(const SplitProblem& problem, Resharder& resharder, const Mesh& mesh)
      : problem_(problem), resharder_(resharder), mesh_(mesh) {}

  // nullopt: slices of some tensor would not be boxes, or it is sure to be more than `most` bytes.
  [[nodiscard]] std::optional<LoopSplit> priced(const std::vector<Axes>& loops, double most);

  // Of one rank's part of the space.
  [[nodiscard]] double volume_of(const std::vector<Axes>& loops) const;
  // At least these bytes are received, by what the layouts alone say; nullopt as above.
  [[nodiscard]] std::optional<double> least_bytes(const std::vector<Axes>& loops) const;

 private:
  std::optional<LoopSplit> priced(std::vector<Axes> loops, std::span<const Condition> where,
                                  double most);
  [[nodiscard]] bool is_had(std::size_t operand, const ValueLayout& needed,
                            std::span<const ValueLayout> before) const;
  void add_operand(std::size_t operand, const ValueLayout& needed, LoopSplit& split);
  bool price_result(const std::vector<Axes>& loops, std::span<const Condition> where, double most,
                    LoopSplit& split);
  [[nodiscard]] std::int64_t bytes_served(const ValueLayout& result) const;
  [[nodiscard]] std::int64_t least_to_operand(std::size_t operand, const ValueLayout& needed) const;
  [[nodiscard]] std::int64_t least_to_finish(const std::vector<Axes>& loops,
                                             const ValueLayout& result) const;
  std::pair<std::int64_t, std::int64_t> finishing(const std::vector<Axes>& loops,
                                                  const ValueLayout& result);

  const SplitProblem& problem_;
  Resharder& resharder_;
  const Mesh& mesh_;
};

}  // namespace mtf
