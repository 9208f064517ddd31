// No shell is involved: the words of the line are the arguments of mpirun as they are.

#include "frontend/driver/launch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "frontend/driver/launch/before.h"
#include "frontend/driver/launch/cores.h"
#include "frontend/driver/launch/limits.h"
#include "frontend/driver/launch/line.h"
#include "frontend/driver/launch/stuck.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/workspace.h"
#include "ir/support/file.h"
#include "runtime/ranks/interruption.h"

namespace mtf {
int exit_code_of(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : kSignalled + WTERMSIG(wait_status);
}

void become(std::vector<std::string> line) {
  std::vector<char*> words;
  words.reserve(line.size() + 1);
  for (std::string& word : line) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  execvp(words[0], words.data());
}

void prepare_for_mpirun() {
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", /*overwrite=*/1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", /*overwrite=*/1);
  }
  // mpirun's event loop warns now and then of a descriptor that a failing rank had open.
  setenv("EVENT_NOEPOLL", "1", /*overwrite=*/0);
  // Its shared store of facts on ranks is now and then gone before a failing rank's lock is.
  setenv("PMIX_MCA_gds", "hash", /*overwrite=*/0);
  setenv("HWLOC_HIDE_ERRORS", "2", /*overwrite=*/0);  // where /sys is not mounted
}

namespace {

// In the child: this process becomes mpirun.
[[noreturn]] void become_mpirun(std::vector<std::string> line) {
  prepare_for_mpirun();
  lend_terminal();
  setpgid(0, 0);  // the terminal's Ctrl-C is not for it
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  become(std::move(line));
  std::fprintf(stderr, "mtf: `mpirun` cannot be started: %s; is openmpi-bin installed?\n",
               std::strerror(errno));
  _exit(kProgramError);
}

volatile std::sig_atomic_t mpirun = 0;  // its process
volatile std::sig_atomic_t noted = 0;   // the first signal
volatile std::sig_atomic_t ends = 0;    // there was a second one

// The first signal asks the ranks to end, the next one, but SIGUSR1, has mpirun end them. What it
// interrupts may be about to read `errno`.
void hand_on(int signal) {
  if (noted != 0 && signal == SIGUSR1) {
    return;
  }
  const int before = errno;
  ends = noted == 0 ? 0 : 1;
  kill(mpirun, noted == 0 ? SIGUSR1 : SIGTERM);
  if (noted == 0) {
    say_what_follows(signal);
  }
  noted = noted == 0 ? signal : noted;
  errno = before;
}

void hand_on_signals(pid_t child) {
  mpirun = child;
  prepare_to_say_what_follows();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
      action.sa_handler = hand_on;
      action.sa_flags = SA_RESTART;
      sigaction(signal, &action, nullptr);
    }
  }
}

// mpirun hands a signal on to the ranks that are there: those that come later are told again.
void hand_on_again() {
  if (noted != 0 && ends == 0) {
    kill(mpirun, SIGUSR1);
  }
}

// Until it has ended, or is stuck and ended.
int status_of(pid_t child, StuckWatch& watch) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    return kProgramError;
  }
  const int code = watch.status().value_or(exit_code_of(status));
  if (code == 0 || noted == 0) {
    return code;
  }
  if (code == kSignalled + SIGUSR1) {  // they had not begun to run
    std::fputs("mtf: interrupted\n", stderr);
  }
  return kSignalled + (noted == SIGUSR1 ? SIGINT : noted);
}

// mpirun is told to be quiet, as of an error every rank speaks for itself: but for one that cannot.
void say_what_ended_a_rank(int status, std::optional<std::int64_t> rank) {
  const int signal = status - kSignalled;
  if (noted != 0 || signal <= 0 || signal == SIGINT || signal == SIGTERM) {
    return;
  }
  const std::string who = rank ? "rank " + std::to_string(*rank) : "a rank";
  std::fprintf(stderr, "mtf: %s was ended by signal %d (%s)%s\n", who.c_str(), signal,
               strsignal(signal),
               signal == SIGKILL ? ", as the system does where memory runs out" : "");
}

// mpirun hands standard input to the first rank, but not from a terminal: it is in the background.
// A file has the whole of it. Null: none could be made, with `errno`.
std::FILE* kept_input(const std::string& text) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr || std::fwrite(text.data(), 1, text.size(), file) != text.size() ||
      std::fflush(file) != 0) {
    return nullptr;
  }
  std::rewind(file);
  return file;
}

// What the ranks printed: its last line, and why it could not be written; 0 if it could.
struct Printed {
  std::string last_line;
  int problem = 0;
};

// Hands on what the ranks print, as it comes. They end where nobody reads it any more; what a full
// disk cannot take is lost, and they go on.
Printed handed_on(int from) {
  Printed printed;
  std::string& line = printed.last_line;
  std::array<char, 4096> chunk{};
  for (ssize_t got = 0; (got = read(from, chunk.data(), chunk.size())) > 0;) {
    const std::string_view text(chunk.data(), static_cast<std::size_t>(got));
    if (printed.problem == 0) {
      printed.problem = write_all(STDOUT_FILENO, std::as_bytes(std::span(text)));
      if (printed.problem == EPIPE) {
        kill(mpirun, SIGTERM);
      }
    }
    line += text;
    const std::size_t end = line.size() < 2 ? std::string::npos : line.rfind('\n', line.size() - 2);
    line.erase(0, end == std::string::npos ? 0 : end + 1);
  }
  return printed;
}

// One and the same pipe or file, where the order of what is said to both is kept.
bool is_same_file(int a, int b) {
  struct stat of_a = {};
  struct stat of_b = {};
  return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino;
}

void print_json_error(const Options& options, std::string text, int status) {
  std::string object = render_json(Remark{.slug = "ranks", .text = std::move(text)});
  if (options.json_lines) {
    object = "{\"status\":" + std::to_string(status) + "," + object.substr(1);
  }
  std::fputs(object.c_str(), stdout);
}

// Ranks that end without their object, by a signal or because there is no mpirun, get one.
void complete_json(const Options& options, const std::string& last_line, int status) {
  const bool is_whole =
      last_line.starts_with(options.json_lines ? "{\"status\"" : "{") && last_line.ends_with('\n');
  if (!is_whole) {
    print_json_error(
        options,
        "the ranks ended with status " + std::to_string(status) + " before they could answer",
        status);
  }
}

int cannot_start(const Options& options, const std::string& why) {
  const std::string text = "the ranks cannot be started: " + why;
  if (options.json) {
    print_json_error(options, text, kProgramError);
  } else {
    std::fprintf(stderr, "mtf: %s\n", text.c_str());
  }
  return kProgramError;
}

// By `errno`, of what the system did not do for them.
int cannot_start(const Options& options) {
  return cannot_start(options, std::strerror(errno));
}

// The status of a run whose output came through here. Of output that nobody reads a process dies.
int end_of_output(const Options& options, const Printed& printed, int status,
                  std::optional<std::int64_t> first_gone) {
  if (printed.problem == EPIPE) {
    std::raise(SIGPIPE);
  }
  if (options.json) {
    complete_json(options, printed.last_line, status);
  } else {
    say_what_ended_a_rank(status, first_gone);
  }
  if (printed.problem == 0 || status != kDone) {
    return status;
  }
  std::fputs(kUnwritten, stderr);
  return kProgramError;
}

// `joined`: what the ranks say to both streams goes to one place, in the order in which they say
// it.
std::vector<std::string> line_here(const Options& options, bool joined) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::string> line =
      mpirun_line(options, self.string(), slots_of_this_process(), joined);
  const bool colors = color_mode(options) == ColorMode::kColor;
  if (options.color == ColorChoice::kAuto && (colors || joined)) {
    const auto words = line.end() - static_cast<std::ptrdiff_t>(options.words.size());
    line.insert(words + 1, {"--color", colors ? "always" : "never"});  // they see mpirun's terminal
  }
  return line;
}

// The reading end of a pipe, and the writing one.
using Pipe = std::array<int, 2>;

void close_both(const Pipe& pipe) {
  close(pipe[0]);
  close(pipe[1]);
}

// -1 stands for this process's own.
struct Streams {
  int input = -1;
  int output = -1;
  int error = -1;
};

// The process of mpirun; negative: none, by `errno`.
pid_t start(std::vector<std::string> line, Streams streams) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) {
    return child;
  }
  const auto put = [](int stream, int in_place_of) {
    if (stream >= 0) {
      dup2(stream, in_place_of);
    }
  };
  put(streams.input, STDIN_FILENO);
  put(streams.output, STDOUT_FILENO);
  put(streams.error, STDERR_FILENO);
  become_mpirun(std::move(line));
}

// Starts them and waits. `input`: what they read, -1 for what this process does.
int status_of_ranks(const Options& options, std::vector<std::string> line, int input, bool joined) {
  // mpirun itself does not mind what it cannot write, and crashes where nobody reads it. On a
  // terminal all can be written.
  const bool through = options.json || isatty(STDOUT_FILENO) != 1;
  Pipe output = {-1, -1};
  if (through && pipe2(output.data(), O_CLOEXEC) != 0) {
    return cannot_start(options);
  }
  const pid_t child = start(
      std::move(line), {.input = input, .output = output[1], .error = joined ? output[1] : -1});
  if (child < 0) {
    const int status = cannot_start(options);
    close_both(output);
    return status;
  }
  hand_on_signals(child);
  StuckWatch watch(child, hand_on_again);
  if (!through) {
    const int status = status_of(child, watch);
    say_what_ended_a_rank(status, watch.first_gone());
    return status;
  }
  close(output[1]);
  const auto of_unread = std::signal(SIGPIPE, SIG_IGN);
  const Printed printed = handed_on(output[0]);
  const int status = status_of(child, watch);
  std::signal(SIGPIPE, of_unread);
  close(output[0]);
  return end_of_output(options, printed, status, watch.first_gone());
}

}  // namespace

int start_ranks(const Options& options) {
  const bool joined = !options.json && is_same_file(STDOUT_FILENO, STDERR_FILENO);
  std::vector<std::string> line = line_here(options, joined);
  if (options.verbose) {
    std::fprintf(stderr, "mtf: %s\n", shell_line(line).c_str());
  }
  if (const std::string why = too_many_ranks(options.ranks, limits_of_this_machine());
      !why.empty()) {
    return cannot_start(options, why);
  }
  std::optional<std::string> program;
  if (options.file == "-") {
    ProgramText read = read_standard_input();
    if (read.text.empty() && !read.obstacle.empty()) {
      return run_alone(options, [](Workspace& workspace) {
        static_cast<void>(read_program(workspace));  // which says why not
        return outcome_of(workspace, workspace.diags);
      });
    }
    program = std::move(read.text);
  }
  if (options.command == Command::kRun) {
    if (const std::optional<int> status = end_before_ranks(options, program)) {
      return *status;
    }
  }
  std::FILE* input = program ? kept_input(*program) : nullptr;
  if (program && input == nullptr) {
    return cannot_start(options);
  }
  return status_of_ranks(options, std::move(line), input == nullptr ? -1 : fileno(input), joined);
}

pid_t start_mpirun(const Options& options, int output, std::string& obstacle) {
  const auto of_system = [] {
    return "mpirun cannot be started: " + std::string(std::strerror(errno));
  };
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) {
    obstacle = of_system();
    return -1;
  }
  obstacle = too_many_ranks(options.ranks, limits_of_this_machine());
  pid_t child = -1;
  if (obstacle.empty()) {
    child = start(line_here(options, /*joined=*/true),
                  {.input = nothing, .output = output, .error = output});
    obstacle = child < 0 ? of_system() : "";
  }
  close(nothing);
  return child;
}

std::optional<std::string> output_of_ranks(const Options& options) {
  Pipe output = {-1, -1};
  const pid_t child = pipe(output.data()) == 0 ? fork() : -1;
  if (child < 0) {
    static_cast<void>(cannot_start(options));
    close_both(output);
    return std::nullopt;
  }
  if (child == 0) {
    dup2(output[1], STDOUT_FILENO);
    close_both(output);
    _exit(start_ranks(options));
  }
  close(output[1]);
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t got = 0; (got = read(output[0], chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  close(output[0]);
  int status = 0;
  const bool done = waitpid(child, &status, 0) == child && status == 0;
  return done ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace mtf
