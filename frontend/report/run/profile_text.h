// A profile as people and as tools read it.

#pragma once

#include <string>

#include "frontend/report/run/profile.h"
#include "ir/support/source.h"

namespace mtf {

[[nodiscard]] std::string profile_text(const Profile& profile, const SourceMap& sources);
// One line.
[[nodiscard]] std::string profile_json(const Profile& profile, const SourceMap& sources);

}  // namespace mtf
