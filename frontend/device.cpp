#include "frontend/device.h"

#include "ir/layout/glob.h"

namespace mtf {

bool RestoreRequest::names(std::string_view variable) const {
  return globs.empty() || std::ranges::any_of(globs, [&](const std::string& glob) {
           return matches_path(glob, variable);
         });
}

std::string RestoreRequest::in_file(const std::string& variable) const {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (auto renamed = renamed_path(variable, globs[i], sources[i])) {
      return *std::move(renamed);
    }
  }
  return variable;
}

std::vector<std::string> RestoreRequest::takers_of(const std::string& tensor) const {
  std::vector<std::string> takers;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::optional<std::string> taker = renamed_path(tensor, sources[i], globs[i]);
    if (taker && in_file(*taker) == tensor) {  // no earlier glob names it
      takers.push_back(*std::move(taker));
    }
  }
  if (sources.empty() && names(tensor)) {
    takers.push_back(tensor);
  }
  return takers;
}

}  // namespace mtf
