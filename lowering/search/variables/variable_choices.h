// Rules of single variables, and of what `let`s named, by globs, where they make the answer of a
// search better.

#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "lowering/search/search.h"
#include "lowering/search/variables/integer_program.h"

namespace mtf {

class VariableChoices {
 public:
  // Nothing is planned once the pricer's work is `most`.
  VariableChoices(const SearchSpace& space, Pricer& pricer, SearchGoal goal, std::int64_t most)
      : space_(space), pricer_(pricer), goal_(goal), most_(most) {}

  // The answer with such rules, if they pay.
  [[nodiscard]] LayoutCandidate improve(const LayoutCandidate& answer);
  // Whether one layout is so much better than the other that it is worth a rule.
  [[nodiscard]] static bool pays(const Priced& other, const Priced& now, const SearchGoal& goal);

 private:
  // One axis of one group on other dims than now.
  struct Change {
    std::size_t group = 0;
    std::size_t axis = 0;
    DimSet dims = 0;
    double value = 0;  // what that alone adds to the objective
    double bytes = 0;  // … to the peak of the memory
  };

  [[nodiscard]] std::vector<Change> all_changes(const LayoutCandidate& from) const;
  [[nodiscard]] std::vector<Change> priced_changes(const LayoutCandidate& from);
  [[nodiscard]] IntegerProgram program(const LayoutCandidate& from,
                                       const std::vector<Change>& changes) const;
  [[nodiscard]] static LayoutCandidate changed(LayoutCandidate from,
                                               const std::vector<Change>& changes,
                                               const std::vector<std::size_t>& taken);
  // Sets of changes of which one is taken at most.
  [[nodiscard]] std::set<std::vector<std::size_t>> rivals(const std::vector<Change>& changes) const;
  // Those to take, within so many bytes more than now; where none are, those that take least.
  [[nodiscard]] std::vector<std::size_t> taken(const LayoutCandidate& from,
                                               const std::vector<Change>& changes,
                                               double bytes) const;
  [[nodiscard]] LayoutCandidate best_together(const LayoutCandidate& from);
  [[nodiscard]] LayoutCandidate best_one_by_one(LayoutCandidate from);
  [[nodiscard]] LayoutCandidate improved(LayoutCandidate from);
  [[nodiscard]] std::vector<LayoutCandidate> starts(const LayoutCandidate& answer) const;
  [[nodiscard]] bool may_plan(const LayoutCandidate& candidate) const;

  const SearchSpace& space_;
  Pricer& pricer_;
  SearchGoal goal_;
  std::int64_t most_;
};

}  // namespace mtf
