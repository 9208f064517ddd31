// How texts call the values of a plan.

#pragma once

#include <string>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

// One name per value, each once: the user's, "w.2" where it is taken, "%9" where there is none.
class ValueNames {
 public:
  explicit ValueNames(const SpmdProgram& program);

  [[nodiscard]] const std::string& of(SpmdId id) const {
    return names_[static_cast<std::size_t>(id.index)];
  }

 private:
  std::vector<std::string> names_;
};

}  // namespace mtf
