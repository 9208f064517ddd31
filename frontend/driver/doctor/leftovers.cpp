// What Open MPI cannot remove where a launcher was killed by SIGKILL: the ranks' shared memory,
// which a machine has less of ever after, and the folders of their sessions.

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/driver/doctor/finding.h"
#include "frontend/report/quantity.h"
#include "ir/support/number.h"
#include "ir/support/text/parse_number.h"
#include "runtime/ranks/mpi/processes.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kShared = "/dev/shm";
constexpr std::string_view kSegment = "vader_segment.";
constexpr std::string_view kSession = "pid.";

struct Leftovers {
  std::vector<fs::path> segments;
  std::vector<fs::path> sessions;
  std::int64_t bytes = 0;  // of memory
};

std::vector<fs::path> entries_of(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(prefix)) {
      found.push_back(entry->path());
    }
  }
  return found;
}

// The segments that processes have mapped: a rank has its own for as long as it lives.
std::set<std::string> mapped_segments() {
  std::set<std::string> mapped;
  const std::string path = std::string(kShared) + "/" + std::string(kSegment);
  for (const pid_t process : all_processes()) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
    for (std::string line; std::getline(maps, line);) {
      if (const std::size_t place = line.find(path); place != std::string::npos) {
        mapped.insert(line.substr(place));
      }
    }
  }
  return mapped;
}

// This user's, and none that a process elsewhere, unseen from here, is about to map.
bool is_old(const struct stat& facts) {
  constexpr std::chrono::minutes kSettled{1};
  const auto age =
      std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(facts.st_mtime);
  return facts.st_uid == geteuid() && age > kSettled;
}

fs::path sessions_of_this_user() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::string name(host.data());
  return fs::path(temporary_folder()) /
         ("ompi." + name.substr(0, name.find('.')) + "." + std::to_string(geteuid()));
}

bool has_ended(const fs::path& session) {
  const auto process =
      parse_number<pid_t>(session.filename().string().substr(kSession.size())).value_or(0);
  return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

Leftovers find_leftovers() {
  Leftovers found;
  const std::set<std::string> mapped = mapped_segments();
  for (const fs::path& path : entries_of(kShared, kSegment)) {
    struct stat facts = {};
    if (lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && is_old(facts) &&
        !mapped.contains(path.string())) {
      found.segments.push_back(path);
      found.bytes += static_cast<std::int64_t>(facts.st_blocks) * 512;
    }
  }
  for (const fs::path& path : entries_of(sessions_of_this_user(), kSession)) {
    struct stat facts = {};
    if (lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && is_old(facts) &&
        has_ended(path)) {
      found.sessions.push_back(path);
    }
  }
  return found;
}

std::string in_words(const Leftovers& found) {
  return plural(found.segments.size(), "segment") + " of shared memory (" +
         bytes_text(found.bytes) + ") and " + plural(found.sessions.size(), "folder") +
         " of runs that were killed";
}

}  // namespace

Finding check_leftovers(bool clean) {
  const Leftovers found = find_leftovers();
  Finding finding{.what = "leftovers", .found = "none of runs that were killed", .fix = ""};
  if (found.segments.empty() && found.sessions.empty()) {
    return finding;
  }
  finding.found = in_words(found);
  if (!clean) {
    finding.health = Health::kWarning;
    finding.fix = "mtf doctor --clean";
    return finding;
  }
  std::error_code error;
  for (const fs::path& path : found.segments) {
    fs::remove(path, error);
  }
  for (const fs::path& path : found.sessions) {
    fs::remove_all(path, error);
  }
  finding.found += ", removed";
  return finding;
}

}  // namespace mtf
