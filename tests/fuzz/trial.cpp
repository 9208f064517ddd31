// The child writes which trial it is at to a page that both see; the parent watches the clock and
// the child's memory. Time is processor time, so that a busy machine makes no finds.

#include "tests/fuzz/trial.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "frontend/driver/commands.h"
#include "tests/fuzz/blame.h"
#include "tests/fuzz/signals.h"

namespace fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kStatusInternal = 101;
constexpr int kStatusMemory = 102;
constexpr int kStatusMute = 103;
constexpr int kStatusWrong = 104;
constexpr double kWallPerSeconds = 20;  // before a child that waits for ever is ended

struct Shared {
  std::atomic<std::uint64_t> at;
  std::atomic<std::uint64_t> started;  // how many trials; changes with each
  std::atomic<std::uint64_t> done;     // with status 0: what was run was a program
  std::atomic<double> most_seconds;    // of processor time that a trial which ended took
  std::atomic<std::int64_t> most_mib;
};

Shared& shared() {
  static void* page =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  static Shared* made = new (page) Shared{};
  return *made;
}

// Where children put what they say.
const std::string& error_file() {
  static const std::string path = "errors." + std::to_string(getpid());
  static const std::string full = (fs::current_path() / path).string();
  return full;
}

// And where `verify` says whether numbers differ.
const std::string& verdict_file() {
  static const std::string path = error_file() + ".verdict";
  return path;
}

std::string read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

constexpr const char* kFileName = "mutant.mtf";

std::vector<std::string> words_of(const Trial& trial) {
  std::vector<std::string> words = trial.args;
  for (std::string& word : words) {
    word = word == "FILE" ? kFileName : word;
  }
  return words;
}

bool is_mute(const Trial& trial, int status) {
  bool is_said_elsewhere = false;  // on standard output
  for (const std::string& word : trial.args) {
    is_said_elsewhere =
        is_said_elsewhere || word == "--json" || word == "verify" || word == "--script";
  }
  return status != 0 && !is_said_elsewhere && lseek(STDERR_FILENO, 0, SEEK_END) == 0;
}

bool is_verify(const Trial& trial) {
  return !trial.args.empty() && trial.args.front() == "verify";
}

bool is_session(const Trial& trial) {
  return std::ranges::find(trial.args, "--script") != trial.args.end();
}

// ---- In the child -------------------------------------------------------------------------------

void enter_sandbox() {
  const int none = open("/dev/null", O_RDWR);
  const int errors = open(error_file().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  dup2(none, STDIN_FILENO);
  dup2(none, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlimit small_files{.rlim_cur = 64U << 20U, .rlim_max = 64U << 20U};
  setrlimit(RLIMIT_FSIZE, &small_files);
  std::signal(SIGXFSZ, SIG_IGN);
}

// Peak memory is measured anew from here.
void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

std::int64_t peak_mib() {
  std::ifstream stream("/proc/self/status");
  for (std::string word; stream >> word;) {
    std::int64_t kib = 0;
    if (word == "VmHWM:" && stream >> kib) {
      return kib / 1024;
    }
  }
  return 0;
}

// Children run one after the other.
void note_use(double seconds, std::int64_t mib) {
  shared().most_seconds = std::max(shared().most_seconds.load(), seconds);
  shared().most_mib = std::max(shared().most_mib.load(), mib);
}

void say_to(const char* path) {
  std::fflush(stdout);
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  close(file);
}

// `verify` found numbers that differ where they may not: the worst that can be found. What
// roundings explain is told, too, and is none.
bool is_wrong() {
  std::fflush(stdout);
  std::istringstream said(read_text(verdict_file()));
  for (std::string line; std::getline(said, line);) {
    const bool differs = line.find("; more than ") != std::string::npos &&
                         line.find(", but within ") == std::string::npos;
    if (differs || line.find("a fault of mtf") != std::string::npos) {
      std::fprintf(stderr, "\nverify says: %s\n", line.c_str());
      return true;
    }
  }
  return false;
}

void run_here(const Trial& trial, const Limits& limits) {
  fs::current_path(trial.folder);
  write_text(kFileName, trial.text);
  if (ftruncate(STDERR_FILENO, 0) != 0) {
    _exit(0);
  }
  say_to(is_verify(trial) ? verdict_file().c_str() : "/dev/null");
  reset_peak();
  arm(limits.seconds, is_session(trial) ? 3 : 0);
  const std::clock_t start = std::clock();
  const int status = mtf::command_line(words_of(trial));
  arm(0, 0);
  note_use(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, peak_mib());
  shared().done += status == 0 ? 1 : 0;
  if (status == 70) {
    _exit(kStatusInternal);
  }
  if (is_verify(trial) && is_wrong()) {
    _exit(kStatusWrong);
  }
  if (peak_mib() > limits.memory_mib) {
    _exit(kStatusMemory);
  }
  if (is_mute(trial, status)) {
    _exit(kStatusMute);
  }
}

// ---- In the parent ------------------------------------------------------------------------------

std::int64_t resident_mib(pid_t child) {
  std::ifstream stream("/proc/" + std::to_string(child) + "/statm");
  std::int64_t pages = 0;
  stream >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE) >> 20U;
}

struct End {
  int status = 0;
  Ending forced = Ending::kFine;  // the parent ended it
};

// Until it ends: what waits for ever, or takes all memory, is killed.
End watch(pid_t child, const Limits& limits) {
  End end;
  std::uint64_t trial = 0;
  Clock::time_point since = Clock::now();
  while (waitpid(child, &end.status, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (const std::uint64_t now = shared().started; now != trial) {
      trial = now;
      since = Clock::now();
    }
    const double waited = std::chrono::duration<double>(Clock::now() - since).count();
    if (end.forced == Ending::kFine && waited > limits.seconds * kWallPerSeconds) {
      end.forced = Ending::kHang;
    } else if (end.forced == Ending::kFine && resident_mib(child) > limits.memory_mib * 3 / 2) {
      end.forced = Ending::kMemory;
    } else {
      continue;
    }
    kill(child, SIGKILL);
  }
  return end;
}

Find find_of(const End& end) {
  Ending ending = end.forced;
  if (ending == Ending::kFine && WIFSIGNALED(end.status)) {
    ending = WTERMSIG(end.status) == SIGPROF ? Ending::kHang : Ending::kSignal;
  } else if (ending == Ending::kFine && WIFEXITED(end.status)) {
    const int status = WEXITSTATUS(end.status);
    ending = status == kStatusInternal ? Ending::kInternal
             : status == kStatusMemory ? Ending::kMemory
             : status == kStatusMute   ? Ending::kMute
             : status == kStatusWrong  ? Ending::kWrong
             : status == 0             ? Ending::kFine
                                       : Ending::kSignal;  // a sanitizer ended it
  }
  if (ending == Ending::kFine) {
    return {};
  }
  const std::string signal =
      WIFSIGNALED(end.status) ? " " + std::to_string(WTERMSIG(end.status)) : "";
  return {.ending = ending,
          .what = to_string(ending) + signal + ": " + blame(read_text(error_file()))};
}

template <typename Body>
Find in_child(const Limits& limits, const Body& body) {
  std::fflush(nullptr);
  static_cast<void>(verdict_file());
  static_cast<void>(shared());
  const pid_t child = fork();
  if (child == 0) {
    enter_sandbox();
    body();
    _exit(0);
  }
  return find_of(watch(child, limits));
}

// What `mtf` itself makes of it.
void run_program(const fs::path& mtf, const Trial& trial, const Limits& limits) {
  fs::current_path(trial.folder);
  write_text(kFileName, trial.text);
  std::vector<std::string> words = words_of(trial);
  words.insert(words.begin(), mtf.string());
  std::vector<char*> line;
  for (std::string& word : words) {
    line.push_back(word.data());
  }
  line.push_back(nullptr);
  const auto seconds = static_cast<rlim_t>(limits.seconds);
  const rlimit time{.rlim_cur = seconds + 1, .rlim_max = seconds + 1};
  setrlimit(RLIMIT_CPU, &time);
  const pid_t child = fork();
  if (child == 0) {
    execv(line[0], line.data());
    _exit(127);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  if (WIFSIGNALED(status)) {
    std::signal(SIGPROF, SIG_DFL);
    std::raise(WTERMSIG(status) == SIGKILL ? SIGPROF : WTERMSIG(status));
  }
  const int ended = WEXITSTATUS(status);
  if (ended > 2) {
    _exit(ended == 70 ? kStatusInternal : ended);
  }
  if (used.ru_maxrss / 1024 > limits.memory_mib) {
    _exit(kStatusMemory);
  }
}

}  // namespace

Batch run_batch(std::uint64_t begin, std::uint64_t end,
                const std::function<Trial(std::uint64_t)>& made, const Limits& limits) {
  shared().at = begin;
  Batch batch;
  batch.find = in_child(limits, [&] {
    catch_signals();
    for (std::uint64_t i = begin; i < end; ++i) {
      const Trial trial = made(i);
      shared().at = i;
      ++shared().started;
      run_here(trial, limits);
    }
  });
  batch.stopped = batch.find.ending == Ending::kFine ? end : shared().at.load();
  return batch;
}

Find run_alone(const Trial& trial, const Limits& limits, const fs::path& mtf) {
  ++shared().started;
  return in_child(limits, [&] {
    if (!mtf.empty()) {
      run_program(mtf, trial, limits);
      return;
    }
    catch_signals();
    run_here(trial, limits);
  });
}

Use use_so_far() {
  return {
      .done = shared().done, .most_seconds = shared().most_seconds, .most_mib = shared().most_mib};
}

std::string to_string(Ending ending) {
  switch (ending) {
    case Ending::kFine:
      return "fine";
    case Ending::kSignal:
      return "signal";
    case Ending::kHang:
      return "hang";
    case Ending::kInternal:
      return "internal error";
    case Ending::kMemory:
      return "memory";
    case Ending::kWrong:
      return "wrong numbers";
    case Ending::kMute:
      break;
  }
  return "failed without a word";
}

}  // namespace fuzz
