// What is worked out of a file once and kept among the user's own files, for later runs and for the
// other processes of a machine: whoever comes first makes it, the others wait. What was not asked
// for in thirty days is removed when something is made.

#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace mtf {

struct KeptFile {
  std::string path;
  std::string problem;  // "" or why there is none
};

// Writes what is kept to this place. Returns "" or what went wrong.
using MakeFile = std::function<std::string(const std::string& place)>;

// `how`: all that it depends on but the file, which counts as another one once it was changed.
// `ending`: of its name.
[[nodiscard]] KeptFile kept_file(const std::string& of, std::string_view how,
                                 std::string_view ending, const MakeFile& make);

}  // namespace mtf
