// Files of the user that a killed `mtf verify` could not put back.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontend/driver/originals/original.h"

namespace mtf {

struct LeftFolder {
  std::string path;
  bool is_listed = true;          // else nobody knows whose files it has
  std::vector<Original> changed;  // those that are still as a run left them
};

// This user's, of processes that have ended.
[[nodiscard]] std::vector<LeftFolder> left_originals();
// Whether one of the folders has what was there before.
[[nodiscard]] bool is_left(std::span<const LeftFolder> folders, const std::string& full_path);
// Puts all of the folder back, and removes it where all went well. What stands in their places
// stays as FILE~. One sentence for each.
[[nodiscard]] std::vector<std::string> put_back(const LeftFolder& folder);

}  // namespace mtf
