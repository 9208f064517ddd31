#include "runtime/ranks/mpi/long_wait.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

#include "runtime/ranks/mpi/job_files.h"
#include "runtime/ranks/mpi/process.h"
#include "runtime/ranks/mpi/processes.h"

namespace mtf {
namespace {

constexpr std::string_view kWaits = "waits";            // lines: a rank, and for whom it waits
constexpr std::string_view kSpeaker = "waits_speaker";  // who reads them to the user
constexpr std::chrono::seconds kOthersTell{3};
constexpr std::chrono::seconds kOthersEnd{10};
constexpr int kHungStatus = 5;

using Ranks = std::set<std::int64_t>;

// "rank 2", "ranks 0, 1 and 3", "ranks 0 to 62"
std::string in_words(const Ranks& ranks) {
  std::vector<std::string> runs;
  for (auto rank = ranks.begin(); rank != ranks.end();) {
    const std::int64_t first = *rank;
    std::int64_t last = first;
    while (++rank != ranks.end() && *rank == last + 1) {
      last = *rank;
    }
    if (last - first > 1) {
      runs.push_back(std::to_string(first) + " to " + std::to_string(last));
      continue;
    }
    for (std::int64_t one = first; one <= last; ++one) {
      runs.push_back(std::to_string(one));
    }
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == runs.size() ? " and " : ", ") + runs[i];
  }
  return text;
}

std::string in_words(std::chrono::seconds time) {
  const std::int64_t minutes = time.count() / 60;
  const bool is_whole = minutes > 1 && time.count() % 60 == 0;
  const std::int64_t number = is_whole ? minutes : time.count();
  return std::to_string(number) + (is_whole ? " minute" : " second") + (number == 1 ? "" : "s");
}

struct Waits {
  Ranks waiting;
  Ranks missed;
};

// Of all ranks of this machine that have told.
void read_told(Waits& waits) {
  std::istringstream lines(read_job_file(kWaits));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    std::int64_t rank = 0;
    if (numbers >> rank) {
      waits.waiting.insert(rank);
      waits.missed.insert(std::istream_iterator<std::int64_t>(numbers), {});
    }
  }
}

// The process on this machine that is a rank of this job, and not the script that started it.
std::optional<pid_t> process_of(std::int64_t rank) {
  const char* job = std::getenv("PMIX_NAMESPACE");
  if (job == nullptr) {
    return std::nullopt;
  }
  const std::string is_rank = '\0' + ("OMPI_COMM_WORLD_RANK=" + std::to_string(rank)) + '\0';
  const std::string is_of_job = '\0' + ("PMIX_NAMESPACE=" + std::string(job)) + '\0';
  const std::string program = program_of(getpid());
  for (const pid_t process : all_processes()) {
    const std::string words = environment_of(process);
    if (program_of(process) == program && words.find(is_rank) != std::string::npos &&
        words.find(is_of_job) != std::string::npos) {
      return process;
    }
  }
  return std::nullopt;
}

std::string what_it_does(std::int64_t rank) {
  const std::optional<pid_t> process = process_of(rank);
  const std::string who = "rank " + std::to_string(rank);
  if (!process) {
    return who + " runs on another machine, or has ended";
  }
  const std::string number = std::to_string(*process);
  const std::string it = who + " (process " + number + ") ";
  switch (state_of(*process)) {
    case 'T':
      return it + "is stopped; `kill -CONT " + number + "` has it go on";
    case 't':
      return it + "is stopped by a debugger";
    case 'D':
      return it + "waits for a disk or a network file system";
    case 'Z':
    case 'X':
      return it + "has ended";
    case 'R':
      return it + "is computing";
    default:
      return it + "sleeps: it waits for something else than a message";
  }
}

}  // namespace

LongWait::~LongWait() {
  if (speaks_) {
    remove_job_file(kWaits);
    remove_job_file(kSpeaker);
  }
}

void LongWait::look_at_clock(const Missing& missing) {
  const Clock::time_point now = Clock::now();
  if (!begun_) {
    begun_ = now;
  }
  const Clock::duration waited = now - *begun_;
  if (waited < patience_.limit) {
    return;
  }
  if (!has_told_) {
    tell_others(missing());
  }
  if (waited < patience_.limit + kOthersTell) {
    return;
  }
  if (speaks_ && !has_said_) {
    say(missing());
  }
  if (patience_.ends_all && (speaks_ || waited >= patience_.limit + kOthersEnd)) {
    stop_all(kHungStatus);
  }
}

void LongWait::tell_others(const std::vector<std::int64_t>& missing) {
  has_told_ = true;
  std::string line = std::to_string(rank_);
  for (const std::int64_t rank : missing) {
    line += " " + std::to_string(rank);
  }
  append_to_job_file(kWaits, line);
  speaks_ = is_first_here(kSpeaker);
}

void LongWait::say(const std::vector<std::int64_t>& missing) {
  constexpr std::size_t kMostNotes = 3;
  has_said_ = true;
  Waits waits;
  read_told(waits);
  waits.waiting.insert(rank_);
  waits.missed.insert(missing.begin(), missing.end());
  Ranks late;
  std::ranges::set_difference(waits.missed, waits.waiting, std::inserter(late, late.end()));
  if (late.empty()) {  // they wait for each other, or for those of other machines
    late.insert(missing.begin(), missing.end());
  }
  std::string text = "mtf: " + in_words(waits.waiting) +
                     (waits.waiting.size() == 1 ? " has" : " have") + " waited for " +
                     (late.empty() ? "the others" : in_words(late)) + " for " +
                     in_words(patience_.limit) + "\n";
  for (const std::int64_t rank : std::vector(late.begin(), late.end())) {
    text += "note: " + what_it_does(rank) + "\n";
    if (static_cast<std::size_t>(std::ranges::count(text, '\n')) > kMostNotes) {
      break;
    }
  }
  if (const std::string place = patience_.place ? patience_.place() : ""; !place.empty()) {
    text +=
        "note: the last step that rank " + std::to_string(rank_) + " began is of " + place + "\n";
  }
  text += patience_.ends_all ? "note: this ends all ranks, as `--hang-timeout` says\n"
                             : "note: they wait on; `--hang-timeout SECONDS` would end them all\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace mtf
