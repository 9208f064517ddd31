// Which rank has most of a sum, axis by axis.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lowering/unlike/block_cuts.h"
#include "lowering/unlike/rank_sum.h"

namespace mtf {

class RankSearch {
 public:
  explicit RankSearch(const RankSum& sum);

  std::optional<RankSum::Most> run(std::size_t places);

 private:
  // What is known of ranks by their places along the axes that were gone through: what is left of
  // blocks, the products so far, and those places that a count is yet to ask for. Ranks of equal
  // states have equal futures.
  using State = std::vector<std::int64_t>;
  struct HashOfState {
    std::size_t operator()(const State& state) const;
  };
  // Of those in a state, the first that have most.
  struct Leader {
    std::int64_t amount = 0;
    Coordinates at = {};

    [[nodiscard]] bool is_before(const Leader& other) const {
      return amount != other.amount ? amount > other.amount : at < other.at;
    }
  };
  using Leaders = std::unordered_map<State, Leader, HashOfState>;

  // Places that agree in all counts that depend on this axis alone, in order.
  using Kind = std::vector<std::int64_t>;
  struct Cut {
    std::size_t factor = 0;
    BlockCut how;
  };
  struct AxisWork {
    AxisId axis = 0;
    std::vector<Cut> cuts;
    std::vector<std::size_t> counts;    // are known behind it
    std::vector<std::size_t> products;  // are complete behind it
    Axes closed;                        // places along these are not asked for any more
    bool kept = false;                  // its place is asked for later
    bool told_apart = false;            // by a count of several axes
    std::vector<Kind> kinds;
  };

  [[nodiscard]] std::size_t step_of(AxisId axis) const;
  [[nodiscard]] std::size_t last_step(const Axes& axes) const;
  [[nodiscard]] std::int64_t value(std::size_t factor, const Coordinates& at) const {
    return sum_.factors_[factor].value(mesh_, at);
  }
  void add_block(std::size_t factor);
  void add_count(std::size_t factor);
  void add_product(std::size_t product);
  void close_places(std::size_t step);
  void find_kinds(AxisWork& work);

  [[nodiscard]] std::vector<std::int64_t> unlike_places(const AxisWork& work,
                                                        const State& state) const;
  void go_on(const AxisWork& work, const State& state, const Leader& leader, std::int64_t place,
             Leaders& next);
  void shorten(const Cut& cut, const State& state, std::int64_t place);
  void multiply(std::size_t factor, std::int64_t by);

  const RankSum& sum_;
  const Mesh& mesh_;
  Axes order_;
  std::vector<AxisWork> axes_;                     // in that order
  std::array<std::size_t, kMaxAxes> closed_ = {};  // of each axis, the step that last asks for it
  std::vector<std::vector<std::size_t>> uses_;     // of each factor, by products
  // A state is the lengths of blocks, then the products, then a place for each axis of the mesh.
  State begin_;
  std::size_t products_at_ = 0;
  std::size_t places_at_ = 0;
  std::int64_t constant_ = 0;  // of what depends on no axis
  State next_state_;
};

}  // namespace mtf
