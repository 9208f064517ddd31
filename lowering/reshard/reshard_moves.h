// The steps that a search for the cheapest reshard goes through.
//
// Where each dim only loses axes at its minor end, or only takes some on, one exchange between the
// ranks along the lost axes does it, and nobody receives what it has: an all-gather, an all-to-all,
// or both and a slice in one. Dims that change axes for others need a permute, or two exchanges.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowering/reshard/reshard.h"

namespace mtf {

// Calls `use` with one choice of each list, all combinations, the first of each first.
template <typename Choice, typename Use>
void for_each_pick(const std::vector<std::vector<Choice>>& choices, const Use& use) {
  std::vector<std::size_t> pick(choices.size(), 0);
  std::vector<Choice> picked;
  picked.reserve(choices.size());
  for (const std::vector<Choice>& list : choices) {
    picked.push_back(list.front());
  }
  std::size_t d = 0;
  while (d < choices.size()) {
    if (d == 0) {
      use(picked);
    }
    const bool more = ++pick[d] < choices[d].size();
    pick[d] = more ? pick[d] : 0;
    picked[d] = choices[d][pick[d]];
    d = more ? 0 : d + 1;
  }
}

// Whether the axis splits some dim.
[[nodiscard]] bool splits_by(const ValueLayout& layout, AxisId axis);

// Of the longest slice.
[[nodiscard]] std::int64_t local_elements(const Shape& shape, const Mesh& mesh,
                                          const std::vector<Axes>& dims);

// The axes that an exchange is along, if one takes `from` to `to`; none: it is a slice. Both are
// held by all ranks, and no sum is partial.
[[nodiscard]] std::optional<Axes> lost_in_one_step(const ValueLayout& from, const ValueLayout& to);

// Whether the axes of some dim are no beginning of the other's.
[[nodiscard]] bool any_dim_turns(const ValueLayout& from, const ValueLayout& to);

// The axes along which ranks may have other slices of one of them, as mesh order has them.
[[nodiscard]] Axes used_axes(const Mesh& mesh, const ValueLayout& from, const ValueLayout& to);
// All others but those of size 1: ranks along them repeat the same steps.
[[nodiscard]] Axes idle_axes(const Mesh& mesh, const ValueLayout& from, const ValueLayout& to);

class MoveMaker {
 public:
  // `idle`: axes that neither layout names, to use on the way. requires: the target's spelling is
  // the normal one (holders.h).
  MoveMaker(const Shape& shape, const Mesh& mesh, const ValueLayout& start,
            const ValueLayout& target, Axes idle);

  // All steps from a layout, in its normal spelling, that may lead to the target cheaply.
  [[nodiscard]] std::vector<Move> from(const ValueLayout& at) const;

 private:
  using Dims = std::vector<Axes>;
  // Axes, as a set.
  using AxisSet = std::uint32_t;
  // How many slices a dim has in a permute, and how many of the target's axes it begins with.
  struct Choice {
    std::int64_t ways = 1;
    std::size_t length = 0;
  };
  // The two sides of a permute.
  struct Turn {
    Dims sliced;
    Dims to;
  };

  void exchanges(const ValueLayout& at, std::vector<Move>& moves) const;
  void exchange(const ValueLayout& at, const std::vector<std::size_t>& keep,
                std::vector<Move>& moves) const;
  void slices(const ValueLayout& at, std::span<const Turn> found, std::vector<Move>& moves) const;
  void slices_to_turn(const ValueLayout& at, std::span<const Turn> found,
                      std::vector<Move>& moves) const;
  void slices_along_one(const ValueLayout& at, std::vector<Move>& moves) const;
  [[nodiscard]] std::vector<Choice> choices(std::size_t dim, const Axes& has_axes) const;
  [[nodiscard]] std::vector<Turn> turns(const Dims& from) const;
  void park(Move move, std::size_t dim, const Axes& axes, std::vector<Move>& moves) const;
  void park_apart(const Move& landed, const std::vector<char>& closed,
                  std::vector<Move>& moves) const;
  void permutes(const ValueLayout& at, std::span<const Turn> found, std::vector<Move>& moves) const;
  void finishes(const ValueLayout& at, std::vector<Move>& moves) const;
  void scatters(const ValueLayout& rest, const Axes& run, std::vector<Move>& moves) const;
  void park_idle(const Move& move, std::vector<Move>& moves) const;
  void reduces(const ValueLayout& at, std::vector<Move>& moves) const;
  void drops(const ValueLayout& at, std::vector<Move>& moves) const;
  void broadcasts(const ValueLayout& at, std::vector<Move>& moves) const;

  [[nodiscard]] bool divides(std::size_t dim, const Axes& present, std::int64_t ways) const;
  [[nodiscard]] static AxisSet used(const ValueLayout& layout);
  static void land(ValueLayout& layout, const Dims& wanted, const std::vector<char>& closed);
  [[nodiscard]] std::vector<Axes> runs(const Axes& partial) const;
  [[nodiscard]] bool fill(const Dims& first, std::vector<std::int64_t>& ways, std::size_t dim,
                          AxisSet pool, Dims& to) const;
  [[nodiscard]] bool fill_behind(const std::vector<Choice>& picked, const Dims& from, AxisSet pool,
                                 Dims& to) const;
  [[nodiscard]] bool same_blocks(const Dims& a, const Dims& b) const;

  const Shape& shape_;
  const Mesh& mesh_;
  const ValueLayout& target_;
  bool is_small_ = false;        // few axes: every step that may pay is tried
  std::vector<Dims> spellings_;  // of the target, on its diagonals
  Axes wanted_;                  // by the target, or on the way to it
  Axes idle_;                    // by nobody: only there
};

}  // namespace mtf
