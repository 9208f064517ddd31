// Layouts: where the slices of a value are.
//
// `Layout` is what a person declares: rules from dim names to mesh axes (Mesh-TensorFlow,
// section 4). `ValueLayout` is what one value has: an ordered list of axes per dim, and the axes
// over which it is still a pending sum. Within one value an axis appears at most once.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/mesh.h"
#include "ir/shape.h"
#include "ir/support/diag.h"

namespace mtf {

struct Rule {
  std::string dim;
  Axes axes;  // major first
  SourceSpan span;
};

struct Layout {
  std::string name;
  Mesh mesh;
  std::vector<Rule> rules;
  SourceSpan span;

  [[nodiscard]] const Rule* rule_for(std::string_view dim) const;  // null: replicated
};

struct ValueLayout {
  std::vector<Axes> dims;  // as many as the shape has dims
  Axes partial;            // the value is the sum of the ranks' slices over these axes

  [[nodiscard]] bool is_replicated() const;
  [[nodiscard]] bool uses(AxisId axis) const;
  friend bool operator==(const ValueLayout&, const ValueLayout&) = default;
};

[[nodiscard]] ValueLayout replicated(const Shape& shape);

// One rank's part of a tensor, as a box of global indices.
struct Slice {
  std::vector<std::int64_t> offset;
  std::vector<std::int64_t> extent;
};

[[nodiscard]] Shape local_shape(const Shape& shape, const ValueLayout& layout, const Mesh& mesh);
[[nodiscard]] Slice slice_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh,
                             std::int64_t rank);

// The layout that the rules give a tensor, or nullopt after an error in the user's terms: an axis
// that would split two dims (kLayoutConflict), a size that the axes do not divide (kIndivisible,
// with the nearest sizes that work). `what` names the tensor: "`h`" or "the result of `einsum`".
[[nodiscard]] std::optional<ValueLayout> layout_by_rules(const Shape& shape, const Layout& layout,
                                                         SourceSpan span, std::string_view what,
                                                         DiagSink& diags);

// The same where the rules may give way: an axis that is taken, or does not divide, is left out.
[[nodiscard]] ValueLayout layout_that_fits(const Shape& shape, const Layout& layout);

// "[batch: rows, hidden: cols] partial(x)"
[[nodiscard]] std::string to_string(const Shape& shape, const ValueLayout& layout,
                                    const Mesh& mesh);
[[nodiscard]] std::string to_string(const Rule& rule, const Mesh& mesh);  // "batch -> (x, y)"

}  // namespace mtf
