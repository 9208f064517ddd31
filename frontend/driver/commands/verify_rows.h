// What `mtf verify` found of each layout, as text and as JSON.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/driver/commands/compare.h"

namespace mtf {

struct VerifyRow {
  std::string layout;
  std::string refused;  // why there is nothing to compare; empty: there is
  std::optional<Difference> apart;
  bool is_promised = true;           // equal bits
  bool ok = true;                    // else the command fails
  std::vector<std::string> endings;  // of the promise
};

[[nodiscard]] std::string verify_text(std::span<const VerifyRow> rows, bool fast);
[[nodiscard]] std::string verify_json(std::span<const VerifyRow> rows);

}  // namespace mtf
