// Why no gradient of a loss gets to what it was asked by.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/builder.h"

namespace mtf::host {

// Where the gradient ends on its way.
struct FlowEnd {
  std::string text;         // "`x`, whose …"
  std::vector<Note> notes;  // where that is
};

// Nullopt: the loss does not depend on any of the targets. `whom`: what these are called.
[[nodiscard]] std::optional<FlowEnd> end_of_flow(const Builder& builder, ValueId loss,
                                                 std::span<const ValueId> targets,
                                                 const std::string& whom);

}  // namespace mtf::host
