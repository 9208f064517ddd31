// Options that exclude each other, and the words of `--mesh` and `--rules`, which a file may stand
// in for.

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "frontend/driver/command_line/tables.h"
#include "frontend/elaborate/layouts/mesh_text.h"

namespace mtf {
namespace {

// What is about one number of ranks; "" for none.
std::string about_one(const SearchOptions& asked) {
  return asked.fit                    ? "--fit"
         : asked.write                ? "--write"
         : !asked.explain.empty()     ? "--explain"
         : !asked.sensitivity.empty() ? "--sensitivity"
                                      : "";
}

std::string misuse_of_search(const SearchOptions& asked, bool has_sizes) {
  const bool scales = !asked.scale.empty();
  if (asked.ranks.size() > 1 && !scales && !asked.fit) {
    return "several numbers of `--ranks` are for `--scale` and `--fit`";
  }
  if (asked.axes > 0 && asked.ranks.empty() && !scales && !asked.fit) {
    return "`--axes` is for the meshes that `--ranks`, `--fit` and `--scale` make";
  }
  if (has_sizes && !asked.ranks.empty() && !scales && !asked.fit) {
    return "`--mesh` says the sizes of axes, and `--ranks` searches them; it is one of the two";
  }
  if (const std::string other = about_one(asked); scales && !other.empty()) {
    return "`--scale` shows a layout for each number of ranks; `" + other +
           "` is about one of them: `--ranks N " + other + "`";
  }
  return asked.sensitivity.empty() || asked.objective == "time"
             ? ""
             : "`--sensitivity` is about time; `--objective " + asked.objective +
                   "` does not depend on the hardware";
}

// "": nothing is wrong with them.
std::string malformed(const Options& options) {
  std::string mesh = host::mesh_problem(options.mesh);
  return mesh.empty() ? host::rules_problem(options.rules) : mesh;
}

}  // namespace

std::string file_taken_as(const Options& options) {
  const std::array<std::pair<std::string_view, const std::string*>, 3> taken = {
      {{"--layout", &options.layout}, {"--mesh", &options.mesh}, {"--rules", &options.rules}}};
  for (const auto& [option, value] : taken) {
    if (value->ends_with(".mtf")) {
      return "`" + *value + "` is what `" + std::string(option) + "` takes; ";
    }
  }
  return "";
}

std::string misuse_of(const Options& options) {
  if (options.trace.empty() && options.steps_end != Options().steps_end) {
    return "`--steps` says what a trace has; `--trace FILE` writes one";
  }
  if (options.files.size() > 1 && std::ranges::count(options.files, "-") > 0) {
    return "standard input is formatted by itself, and files by another `mtf fmt`";
  }
  if (options.fast && options.exact) {
    return "`--exact` and `--fast` exclude each other";
  }
  if (!options.layout.empty() && options.layout != "rules" && !options.rules.empty()) {
    return "`--rules` make a layout of their own, and `--layout` names another; it is one of the "
           "two";
  }
  if (std::string problem = malformed(options); !problem.empty()) {
    return problem;
  }
  return misuse_of_search(options.search, !options.mesh.empty());
}

}  // namespace mtf
