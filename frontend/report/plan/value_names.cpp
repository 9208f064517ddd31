// Names are made unique here, because a program may bind one name in several calls. All of it in
// one pass over the values: a program of a thousand layers binds each of its names a thousand
// times.

#include "frontend/report/plan/value_names.h"

#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace mtf {
namespace {

// How many variables and arguments end in "/part", by part.
std::unordered_map<std::string, int> count_endings(const SpmdProgram& program) {
  std::unordered_set<std::string_view> seen;
  std::unordered_map<std::string, int> count;
  for (const Input& input : program.source.inputs) {
    if (!seen.insert(input.name).second) {
      continue;
    }
    for (std::size_t at = input.name.find('/'); at != std::string::npos;
         at = input.name.find('/', at + 1)) {
      ++count[input.name.substr(at + 1)];
    }
  }
  return count;
}

// The last parts of a variable's path, as few as tell it apart from all other names: `w` of
// `two_layer/w`, and `q/w` where there is a `k/w` too.
std::string short_path(const std::string& path, const std::unordered_map<std::string, int>& endings,
                       const std::unordered_set<std::string>& taken) {
  for (std::size_t at = path.rfind('/'); at != std::string::npos && at > 0;
       at = path.rfind('/', at - 1)) {
    std::string part = path.substr(at + 1);
    const auto found = endings.find(part);
    const bool shared = found != endings.end() && found->second > 1;
    if (!shared && !taken.contains(part)) {
      return part;
    }
  }
  return path;
}

// The source values of which a nameless form is complete.
std::vector<char> complete_origins(const SpmdProgram& program) {
  std::vector<char> complete(program.source.values.size(), 0);
  for (const SpmdValue& value : program.values) {
    if (value.name.empty() && value.layout.partial.empty() && value.origin.valid()) {
      complete[static_cast<std::size_t>(value.origin.index)] = 1;
    }
  }
  return complete;
}

// The user's name, or the number of the value; "%9.part" for a partial sum that becomes %9,
// "%9.blocks" for sums of blocks, "%9.digest" for what ranks tell of their parts.
std::string base_name(const SpmdProgram& program, SpmdId id, const std::vector<char>& complete) {
  const SpmdValue& value = program.at(id);
  if (!value.name.empty()) {
    return value.name;
  }
  const std::string number = "%" + std::to_string(value.origin.index) +
                             (is_digest(program, id)          ? ".digest"
                              : is_sum_of_blocks(program, id) ? ".blocks"
                                                              : "");
  const bool becomes_one = !value.layout.partial.empty() && value.origin.valid() &&
                           complete[static_cast<std::size_t>(value.origin.index)] != 0;
  return becomes_one ? number + ".part" : number;
}

}  // namespace

ValueNames::ValueNames(const SpmdProgram& program) : names_(program.values.size()) {
  std::unordered_set<std::string> used;
  for (const SpmdValue& value : program.values) {
    used.insert(value.name);
  }
  const std::unordered_map<std::string, int> endings = count_endings(program);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.source.inputs[i].is_variable()) {
      names_[static_cast<std::size_t>(program.inputs[i].index)] =
          short_path(program.source.inputs[i].name, endings, used);
    }
  }
  used = {names_.begin(), names_.end()};
  const std::vector<char> complete = complete_origins(program);
  std::unordered_map<std::string, int> copies;  // how often a name was wanted
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    if (!names_[i].empty()) {
      continue;
    }
    const std::string name = base_name(program, {static_cast<std::int32_t>(i)}, complete);
    std::string candidate = name;
    int& copy = copies.try_emplace(name, 1).first->second;
    while (!used.insert(candidate).second) {
      candidate = name + "." + std::to_string(++copy);
    }
    names_[i] = std::move(candidate);
  }
}

}  // namespace mtf
