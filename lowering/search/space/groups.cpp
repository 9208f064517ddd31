#include "lowering/search/space/groups.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "ir/layout/layout.h"

namespace mtf {
namespace {

constexpr std::size_t kMostGroups = 24;

struct Param {
  Shape shape;
  std::size_t number = 0;  // in the order of paths
};
using Params = std::map<std::string, Param>;  // by path

// Globs that may name the path with others.
std::vector<std::string> globs_for(std::string_view path) {
  std::vector<std::string> globs = {std::string(path), without_numbers(path)};
  const std::size_t last = path.rfind('/');
  if (last != std::string_view::npos) {
    globs.push_back("*" + without_numbers(path.substr(last)));
  }
  for (std::size_t end = path.find('/'); end != std::string_view::npos;
       end = path.find('/', end + 1)) {
    globs.emplace_back(path.substr(0, end));
    globs.push_back(without_numbers(path.substr(0, end)));
  }
  return globs;
}

// All of them begin as the glob does before its first `*`: a glob for each variable alone is not to
// look at all the others.
std::vector<std::string> named(const Params& params, const std::string& glob) {
  const VariableRules block{.glob = glob, .rules = {}, .span = {}};
  const std::string beginning = glob.substr(0, glob.find('*'));
  std::vector<std::string> paths;
  for (auto param = params.lower_bound(beginning);
       param != params.end() && param->first.starts_with(beginning); ++param) {
    if (block.names(param->first)) {
      paths.push_back(param->first);
    }
  }
  return paths;
}

Params params_of(std::span<const Program> programs) {
  Params params;
  for (const Program& program : programs) {
    for (const Input& input : program.inputs) {
      if (input.kind == InputKind::kParam) {
        params.emplace(input.name, Param{.shape = program.at(input.value).type.shape});
      }
    }
  }
  std::size_t number = 0;
  for (auto& [path, param] : params) {
    param.number = number++;
  }
  return params;
}

struct NamedLets {
  double bytes = 0;
  std::map<std::string, Shape> shapes;  // by path
};

// What lies where a layout says: not what a product takes in, and no single number.
std::map<std::string, NamedLets> lets_of(std::span<const Program> programs) {
  std::map<std::string, NamedLets> named;  // by glob
  for (const Program& program : programs) {
    for (const Let& let : program.lets) {
      const Value& value = program.at(let.value);
      if (!value.backward && value.type.shape.rank() > 0) {
        NamedLets& same = named[without_numbers(let.path)];
        same.shapes.emplace(let.path, value.type.shape);
        same.bytes += static_cast<double>(value.type.bytes());
      }
    }
  }
  return named;
}

}  // namespace

std::string without_numbers(std::string_view path) {
  std::string glob;
  for (const char c : path) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      glob += c;
    } else if (glob.empty() || glob.back() != '*') {
      glob += '*';
    }
  }
  return glob;
}

std::vector<VariableGroup> variable_groups(std::span<const Program> programs) {
  const Params params = params_of(programs);
  std::set<std::string> globs;
  for (const auto& [path, param] : params) {
    std::ranges::copy(globs_for(path), std::inserter(globs, globs.end()));
  }
  std::map<std::vector<std::string>, std::string> shortest;  // by what they name
  for (const std::string& glob : globs) {
    const auto [found, is_new] = shortest.emplace(named(params, glob), glob);
    if (glob.size() < found->second.size()) {
      found->second = glob;
    }
  }
  std::vector<std::pair<std::vector<std::string>, std::string>> order(shortest.begin(),
                                                                      shortest.end());
  std::ranges::stable_sort(
      order, [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  std::vector<VariableGroup> groups;
  for (const auto& [paths, glob] : order) {
    if (paths.size() == params.size() || groups.size() == kMostGroups) {
      continue;
    }
    groups.push_back({.glob = glob, .members = {}, .shapes = {}, .lets = false});
    for (const std::string& path : paths) {
      const Param& param = params.at(path);
      groups.back().members.push_back(param.number);
      groups.back().shapes.push_back(param.shape);
    }
  }
  return groups;
}

std::vector<VariableGroup> let_groups(std::span<const Program> programs) {
  constexpr double kSmall = 0.01;  // of the largest
  const std::map<std::string, NamedLets> named = lets_of(programs);
  std::vector<std::pair<double, const std::string*>> order;
  double most = 0;
  for (const auto& [glob, lets] : named) {
    order.emplace_back(lets.bytes, &glob);
    most = std::max(most, lets.bytes);
  }
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<VariableGroup> groups;
  std::size_t member = 0;
  for (const auto& [bytes, glob] : order) {
    if (bytes < most * kSmall || groups.size() == kMostGroups) {
      break;
    }
    groups.push_back({.glob = *glob, .members = {}, .shapes = {}, .lets = true});
    for (const auto& [path, shape] : named.at(*glob).shapes) {
      groups.back().members.push_back(member++);
      groups.back().shapes.push_back(shape);
    }
  }
  return groups;
}

}  // namespace mtf
