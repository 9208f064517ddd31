// Gives mutants of all programs of the tree to all commands of mtf. A find is a signal, a hang, an
// internal error, much memory, a failure without a word, a run that does not do what its plan says,
// or numbers that `verify` calls wrong.
//
//   fuzz_mutants ROOT [--seed N] [--mutants N] [--seconds N] [--command NAME] [--first N]
//                     [--only N] [--mtf PROGRAM] [--slow N] [--all] [--unchanged]
//
// --mutants, --seconds: it ends with what is over first; 60 seconds without both. --only: shows
// that mutant and runs it. --mtf: a process of that program for each, which is slow. --slow: how
// many times slower than a release build this is. --all: no find is left out because another one
// has its cause. --unchanged: the programs as they are, with all commands under all their layouts.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unistd.h>

#include "frontend/driver/commands.h"
#include "runtime/ranks/mpi/launch.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/shrink.h"
#include "tests/fuzz/trial.h"
#include "tests/fuzz/unchanged.h"

namespace fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBatch = 100;
constexpr double kSeconds = 60;
constexpr double kForever = std::numeric_limits<double>::infinity();

struct Request {
  fs::path root;
  fs::path mtf;
  std::string command;
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::optional<std::uint64_t> mutants;
  std::optional<double> seconds;
  double slow = 1;
  bool only = false;
  bool all = false;
  bool unchanged = false;
};

class Fuzzer {
 public:
  explicit Fuzzer(Request request)
      : request_(std::move(request)),
        scratch_(scratch_folder()),
        mutator_(read_corpus(request_.root)),
        unchanged_(request_.unchanged ? unchanged(mutator_.seeds(), request_.command)
                                      : std::vector<Mutant>{}) {
    limits_.seconds *= request_.slow;
    limits_.memory_mib *= request_.slow > 1 ? 3 : 1;  // a sanitizer keeps what is freed
    copy_tree(request_.root, scratch_);
    fs::current_path(scratch_);
  }
  ~Fuzzer() {
    fs::current_path("/");
    fs::remove_all(scratch_);
  }
  Fuzzer(const Fuzzer&) = delete;
  Fuzzer& operator=(const Fuzzer&) = delete;
  Fuzzer(Fuzzer&&) = delete;
  Fuzzer& operator=(Fuzzer&&) = delete;

  // Returns the status to exit with.
  int run() {
    warm_up();
    const Clock::time_point start = Clock::now();
    const auto spent = [&start] {
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    std::uint64_t at = std::min(request_.first, last());
    const std::uint64_t end = last();
    const double seconds = request_.seconds.value_or(is_counted() ? kForever : kSeconds);
    while (at < end && spent() < seconds) {
      at = step(at, std::min(end, at + kBatch));
    }
    const Use use = use_so_far();
    std::printf(
        "seed %llu: %llu mutants in %.0f s, %llu of them programs, each in %.1f s and %lld MiB at "
        "most; %zu different finds\n",
        static_cast<unsigned long long>(request_.seed),
        static_cast<unsigned long long>(at - request_.first), spent(),
        static_cast<unsigned long long>(use.done), use.most_seconds,
        static_cast<long long>(use.most_mib), finds_.size());
    return finds_.empty() ? 0 : 1;
  }

  void show(std::uint64_t index) const {
    const Trial shown = trial(index);
    print(shown);
  }

 private:
  [[nodiscard]] bool is_counted() const {
    return request_.only || request_.mutants || request_.unchanged;
  }
  [[nodiscard]] std::uint64_t last() const {
    if (request_.unchanged && !request_.only) {
      return unchanged_.size();
    }
    return !is_counted() ? std::numeric_limits<std::uint64_t>::max()
                         : request_.first + (request_.only ? 1 : *request_.mutants);
  }

  static fs::path scratch_folder() {
    const fs::path shared = "/dev/shm";
    const fs::path base = fs::is_directory(shared) ? shared : fs::temp_directory_path();
    const fs::path folder = base / ("mtf_fuzz_" + std::to_string(getpid()));
    fs::create_directories(folder);
    return folder;
  }

  // The parser learns the grammar as it goes: once, for all forks.
  void warm_up() const {
    std::fflush(stdout);
    const int out = dup(STDOUT_FILENO);
    const int err = dup(STDERR_FILENO);
    const int none = open("/dev/null", O_WRONLY);
    dup2(none, STDOUT_FILENO);
    dup2(none, STDERR_FILENO);
    for (const Seed& seed : mutator_.seeds()) {
      if (seed.folder != "pages") {
        const std::vector<std::string> words = {"check", "--emit", "ast", seed.name};
        static_cast<void>(mtf::command_line(words));
      }
    }
    std::fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(none);
    close(out);
    close(err);
  }

  [[nodiscard]] Mutant mutant(std::uint64_t index) const {
    return request_.unchanged ? unchanged_.at(index)
                              : mutator_.mutant(request_.seed, index, request_.command);
  }

  [[nodiscard]] Trial trial(std::uint64_t index) const {
    Mutant mutant = this->mutant(index);
    return {.folder = scratch_ / mutant.seed->folder,
            .text = std::move(mutant.text),
            .args = std::move(mutant.args)};
  }

  // Goes on from `at`, at most to `end`; returns how far it came.
  std::uint64_t step(std::uint64_t at, std::uint64_t end) {
    const auto made = [this](std::uint64_t index) { return trial(index); };
    if (!request_.mtf.empty() || request_.only) {
      report(at, run_alone(trial(at), limits_, request_.mtf));
      return at + 1;
    }
    const Batch batch = run_batch(at, end, made, limits_);
    if (batch.find.ending == Ending::kFine) {
      return end;
    }
    const Find alone = run_alone(trial(batch.stopped), limits_, {});
    if (alone.ending != Ending::kFine) {
      report(batch.stopped, alone);
    } else if (batch.find.ending != Ending::kMemory) {  // what the ones before it left
      Find found = batch.find;
      found.what += "\n    only after others, since " + std::to_string(at);
      report(batch.stopped, found);
    }
    return batch.stopped + 1;
  }

  void report(std::uint64_t index, const Find& find) {
    if (find.ending == Ending::kFine || (++finds_[find.what] > 1 && !request_.all)) {
      return;
    }
    const Trial whole = trial(index);
    Trial smallest = whole;
    Limits limits = limits_;
    limits.seconds = find.ending == Ending::kHang ? 3 * request_.slow : limits.seconds;
    const std::size_t tries = find.ending == Ending::kHang ? 60 : 1500;
    smallest.text = shrink(whole.text, tries, [&](const std::string& text) {
      Trial smaller = whole;
      smaller.text = text;
      const Find same = run_alone(smaller, limits, request_.mtf);
      return same.ending == find.ending && (find.ending == Ending::kHang || same.what == find.what);
    });
    std::printf("---- seed %llu, mutant %llu, of %s\n%s\n",
                static_cast<unsigned long long>(request_.seed),
                static_cast<unsigned long long>(index), mutant(index).seed->name.c_str(),
                find.what.c_str());
    print(smallest);
    std::fflush(stdout);
  }

  static void print(const Trial& trial) {
    std::printf("mtf");
    for (const std::string& word : trial.args) {
      std::printf(" '%s'", word.c_str());
    }
    std::string text = trial.text;
    if (text.size() > 3000) {
      text = text.substr(0, 3000) + "… " + std::to_string(text.size()) + " bytes";
    }
    std::printf("\n%s\n----\n", text.c_str());
  }

  Request request_;
  Limits limits_;
  fs::path scratch_;
  Mutator mutator_;
  std::vector<Mutant> unchanged_;  // they point into the mutator's seeds
  std::map<std::string, int> finds_;
};

Request request_of(int argc, char** argv) {
  Request request;
  request.root = fs::absolute(argc > 1 ? argv[1] : ".");
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    i += name == "--all" || name == "--unchanged" ? 0 : 1;
    if (name == "--seed") {
      request.seed = std::stoull(value);
    } else if (name == "--mutants") {
      request.mutants = std::stoull(value);
    } else if (name == "--seconds") {
      request.seconds = std::stod(value);
    } else if (name == "--command") {
      request.command = value;
    } else if (name == "--first" || name == "--only") {
      request.first = std::stoull(value);
      request.only = name == "--only";
    } else if (name == "--mtf") {
      request.mtf = fs::absolute(value);
    } else if (name == "--slow") {
      request.slow = std::stod(value);
    } else if (name == "--all") {
      request.all = true;
    } else if (name == "--unchanged") {
      request.unchanged = true;
    } else {
      std::fprintf(stderr, "fuzz_mutants: no option `%s`\n", name.c_str());
      std::exit(2);
    }
  }
  return request;
}

}  // namespace
}  // namespace fuzz

int main(int argc, char** argv) {
  // Nothing measured, and no ranks of an mpirun around; what runs is held to its plan.
  setenv("MTF_CHECK_PLAN", "1", 1);
  setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
  setenv("NO_COLOR", "1", 1);
  if (mtf::launched()) {  // a trial that starts ranks starts this program
    return mtf::command_line(std::vector<std::string>(argv + 1, argv + argc));
  }
  const fuzz::Request request = fuzz::request_of(argc, argv);
  fuzz::Fuzzer fuzzer(request);
  if (request.only) {
    fuzzer.show(request.first);
  }
  return fuzzer.run();
}
