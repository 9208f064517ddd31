// What changes in the plan of an entry from one layout to another: `mtf diff`.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/support/source.h"
#include "lowering/price/cost.h"

namespace mtf {

// A collective of one of the two plans.
struct PlannedCollective {
  StepKind kind{};
  std::vector<std::string> axes;
  std::int64_t elements = 0;
  std::int64_t received = 0;
  std::int64_t bytes = 0;
  std::string value;  // whose it is
  SourceSpan span;    // of what needs it
  std::string why;
};

// One that appears, disappears or is another one; so often, for values alike but for their names.
struct CollectiveChange {
  std::optional<PlannedCollective> before;
  std::optional<PlannedCollective> after;
  std::int64_t count = 1;

  [[nodiscard]] const PlannedCollective& any() const { return after ? *after : *before; }
};

// A variable, where it rests.
struct VariableChange {
  std::string name;
  std::string before;  // "[io, hidden: cols]"
  std::string after;
  std::int64_t bytes_before = 0;  // of one rank's slice
  std::int64_t bytes_after = 0;
};

struct LayoutDiff {
  std::string entry;
  std::shared_ptr<const Cost> before;
  std::shared_ptr<const Cost> after;
  std::vector<CollectiveChange> collectives;
  std::int64_t unchanged = 0;  // collectives that are the same
  std::vector<VariableChange> variables;
};

[[nodiscard]] LayoutDiff diff_of(std::shared_ptr<const Cost> before,
                                 std::shared_ptr<const Cost> after, const SourceMap& sources);

[[nodiscard]] std::string diff_text(const LayoutDiff& diff, const SourceMap& sources);
// Of all entries.
[[nodiscard]] std::string diff_json(const std::vector<LayoutDiff>& diffs, const SourceMap& sources);

}  // namespace mtf
