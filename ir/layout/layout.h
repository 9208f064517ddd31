// Layouts: where the slices of a value are.
//
// `Layout` is what a person declares: rules from dim names to mesh axes (Mesh-TensorFlow,
// section 4). `ValueLayout` is what one value has: an ordered list of axes per dim, and the axes
// over which it is still a partial sum. Within one value an axis appears at most once.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ir/layout/mesh.h"
#include "ir/shape.h"
#include "ir/support/diag.h"

namespace mtf {

// Storage on a part of the mesh: along `axis`, which splits no dim of the tensor, only the ranks at
// one coordinate hold their slices, the others hold nothing. It is the coordinate that they have
// along another axis, which does split a dim (a diagonal, as the 3-D algorithm stores its vectors),
// or a fixed one (Optimus's row 0).
template <typename Axis>
struct ConditionOn {
  Axis axis = {};
  std::optional<Axis> same;
  std::int64_t at = 0;  // where `same` is none

  // NOLINTNEXTLINE(modernize-use-nullptr): clang 14
  friend auto operator<=>(const ConditionOn&, const ConditionOn&) = default;
};

template <typename Axis>
struct RuleOn {
  std::string dim;
  std::conditional_t<std::is_same_v<Axis, AxisId>, Axes, std::vector<Axis>> axes;  // major first
  SourceSpan span;
  bool rest = false;  // `*`: behind them every axis that the tensor leaves unused
  std::vector<ConditionOn<Axis>> where = {};

  // Wherever they are written.
  friend bool operator==(const RuleOn& a, const RuleOn& b) {
    return a.dim == b.dim && a.axes == b.axes && a.rest == b.rest && a.where == b.where;
  }
};

// As they are written, for whatever mesh; and resolved for one.
using NamedCondition = ConditionOn<std::string>;
using NamedRule = RuleOn<std::string>;
using Condition = ConditionOn<AxisId>;
using Rule = RuleOn<AxisId>;

// The layout of one tensor as a person writes it: h @ [batch -> x, ff -> (y, *), ..].
struct Pin {
  std::vector<NamedRule> rules;
  bool open = false;  // `..`: dims that are not named follow the layout
  friend bool operator==(const Pin&, const Pin&) = default;
};

// The conditions `y == z` and `r == 0` as they are written behind a rule for these axes, turned so
// that `same` is the axis that splits the dim; or what is wrong with them.
struct OrientedConditions {
  std::vector<Condition> where;
  std::string problem;  // "" if nothing
};
// requires: the mesh has the axes.
[[nodiscard]] OrientedConditions oriented(const Mesh& mesh, std::string_view dim, const Axes& axes,
                                          std::span<const NamedCondition> written);
// "" or why the mesh, which may be resized, has no such ranks.
[[nodiscard]] std::string problem_of_sizes(std::span<const Condition> where, const Mesh& mesh);
[[nodiscard]] NamedCondition named(const Condition& condition, const Mesh& mesh);
[[nodiscard]] NamedRule named(const Rule& rule, const Mesh& mesh);

// Whether the mesh has all axes that the rule names.
[[nodiscard]] bool names_axes_of(const Mesh& mesh, const NamedRule& rule);
// requires: it has.
[[nodiscard]] Rule resolved(const NamedRule& rule, const Mesh& mesh);

// The rules that go first for some variables: `params { … }`, at "net/w" { … }; or for what `let`s
// named: at let "net/h" { … }.
struct VariableRules {
  std::string glob;  // `*` stands for any text; "" for every variable
  std::vector<Rule> rules;
  SourceSpan span;
  bool lets = false;

  // Whether the glob names the variable of the path, or one that it is part of: a param's optimizer
  // state.
  [[nodiscard]] bool names(std::string_view path) const;
  // Whether it names what a `let` did.
  [[nodiscard]] bool names_let(std::string_view path) const;
};

// `params`, `at "net/w"`, `at let "net/h"`: what stands before the block.
[[nodiscard]] std::string title_of(const VariableRules& block);

struct Layout {
  std::string name;
  Mesh mesh;
  std::vector<Rule> rules;
  SourceSpan span;
  std::vector<VariableRules> variables;  // those that go first are first
  bool infer = false;                    // dims without a rule follow from those with one
  bool automatic = false;                // … are to be searched, and are not yet
  bool gather_again = false;  // what was gathered forward is freed, and gathered again backward
  std::int64_t stream = 1;    // pieces in which a gathered operand passes through a product
  bool recompute = true;      // as the program's `recompute` blocks say; or all is kept

  // The rules for one tensor, and whether those behind `firm` give way to the ones before.
  struct Rules {
    std::vector<const Rule*> list;
    std::size_t firm = 0;
  };
  [[nodiscard]] Rules rules_for(std::string_view variable) const;  // "": no variable
  // These blocks', then the layout's.
  [[nodiscard]] Rules rules_for(std::span<const VariableRules* const> blocks) const;
};

// Blocks of a dim that overlap: a rank has all that its block of another dim, of `size` and split
// over the same axes, reads through windows. Index i of that one reads the indices j for which
// up * j is one of i * stride + offset … + length - 1, as far as there are. A block counts as the
// tiles that it has a part of, from multiples of `tile` on.
struct Reach {
  std::size_t dim = 0;
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t offset = 0;
  std::int64_t length = 1;
  std::int64_t up = 1;
  std::int64_t tile = 1;

  friend auto operator<=>(const Reach&, const Reach&) = default;
};

struct ValueLayout {
  std::vector<Axes> dims;             // as many as the shape has dims
  Axes partial;                       // the value is the sum of the ranks' slices over these axes
  std::vector<Condition> where = {};  // which ranks hold slices; by axis. Empty: all
  std::vector<Reach> reach = {};      // the dims whose blocks overlap, by dim

  [[nodiscard]] bool is_replicated() const;
  // Whether an axis splits a dim, is summed over, or has a condition.
  [[nodiscard]] bool uses(AxisId axis) const;
  friend bool operator==(const ValueLayout&, const ValueLayout&) = default;
};

[[nodiscard]] ValueLayout replicated(const Shape& shape);
// Whether the rank holds a slice.
[[nodiscard]] bool holds(const ValueLayout& layout, const Mesh& mesh, std::int64_t rank);

enum class CauseKind : std::uint8_t {
  kNone,
  kRule,      // of a layout, or of a variable
  kPin,       // an `@`
  kVariable,  // where the variable is kept
  kInferred,  // taken over from a value around it
};

// What put an axis where it is.
struct Cause {
  CauseKind kind = CauseKind::kNone;
  SourceSpan span = {};
  std::string rule = {};      // kRule, kPin: "batch -> x"
  std::int32_t from = -1;     // kInferred: the value of the program that it was taken over from
  std::int32_t through = -1;  // and the one whose operation links them; -1: an update
};

// The layout of a tensor at rest. What computes with it keeps the firm axes split where it can;
// those behind them, of `*`, it gathers where another dim needs them. A tensor that not all ranks
// hold has no firm axes: it goes where it is needed.
struct Target {
  ValueLayout layout;
  std::vector<std::size_t> firm;           // per dim, how many of its axes
  std::vector<std::vector<Cause>> causes;  // per dim and axis

  [[nodiscard]] ValueLayout firm_layout() const;
};

// Many values have the same.
using SharedTarget = std::shared_ptr<const Target>;

[[nodiscard]] Target unsplit(const Shape& shape);

// One rank's part of a tensor, as a box of global indices.
struct Slice {
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> extent;

  [[nodiscard]] Interval along(std::size_t dim) const {
    return {.begin = offset[dim], .extent = extent[dim]};
  }
};

// Of the longest slice; without `uneven` and conditions, of every rank's.
[[nodiscard]] Shape local_shape(const Shape& shape, const ValueLayout& layout, const Mesh& mesh);
// Its extents are 0 where the rank holds nothing.
[[nodiscard]] Slice slice_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh,
                             std::int64_t rank);
// Of the slice at a place, whether or not the rank there holds it, what it is of a dim.
[[nodiscard]] Interval block_at(const Shape& shape, const ValueLayout& layout, const Mesh& mesh,
                                const Coordinates& at, std::size_t dim);
[[nodiscard]] Shape shape_of(const Shape& shape, const Slice& slice);  // the extents, named
[[nodiscard]] Slice intersection(const Slice& a, const Slice& b);      // an extent may be 0
[[nodiscard]] std::int64_t volume_of(const Slice& slice);

// How the layout of a tensor is found, and what is said when there is none.
struct LayoutQuery {
  const Mesh& mesh;
  std::string_view layout;  // its name, for messages
  Layout::Rules rules;
  SourceSpan span;
  std::string_view what;  // "`h`" or "the result of `einsum`"
  bool pinned = false;    // the firm rules are those of an `@`
};

// The layout that the rules give a tensor, or nullopt after an error in the user's terms: an axis
// that would split two dims (kLayoutConflict), a size that the axes do not divide (kIndivisible,
// with the nearest sizes that work). Axes of `*` must divide where another dim is split as well; a
// tensor split along one dim alone takes those that do.
[[nodiscard]] std::optional<Target> layout_by_rules(const Shape& shape, const LayoutQuery& query,
                                                    DiagSink& diags);

// The same where the rules may give way: an axis that is taken, or does not divide, is left out.
[[nodiscard]] Target layout_that_fits(const Shape& shape, const LayoutQuery& query);

// "[batch: rows, hidden: cols] partial(x)"
[[nodiscard]] std::string to_string(const Shape& shape, const ValueLayout& layout,
                                    const Mesh& mesh);
[[nodiscard]] std::string to_string(const Rule& rule, const Mesh& mesh);  // "batch -> (x, y)"
// "where z == y and r == 0"; "" for none.
[[nodiscard]] std::string to_string(std::span<const Condition> where, const Mesh& mesh);

}  // namespace mtf
