#include "frontend/driver/launch/seen_ranks.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/text/parse_number.h"
#include "runtime/ranks/mpi/processes.h"

namespace mtf {
namespace {

constexpr std::int64_t kNoRank = -1;

// What mpirun has called it. Of a process that has not begun its program yet, it is mpirun's own.
std::int64_t rank_of(pid_t process) {
  constexpr std::string_view kName = {"\0OMPI_COMM_WORLD_RANK=", 22};
  const std::string environment = environment_of(process);
  const std::size_t found = environment.find(kName);
  if (found == std::string::npos) {
    return kNoRank;
  }
  const std::size_t begin = found + kName.size();
  const std::string number = environment.substr(begin, environment.find('\0', begin) - begin);
  return parse_number<std::int64_t>(number).value_or(kNoRank);
}

bool is_alive(pid_t process) {
  const char state = state_of(process);
  return state != 'Z' && state != 'X';
}

}  // namespace

void SeenRanks::look(std::span<const pid_t> children) {
  bool is_any_new = false;
  std::vector<pid_t> alive;
  for (const pid_t child : children) {
    if (!is_alive(child)) {
      continue;
    }
    alive.push_back(child);
    const auto [place, is_new] = ranks_.emplace(child, kNoRank);
    is_any_new = is_any_new || is_new;
    place->second = place->second == kNoRank ? rank_of(child) : place->second;
  }
  looks_without_new_ = is_any_new || alive.empty() ? 0 : looks_without_new_ + 1;
  if (has_any_gone_ || alive.size() == ranks_.size()) {
    return;
  }
  has_any_gone_ = true;
  if (alive.size() + 1 == ranks_.size()) {
    const auto gone = std::ranges::find_if(ranks_, [&alive](const auto& known) {
      return std::ranges::find(alive, known.first) == alive.end();
    });
    if (gone->second != kNoRank && !alive.empty()) {
      first_gone_ = gone->second;
    }
  }
}

}  // namespace mtf
