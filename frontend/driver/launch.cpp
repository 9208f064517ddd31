// No shell is involved: the words of the line are the arguments of mpirun as they are.

#include "frontend/driver/launch.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "frontend/driver/workspace.h"
#include "runtime/interruption.h"

namespace mtf {
namespace {

// As a shell would need it, for people to read and to paste.
std::string shell_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return text + "'";
}

void show(const std::vector<std::string>& line) {
  std::string text = "mtf:";
  for (const std::string& word : line) {
    text += " " + shell_word(word);
  }
  std::fprintf(stderr, "%s\n", text.c_str());
}

}  // namespace

long cores_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                      : sysconf(_SC_NPROCESSORS_ONLN);
}

std::vector<std::string> mpirun_line(const Options& options, const std::string& executable,
                                     long cores) {
  // Ranks share the cores by themselves; binding would give a rank's threads one core.
  std::vector<std::string> line = {"mpirun", "-q", "--bind-to",
                                   "none",   "-n", std::to_string(options.ranks)};
  if (options.ranks > cores) {
    line.emplace_back("--oversubscribe");
  }
  line.push_back(executable);
  line.insert(line.end(), options.words.begin(), options.words.end());
  return line;
}

namespace {

// In the child: this process becomes mpirun.
[[noreturn]] void become_mpirun(std::vector<std::string> line) {
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", /*overwrite=*/1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", /*overwrite=*/1);
  }
  // mpirun's event loop warns now and then of a descriptor that a failing rank had open.
  setenv("EVENT_NOEPOLL", "1", /*overwrite=*/0);
  // Its shared store of facts on ranks is now and then gone before a failing rank's lock is.
  setenv("PMIX_MCA_gds", "hash", /*overwrite=*/0);
  setenv("HWLOC_HIDE_ERRORS", "2", /*overwrite=*/0);  // where /sys is not mounted
  setpgid(0, 0);                                      // the terminal's Ctrl-C is not for it
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::vector<char*> words;
  words.reserve(line.size() + 1);
  for (std::string& word : line) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  execvp(words[0], words.data());
  std::fprintf(stderr, "mtf: `mpirun` cannot be started: %s; is openmpi-bin installed?\n",
               std::strerror(errno));
  _exit(kProgramError);
}

volatile std::sig_atomic_t mpirun = 0;  // its process
volatile std::sig_atomic_t noted = 0;   // the first signal

// The first signal asks the ranks to end, the next one has mpirun end them.
void hand_on(int signal) {
  kill(mpirun, noted == 0 ? SIGUSR1 : SIGTERM);
  if (noted == 0) {
    say_what_follows(signal);
  }
  noted = noted == 0 ? signal : noted;
}

// Until it has ended.
int status_of(pid_t child) {
  constexpr int kSignalled = 128;
  mpirun = child;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
      action.sa_handler = hand_on;
      action.sa_flags = SA_RESTART;
      sigaction(signal, &action, nullptr);
    }
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) {
    return kProgramError;
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  if (code == 0 || noted == 0) {
    return code;
  }
  if (code == kSignalled + SIGUSR1) {  // they had not begun to run
    std::fputs("mtf: interrupted\n", stderr);
  }
  return kSignalled + noted;
}

}  // namespace

int start_ranks(const Options& options) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  std::vector<std::string> line = mpirun_line(options, self.string(), cores_of_this_process());
  if (options.color == ColorChoice::kAuto && color_mode(options) == ColorMode::kColor) {
    line.insert(line.end(), {"--color", "always"});  // the ranks see a pipe, not this terminal
  }
  if (options.verbose) {
    show(line);
  }
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    become_mpirun(std::move(line));
  }
  return child < 0 ? kProgramError : status_of(child);
}

std::optional<std::string> output_of_ranks(const Options& options) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return std::nullopt;
  }
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    _exit(start_ranks(options));
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t got = 0; child > 0 && (got = read(ends[0], chunk.data(), chunk.size())) > 0;) {
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  const bool done = child > 0 && waitpid(child, &status, 0) == child && status == 0;
  return done ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace mtf
