// The search for the layout that costs least (mtf search, `layout … auto`).
//
// First a local search from several starts, then branch and bound over all candidates by
// `RoleBound`: what it leaves is no better than the answer. All of it is deterministic: work is
// counted in values lowered and in what was looked at for them, not in seconds, and goes in rounds,
// each of which ends where it does however many follow. So more work never comes to less.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowering/search/pricer.h"
#include "lowering/search/roles/roles.h"

namespace mtf {

struct SearchGoal {
  Objective objective = Objective::kTime;
  double memory = 0;               // bytes that a rank may hold; 0: any number
  std::int64_t work = 20'000'000;  // values to lower at most, or guesses of the same time
};

// Less is better: what does not fit the memory stands behind all that does.
struct Merit {
  bool is_legal = false;
  double excess = 0;  // bytes beyond the memory
  double value = 0;   // of the objective
  double second = 0;  // seconds, or of `time` the memory: what decides between equals
  // … and behind it: what is written in fewer axes, the first ones of the mesh, and fewer rules.
  Axes axes = {};
  std::int64_t rules = 0;

  [[nodiscard]] bool fits() const { return is_legal && excess == 0; }
  friend bool operator<(const Merit& a, const Merit& b);
};
[[nodiscard]] Merit merit_of(const Priced& priced, const SearchGoal& goal);
[[nodiscard]] double value_of(const Priced& priced, Objective objective);

struct SearchResult {
  const Priced* best = nullptr;  // null: none that is legal. It may need more than the memory.
  double bound = 0;              // of the objective: no candidate has less
  bool is_proven = false;        // all others are left out
  // … of those that say no more than this, if any.
  std::optional<Reaches> proven = {};
  std::int64_t bounded = 0;  // partial candidates that the bound was asked of
};

class LayoutSearch {
 public:
  // `told`: asked now and then, with the work so far.
  using Told = std::function<void(std::int64_t work)>;

  LayoutSearch(const SearchSpace& space, Pricer& pricer, Roles& roles, SearchGoal goal,
               Told told = {});

  // Rounds of twice the work, until there is no more or all is proven.
  [[nodiscard]] SearchResult run();
  // The next one; false: there is none. What others plan in between is not counted.
  [[nodiscard]] bool next_round();
  [[nodiscard]] const SearchResult& result() const { return result_; }
  // So much of the work that the last round ends with it.
  [[nodiscard]] static std::int64_t in_whole_rounds(std::int64_t work);
  // All that was done so far, or may be.
  [[nodiscard]] std::int64_t done() const { return std::min(round_, goal_.work); }
  // One that costs no more than this, and says no more than it has to, as far as so much work in
  // all shows it.
  [[nodiscard]] LayoutCandidate simplest(const Priced& priced, std::int64_t most);

 private:
  // Values that are lowered in the time of one.
  static constexpr std::int64_t kWorkOfGuess = 2;
  static constexpr std::int64_t kFirstRound = 21'000;

  struct Rng {
    std::uint64_t state;
    std::size_t below(std::size_t n);
  };

  // Whether what it gathers had better pass in pieces, perhaps.
  [[nodiscard]] bool may_stream(const Priced& priced) const;
  const Priced* consider(const LayoutCandidate& candidate);
  const Priced& priced(const LayoutCandidate& candidate);
  [[nodiscard]] bool is_settled() const;
  [[nodiscard]] bool is_better(const Priced& a, const Priced* b) const;
  [[nodiscard]] bool is_over(std::int64_t share) const {
    return work() >= std::min(share, goal_.work);
  }
  [[nodiscard]] std::int64_t work() const {
    return pricer_.work() - others_ + guessed_ * kWorkOfGuess;
  }

  // ---- local search ----
  void start_locally(std::int64_t share);
  void start_by_price(std::int64_t share);
  // What is better than this, one change away; null: nothing.
  const Priced* step(const Priced& from, std::int64_t share, std::size_t most);
  const Priced* descend(const LayoutCandidate& from, std::int64_t share, std::size_t most);
  void descend_from_best(std::vector<const Priced*> begun, std::int64_t share);
  const Priced* lighter(const Priced& start, double reached);
  // Bytes beyond the memory, then the value: less is better. By the estimate of roles; by their
  // bound, which nothing gets below; and by a plan.
  using Guess = std::pair<double, double>;
  [[nodiscard]] Guess guess(const LayoutCandidate& candidate);
  [[nodiscard]] LayoutCandidate descend_by_guess(LayoutCandidate from, std::int64_t share);
  [[nodiscard]] std::vector<LayoutCandidate> guessed(std::span<const LayoutCandidate> starts,
                                                     std::int64_t share);
  [[nodiscard]] bool is_hopeful(const LayoutCandidate& candidate);
  [[nodiscard]] bool looks_new(const LayoutCandidate& candidate);
  [[nodiscard]] Guess promise(const LayoutCandidate& candidate);
  [[nodiscard]] Guess reached_by(const Priced& priced) const;
  [[nodiscard]] double beyond(double bytes) const {
    return goal_.memory > 0 ? std::max(0.0, bytes - goal_.memory) : 0;
  }
  [[nodiscard]] std::vector<LayoutCandidate> starts(std::size_t mesh) const;
  void add_following(std::vector<const Priced*>& begun);
  void add_starts(std::size_t mesh, AxisId axis, std::vector<LayoutCandidate>& all) const;
  [[nodiscard]] std::size_t most_even_mesh() const;
  [[nodiscard]] std::vector<LayoutCandidate> shorter(const LayoutCandidate& candidate) const;
  [[nodiscard]] std::vector<LayoutCandidate> by_guess(std::vector<LayoutCandidate> candidates);
  void make_consistent(LayoutCandidate& candidate) const;
  [[nodiscard]] std::vector<LayoutCandidate> neighbours(const LayoutCandidate& candidate) const;
  void add_mesh_moves(const LayoutCandidate& candidate, std::vector<LayoutCandidate>& moves) const;
  void add_axis_moves(const LayoutCandidate& candidate, std::vector<LayoutCandidate>& moves) const;
  void add_pass_moves(const Priced& from, std::vector<LayoutCandidate>& moves) const;
  void add_dim_moves(const LayoutCandidate& candidate, std::vector<LayoutCandidate>& moves) const;
  void add_exchanges(const LayoutCandidate& candidate, std::vector<LayoutCandidate>& moves) const;
  void add_rest_moves(const LayoutCandidate& candidate, std::vector<LayoutCandidate>& moves) const;
  void add_infer_moves(const LayoutCandidate& candidate, std::vector<LayoutCandidate>& moves) const;
  [[nodiscard]] LayoutCandidate shaken(LayoutCandidate candidate);
  void shake(std::int64_t share, int most_idle);

  // ---- branch and bound ----
  // Beginnings of candidates, the most promising one first.
  struct Node;
  struct Later;
  using Open = std::vector<Node>;

  bool prove();
  // False: the work that there may be is done.
  bool consider_orders(const LayoutCandidate& candidate);
  bool consider_all(std::vector<LayoutCandidate> left);
  bool branch(Reaches reaches, bool is_all);
  // What bounds may take.
  struct Share {
    std::int64_t least = 0;  // to ask for, however little work there may be
    std::int64_t most = 0;
    std::int64_t looks = 0;
  };
  [[nodiscard]] Share share_of_bounds() const;
  [[nodiscard]] bool is_spent(const Share& share, std::int64_t to_plan) const;
  void add_open(Open& open, Partial partial);
  // kSome: as far as there is a share for it. kNone: all is decided.
  enum class Added : std::uint8_t { kAll, kSome, kNone };
  Added add_choices(Open& open, const Partial& partial, const Share& share);
  [[nodiscard]] std::vector<LayoutCandidate> rule_choices(const Partial& partial) const;
  [[nodiscard]] bool is_closed(double least) const;
  [[nodiscard]] std::vector<LayoutCandidate> choices(const Partial& partial) const;

  const SearchSpace& space_;
  Pricer& pricer_;
  Roles& roles_;
  SearchGoal goal_;
  Told told_;
  std::vector<std::vector<std::vector<DimSet>>> sets_;           // per mesh and axis
  std::vector<std::vector<std::vector<DimSet>>> variable_sets_;  // per mesh and axis
  SearchResult result_;
  std::int64_t nodes_ = 0;
  std::int64_t guessed_ = 0;
  Rng random_{.state = 1};
  std::vector<LayoutCandidate> starts_;  // of the local search, the best one by its guess first
  std::size_t begun_ = 0;                // of these
  std::unordered_map<std::string, LayoutCandidate> looks_;  // where tensors lie, of what was tried
  std::int64_t round_ = 0;                                  // its work, with all before it
  std::int64_t others_ = 0;                                 // of the pricer's, and none of its own
  std::int64_t seen_ = 0;                                   // the pricer's when the round ended
  std::size_t patience_ = 0;  // changes that a descent tries before it gives up
};

// Those that no other beats in both time and memory, the fastest first.
[[nodiscard]] std::vector<const Priced*> pareto_front(const Pricer& pricer);

}  // namespace mtf
