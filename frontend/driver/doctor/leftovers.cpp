// What Open MPI cannot remove where a launcher was killed by SIGKILL: the ranks' shared memory,
// which a machine has less of ever after, and the folders of their sessions. And what `mtf verify`
// could not put back where it was killed.

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/driver/doctor/finding.h"
#include "frontend/driver/originals/left_originals.h"
#include "frontend/report/quantity.h"
#include "ir/support/diag.h"
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
  std::vector<LeftFolder> originals;  // of files that are to be put back
  std::int64_t bytes = 0;             // of memory

  [[nodiscard]] bool is_empty() const {
    return segments.empty() && sessions.empty() && originals.empty();
  }
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
  for (LeftFolder& folder : left_originals()) {
    if (folder.is_listed && folder.changed.empty()) {
      found.sessions.emplace_back(folder.path);
    } else {
      found.originals.push_back(std::move(folder));
    }
  }
  return found;
}

std::string in_words(const Leftovers& found) {
  return plural(found.segments.size(), "segment") + " of shared memory (" +
         bytes_text(found.bytes) + ") and " + plural(found.sessions.size(), "folder") +
         " of runs that were killed";
}

// Which file is not what it was, and where that is.
std::vector<std::string> originals_in_words(const LeftFolder& folder) {
  if (!folder.is_listed) {
    return {
        in_backticks(folder.path) +
        " of an earlier `mtf verify` that was killed has files of yours, and does not say which"};
  }
  std::vector<std::string> said;
  for (const Original& original : folder.changed) {
    const std::string was = !original.size        ? "was not there before"
                            : original.gets_lines ? "had " + plural(*original.size, "byte")
                                                  : "was " + in_backticks(original.kept_as);
    said.push_back(in_backticks(original.path) +
                   " is as a `mtf verify` that was killed left it, and " + was);
  }
  return said;
}

std::string way_out(bool cleaning_helps) {
  return cleaning_helps ? "mtf doctor --clean" : "copy what you miss, then remove the folder";
}

void remove(const Leftovers& found) {
  std::error_code error;
  for (const fs::path& path : found.segments) {
    fs::remove(path, error);
  }
  for (const fs::path& path : found.sessions) {
    fs::remove_all(path, error);
  }
}

}  // namespace

Finding check_leftovers(bool clean) {
  const Leftovers found = find_leftovers();
  Finding finding{.what = "leftovers", .found = "none of runs that were killed", .fix = ""};
  if (found.is_empty()) {
    return finding;
  }
  std::vector<std::string> said;
  if (!found.segments.empty() || !found.sessions.empty()) {
    said.push_back(in_words(found) + (clean ? ", removed" : ""));
  }
  bool helps = !said.empty();  // to clean
  bool is_done = clean;
  for (const LeftFolder& folder : found.originals) {
    std::ranges::move(clean && folder.is_listed ? put_back(folder) : originals_in_words(folder),
                      std::back_inserter(said));
    helps = helps || folder.is_listed;
    is_done = is_done && !fs::exists(folder.path);
  }
  finding.found = joined(said, "; ");
  if (!is_done) {
    finding.health = Health::kWarning;
    finding.fix = way_out(helps && !clean);
  }
  if (clean) {
    remove(found);
  }
  return finding;
}

}  // namespace mtf
