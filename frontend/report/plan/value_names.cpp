// Names are made unique here, because a program may bind one name in several calls. All of it in
// one pass over the values: a program of a thousand layers binds each of its names a thousand
// times.

#include "frontend/report/plan/value_names.h"

#include <array>
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
    if (value.name.empty() && value.layout->partial.empty() && value.origin.valid()) {
      complete[static_cast<std::size_t>(value.origin.index)] = 1;
    }
  }
  return complete;
}

// The numbers of values that have no name: "%9.part" for a partial sum that becomes %9,
// "%9.blocks" for sums of blocks, "%9.digest" for what ranks tell of their parts; "%9.2" where %9
// is taken. No name begins as they do, so they are told apart by what they are made of.
class Numbers {
 public:
  explicit Numbers(const SpmdProgram& program)
      : program_(program),
        complete_(complete_origins(program)),
        copies_(kEndings.size() * (program.source.values.size() + 1), 0) {}

  std::string of(SpmdId id) {
    const SpmdValue& value = program_.at(id);
    const bool is_blocks = is_sum_of_blocks(program_, id);
    const bool becomes_one =
        !value.layout->partial.empty() && value.origin.valid() && complete_[at(value.origin)] != 0;
    const std::size_t ending = (is_blocks && is_digest(program_, id) ? 4
                                : is_blocks                          ? 2
                                                                     : 0) +
                               (becomes_one ? 1 : 0);
    std::string name = "%" + std::to_string(value.origin.index);
    name += kEndings[ending];
    const std::size_t place = static_cast<std::size_t>(value.origin.index) + 1;  // 0: of none
    if (const int copy = ++copies_[kEndings.size() * place + ending]; copy > 1) {
      name += "." + std::to_string(copy);
    }
    return name;
  }

 private:
  static constexpr std::array<std::string_view, 6> kEndings = {
      "", ".part", ".blocks", ".blocks.part", ".digest", ".digest.part"};

  const SpmdProgram& program_;
  std::vector<char> complete_;
  std::vector<int> copies_;  // per value of the source, of each ending
};

}  // namespace

ValueNames::ValueNames(const SpmdProgram& program) : names_(program.values.size()) {
  std::unordered_set<std::string> used;
  for (const SpmdValue& value : program.values) {
    if (!value.name.empty()) {
      used.insert(value.name);
    }
  }
  const std::unordered_map<std::string, int> endings = count_endings(program);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.source.inputs[i].is_variable()) {
      names_[static_cast<std::size_t>(program.inputs[i].index)] =
          short_path(program.source.inputs[i].name, endings, used);
    }
  }
  used = {names_.begin(), names_.end()};
  Numbers numbers(program);
  std::unordered_map<std::string, int> copies;  // how often a name was wanted
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    if (!names_[i].empty()) {
      continue;
    }
    const std::string& name = program.values[i].name;
    if (name.empty()) {
      names_[i] = numbers.of({static_cast<std::int32_t>(i)});
      continue;
    }
    std::string candidate = name;
    int& copy = copies.try_emplace(name, 1).first->second;
    while (!used.insert(candidate).second) {
      candidate = name + "." + std::to_string(++copy);
    }
    names_[i] = std::move(candidate);
  }
}

}  // namespace mtf
