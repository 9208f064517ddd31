// A search as `mtf search` and `layout … auto` ask for it, and what there is to say of its answer.

#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "frontend/driver/search/searched_program.h"
#include "frontend/report/search/search_report.h"
#include "lowering/search/search.h"

namespace mtf {

// By all that is expected of an entry: what the first clause that does not hold says.
[[nodiscard]] Refusal refusal(const SearchedProgram& program, std::size_t entry,
                              const SpmdProgram& plan);

class Searching {
 public:
  // `budget`: seconds of a common machine. `changed`: what the hardware is taken to be.
  Searching(Workspace& workspace, SearchedProgram& program, double budget,
            const std::function<Hardware(Hardware)>& changed = {});

  // What another search over the same dims found, on a mesh of the same axes, is looked at, too.
  void take_hints(const Searching& other);
  // nullopt after an error: no layout at all is legal.
  [[nodiscard]] std::optional<LayoutCandidate> find(DiagSink& diags);
  // requires, of these: something was found.
  [[nodiscard]] SearchReport report();
  [[nodiscard]] std::string summary();  // "47.9 us predicted, proven"
  // What the answer would be like with a rule, "batch->rows", and why it is not there; nullopt
  // after an error.
  [[nodiscard]] std::optional<ExplainedRule> explained(std::string_view rule, DiagSink& diags);
  // Before anything is searched: false after an error, where there is no such rule on any mesh.
  [[nodiscard]] bool can_explain(std::string_view rule, DiagSink& diags) const;
  [[nodiscard]] Priced whole() { return pricer_.price_whole(answer_); }
  [[nodiscard]] FoundLayout found() { return found(answer_); }
  [[nodiscard]] SearchProof proof() { return proof(whole()); }
  // Bytes that a rank has at least, whatever the layout, by the roles of dims alone.
  [[nodiscard]] double least_memory() { return roles_.least_memory(); }
  [[nodiscard]] const LayoutCandidate& candidate() const { return answer_; }
  [[nodiscard]] Layout answer() const { return space_.layout_of(answer_); }
  // The answer in as few rules as give the same figures, where others may follow from them.
  [[nodiscard]] Layout shortest();
  [[nodiscard]] const SearchSpace& space() const { return space_; }
  [[nodiscard]] const SearchGoal& goal() const { return goal_; }
  [[nodiscard]] Pricer& pricer() { return pricer_; }

 private:
  [[nodiscard]] FoundLayout found(const LayoutCandidate& candidate);
  // Of a dim: its axes, and whether a `*` follows.
  struct Place {
    Axes axes;
    bool rest = false;
  };
  struct NamedRule {
    std::size_t dim = 0;
    Place place;
  };
  [[nodiscard]] std::optional<NamedRule> rule_named(std::string_view rule, const Mesh& mesh,
                                                    DiagSink& diags) const;
  [[nodiscard]] static std::optional<Place> place_named(std::string_view text, const Mesh& mesh,
                                                        DiagSink& diags);
  [[nodiscard]] std::string not_open(const std::string& dim, const Mesh& mesh) const;
  [[nodiscard]] std::vector<std::string> other_meshes() const;
  [[nodiscard]] std::vector<const Priced*> some_of_front() const;
  void add_front(SearchReport& report);
  void add_dims(SearchReport& report);
  void finish(LayoutSearch& search);
  [[nodiscard]] LayoutCandidate better_of(const LayoutCandidate& now, const LayoutCandidate& other);
  // Why no layout is legal, by the one that comes nearest to what is expected.
  [[nodiscard]] Diag nothing_found();
  [[nodiscard]] std::optional<Diag> obstacle_to(const LayoutCandidate& candidate);
  // By the plans of whole programs, of which layers that are priced by a few may be a little off:
  // whether another one is better than the answer, which it takes the place of.
  [[nodiscard]] bool improve();
  void take_better(std::int64_t most);
  // Those that say no more than that and would be better, or fit where the answer does not, if the
  // plan of the whole took as little memory as it may, whatever few layers say.
  [[nodiscard]] std::vector<LayoutCandidate> open(Reaches reaches);
  // Plans them: until then they stand in the way of a proof.
  void close();
  // Of the candidates known that are such, the likeliest to be good by the plans of the whole.
  using IsSuch = std::function<bool(const Priced&)>;
  [[nodiscard]] std::vector<LayoutCandidate> likeliest(const IsSuch& is_such, std::size_t most);
  // By the plans of the whole, as far as there is work: the best of them, or the answer as it is.
  void take_best_of(const std::vector<LayoutCandidate>& candidates);
  [[nodiscard]] bool is_only_one() const;
  [[nodiscard]] bool leaves_infer() const;
  [[nodiscard]] SearchProof proof(const Priced& whole);
  // The answer with a dim elsewhere; where that takes an axis from others, they go without.
  [[nodiscard]] LayoutCandidate moved(std::size_t dim, const Axes& axes) const;
  using Elsewhere = std::pair<RoleBound::Least, LayoutCandidate>;
  [[nodiscard]] std::vector<Elsewhere> elsewhere(std::size_t dim);
  [[nodiscard]] bool may_beat(const RoleBound::Least& least, const Priced& other) const;
  // Of what is left to plan, not more than there is work for, but one.
  [[nodiscard]] const Priced* runner_up(std::size_t dim);
  // Of a dim that has no other place: what an `expect` says of the one that comes nearest; "" if
  // none is in the way.
  [[nodiscard]] std::string refusal_elsewhere(std::size_t dim);
  [[nodiscard]] const Priced* whole_runner_up(std::size_t dim);
  void take_runners_up();
  void add_moved(SearchReport& report);
  [[nodiscard]] std::string place_text(const LayoutCandidate& candidate, std::size_t dim) const;

  Workspace& workspace_;
  SearchedProgram& program_;
  SearchSpace space_;
  Pricer pricer_;
  Roles roles_;
  SearchGoal goal_;
  std::int64_t all_work_ = 0;  // of the search and of what comes behind it
  SearchResult result_;
  std::vector<LayoutCandidate> hints_;
  LayoutCandidate answer_;
  double useful_flops_ = 0;
};

}  // namespace mtf
