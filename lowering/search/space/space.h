// What layouts there are of a program: which dims may be split, over which axes of which meshes,
// and what excludes what.
//
// One choice per dim name and axis, not one per tensor: two dims that stand in one tensor cannot
// share an axis, so the sets of dims that may are few, however large the model is.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/program.h"
#include "lowering/search/space/ruled_tensors.h"

namespace mtf {

// Dims of a space, by bit.
using DimSet = std::uint64_t;
inline constexpr std::size_t kMaxSearchedDims = 63;
// Of the variables: where the rules put the axis. (No set of dims has all bits.)
inline constexpr DimSet kAsRules = ~DimSet{0};

[[nodiscard]] constexpr bool has(DimSet set, std::size_t dim) {
  return (set >> dim & 1U) != 0;
}
[[nodiscard]] constexpr DimSet only(std::size_t dim) {
  return DimSet{1} << dim;
}

// What the variables of a group do other than all others, or the tensors that `let`s named.
struct GroupAxes {
  std::size_t group = 0;     // of SearchSpace::groups()
  std::vector<DimSet> axes;  // per axis, the dims that it splits, or kAsRules: as of all others

  friend bool operator==(const GroupAxes&, const GroupAxes&) = default;
  friend bool operator<(const GroupAxes& a, const GroupAxes& b) {
    return std::tie(a.group, a.axes) < std::tie(b.group, b.axes);
  }
};

// One layout of the space.
struct LayoutCandidate {
  std::size_t mesh = 0;           // of SearchSpace::meshes()
  std::vector<Axes> rules;        // per dim, major first
  std::vector<DimSet> variables;  // per axis, which dims of the variables it splits, or kAsRules
  DimSet rest = 0;                // the dims with a `*`
  // Of these, those whose rules go first, in order; the others follow by number.
  std::vector<std::size_t> rest_first = {};
  bool again = false;  // `gather = again`
  std::int64_t stream = 1;
  bool recompute = true;               // as the program's blocks say
  bool infer = false;                  // dims that no rule names follow
  DimSet whole = 0;                    // … but for these
  std::vector<GroupAxes> groups = {};  // by number, each once

  friend bool operator==(const LayoutCandidate&, const LayoutCandidate&) = default;
  friend bool operator<(const LayoutCandidate& a, const LayoutCandidate& b);
};

// Which of the dims with a `*` takes axes before which: less goes first.
[[nodiscard]] std::size_t rest_turn(const LayoutCandidate& candidate, std::size_t dim);
// The candidate with a `*` on these dims, and on no others.
[[nodiscard]] LayoutCandidate with_rest(LayoutCandidate candidate, DimSet rest);
// requires: these are all dims with a `*`. The candidate with their rules in this order.
[[nodiscard]] LayoutCandidate with_rest_order(LayoutCandidate candidate,
                                              std::vector<std::size_t> order);
[[nodiscard]] std::vector<std::size_t> rest_order(const LayoutCandidate& candidate);
// All dims, in the order of their rules.
[[nodiscard]] std::vector<std::size_t> rule_order(const LayoutCandidate& candidate);

// What a person leaves open.
struct SpaceLimits {
  Layout fixed;                    // its rules stay; its mesh is one of `meshes`
  std::vector<Mesh> meshes;        // of axes with the same names in the same order
  std::vector<std::string> whole;  // dims that are not to be split
  bool variables = true;           // whether variables may have rules of their own
  bool rest = true;                // … dims a `*`
  bool passes = true;              // … `gather` and `stream` may be set
  bool recompute = true;           // … what blocks compute again may be kept
  bool lets = true;                // … what `let`s named may have rules of their own
  // Of each mesh, how many ranks are on one machine. Empty: no axis is taken to be like another, as
  // where what is asked of plans names axes.
  std::vector<std::int64_t> near_ranks = {};
  // … dims that no rule names may follow; nullopt: where the program lays tensors out itself.
  std::optional<bool> infer = std::nullopt;
  // What is computed beside the entries, under the same layout: it has to be legal for them, too.
  std::vector<RuledTensor> beside = {};
};

class SearchSpace {
 public:
  // `programs`: the entries, simplified; they share one layout.
  SearchSpace(std::span<const Program> programs, SpaceLimits limits);

  [[nodiscard]] const SpaceLimits& limits() const { return limits_; }
  [[nodiscard]] std::span<const Mesh> meshes() const { return limits_.meshes; }
  [[nodiscard]] const std::vector<std::string>& dims() const { return dims_; }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view dim) const;
  [[nodiscard]] std::size_t axes() const { return limits_.fixed.mesh.axes.size(); }
  // Whether no dim may be split, and some could be if blocks might be uneven.
  [[nodiscard]] bool is_indivisible() const { return is_indivisible_; }

  // Nothing but what is fixed.
  [[nodiscard]] LayoutCandidate unsplit(std::size_t mesh) const;
  // What comes before every decision on dims: that, on each mesh, as the program's blocks recompute
  // and, where that may vary, keeping all.
  [[nodiscard]] std::vector<LayoutCandidate> beginnings() const;
  [[nodiscard]] Layout layout_of(const LayoutCandidate& candidate) const;

  // Whether axes are so many that a dim is not tried over all of their orders.
  [[nodiscard]] bool leaves_out_orders() const;
  // All that a dim may be split over on a mesh: no axis, one, several in order.
  [[nodiscard]] const std::vector<Axes>& choices(std::size_t mesh, std::size_t dim) const {
    return choices_[mesh][dim];
  }
  // Whether a person has said where the dim is.
  [[nodiscard]] bool is_fixed(std::size_t dim) const { return is_fixed_[dim] != 0; }
  // The dims that cannot have an axis that this one has.
  [[nodiscard]] DimSet apart(std::size_t dim) const { return apart_[dim]; }
  // … this axis, where variables have it as the candidate says.
  [[nodiscard]] DimSet apart(std::size_t dim, const LayoutCandidate& candidate, AxisId axis) const {
    return apart_[dim] |
           (candidate.variables[axis] == kAsRules ? apart_in_variables_[dim] : DimSet{0});
  }
  // Sets of dims that an axis may split together, of whatever is computed, and of variables.
  [[nodiscard]] std::vector<DimSet> sets(std::size_t mesh, AxisId axis) const;
  [[nodiscard]] std::vector<DimSet> variable_sets(std::size_t mesh, AxisId axis) const;

  // Whether the rules exclude each other, as far as the names of dims tell.
  [[nodiscard]] bool is_consistent(const LayoutCandidate& candidate) const;
  // Variables that may have rules of their own, by a glob: the larger groups first; then so what
  // `let`s named.
  struct Group {
    std::string glob;
    DimSet dims = 0;                   // of all of them
    std::vector<std::size_t> members;  // of all params, or lets
    std::vector<DimSet> shapes;        // of each
    bool lets = false;
  };
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }

  // The candidate with two dims in each other's place.
  [[nodiscard]] static LayoutCandidate exchange(LayoutCandidate candidate, std::size_t a,
                                                std::size_t b);
  // One for all candidates that differ by exchanges of such dims, or of axes that are alike, which
  // cost the same.
  [[nodiscard]] LayoutCandidate canonical(const LayoutCandidate& candidate) const;

  // Of a mesh, the axes that may take each other's place.
  [[nodiscard]] std::span<const Axes> axis_classes(std::size_t mesh) const {
    return axis_classes_[mesh];
  }
  // Whether rules name axes that are alike in the order of the mesh. What begins otherwise is some
  // other one with such axes exchanged.
  [[nodiscard]] bool begins_in_order(const LayoutCandidate& candidate) const;
  // Whether it is so of the candidate, and of what exchanges such axes, as far as that may cost
  // something else; and of how many that is asked at most.
  using Judged = std::function<bool(const LayoutCandidate&)>;
  [[nodiscard]] bool all_exchanged(const LayoutCandidate& candidate, const Judged& judged) const;
  [[nodiscard]] std::int64_t exchanges(const LayoutCandidate& candidate) const;

  // Whether the candidate says more than the rules of dims.
  [[nodiscard]] bool may_vary_variables() const { return limits_.variables && has_variables_; }
  // Whether dims that no rule names may follow.
  [[nodiscard]] bool may_infer() const { return may_infer_; }
  // Whether others that were asked for may let dims follow: not all of them are looked at.
  [[nodiscard]] bool leaves_infer() const { return leaves_infer_; }
  // Whether it may keep what blocks compute again.
  [[nodiscard]] bool may_vary_recompute() const { return may_vary_recompute_; }

 private:
  using Sizes = std::map<std::string, std::vector<std::int64_t>>;  // by dim, all that it has

  void find_dims(std::span<const Program> programs, const Sizes& sizes);
  [[nodiscard]] bool has_rule(const std::string& dim) const;
  [[nodiscard]] bool may_be_split(const std::string& dim,
                                  const std::vector<std::int64_t>& sizes) const;
  void add_sizes_beside(Sizes& sizes) const;
  void keep_apart(const RuledTensor& tensor);
  [[nodiscard]] bool is_split_twice_by_fixed(const Shape& shape) const;
  void keep_apart_beside();
  void find_choices();
  [[nodiscard]] std::vector<DimSet> independent(const std::vector<DimSet>& apart, std::size_t mesh,
                                                AxisId axis) const;
  [[nodiscard]] DimSet set_of(const Shape& shape) const;
  [[nodiscard]] static Axes axes_under(const Axes& ruled, const std::vector<DimSet>& own,
                                       std::size_t dim);
  [[nodiscard]] static bool splits_twice(const std::vector<DimSet>& shapes, DimSet dims);
  [[nodiscard]] static Axes variable_axes(const LayoutCandidate& candidate, std::size_t dim);
  [[nodiscard]] Axes axes_of_others(const LayoutCandidate& candidate, const GroupAxes& own,
                                    std::size_t dim) const;
  [[nodiscard]] Axes group_axes(const LayoutCandidate& candidate, const GroupAxes& own,
                                std::size_t dim) const;
  void add_rules(const LayoutCandidate& candidate, Layout& layout) const;
  [[nodiscard]] VariableRules params_of(const LayoutCandidate& candidate,
                                        const Layout& layout) const;
  [[nodiscard]] VariableRules block_of(const LayoutCandidate& candidate,
                                       const GroupAxes& own) const;
  [[nodiscard]] bool fits(const LayoutCandidate& candidate, const GroupAxes& own) const;
  void find_groups(std::span<const Program> programs);
  [[nodiscard]] bool excludes_alike(std::size_t a, std::size_t b) const;
  void find_equal_dims(std::span<const Program> programs);
  void find_axis_classes(std::span<const Program> programs);
  [[nodiscard]] static Axes by_appearance(const LayoutCandidate& candidate, const Axes& axes);
  [[nodiscard]] LayoutCandidate with_axes_in_order(const LayoutCandidate& candidate) const;
  [[nodiscard]] static bool differs_by_axes(const LayoutCandidate& candidate);
  [[nodiscard]] bool splits_all(const Mesh& mesh, std::size_t dim, const Axes& axes) const;
  [[nodiscard]] bool shares_well(const LayoutCandidate& candidate, AxisId axis) const;

  SpaceLimits limits_;
  std::vector<std::string> dims_;
  std::vector<std::vector<std::int64_t>> sizes_;         // per dim, all that it has somewhere
  std::vector<char> is_fixed_;                           // per dim
  std::vector<DimSet> apart_;                            // per dim
  std::vector<DimSet> apart_in_variables_;               // per dim
  std::vector<DimSet> variable_dims_;                    // of each shape of a variable
  std::vector<std::vector<std::vector<Axes>>> choices_;  // per mesh and dim
  std::vector<Group> groups_;
  std::vector<std::pair<std::size_t, std::size_t>> equal_;
  std::vector<std::vector<Axes>> axis_classes_;  // per mesh
  bool has_variables_ = false;
  bool may_vary_recompute_ = false;
  bool is_indivisible_ = false;
  bool may_infer_ = false;
  bool leaves_infer_ = false;
};

// Those of more than one rank.
[[nodiscard]] Axes splitting_axes(const Mesh& mesh);

// All meshes of so many ranks with these axes, in the order of the sizes; an axis may have size 1.
[[nodiscard]] std::vector<Mesh> meshes_of(const Mesh& like, std::int64_t ranks);

}  // namespace mtf
