#include "frontend/driver/doctor/trial.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/driver/launch.h"

namespace mtf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNoProgram = 127;
constexpr std::size_t kMostOutput = std::size_t{1} << 16U;

[[noreturn]] void run_as_child(std::vector<std::string> line, int output, void (*prepare)()) {
  setpgid(0, 0);  // so that it can be ended with all that it started
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (prepare != nullptr) {
    prepare();
  }
  mtf::become(std::move(line));
  _exit(kNoProgram);
}

// Until the end of its output; false: the time is over.
bool read_until(Clock::time_point end, int from, std::string& output) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd wait{.fd = from, .events = POLLIN, .revents = 0};
    const int ready = left.count() <= 0 ? 0 : poll(&wait, 1, static_cast<int>(left.count()));
    if (ready == 0) {
      return false;
    }
    std::array<char, 4096> chunk{};
    const ssize_t got = ready < 0 ? -1 : read(from, chunk.data(), chunk.size());
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return true;
    }
    if (got > 0 && output.size() < kMostOutput) {
      output.append(chunk.data(), static_cast<std::size_t>(got));
    }
  }
}

// False: it goes on, though it has closed its output.
bool reaped_until(Clock::time_point end, pid_t child, int& status) {
  constexpr useconds_t kPause = 10'000;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= end) {
      return false;
    }
    usleep(kPause);
  }
  return true;
}

}  // namespace

Trial try_program(std::vector<std::string> line, std::chrono::milliseconds limit,
                  void (*prepare)()) {
  constexpr auto kGrace = std::chrono::milliseconds(500);
  Trial trial;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return trial;
  }
  const Clock::time_point end = Clock::now() + limit;
  const pid_t child = fork();
  if (child == 0) {
    run_as_child(std::move(line), ends[1], prepare);
  }
  close(ends[1]);
  if (child > 0) {
    int status = 0;
    const bool closed = read_until(end, ends[0], trial.output);
    trial.timed_out = !closed || !reaped_until(end, child, status);
    if (trial.timed_out) {
      kill(-child, SIGTERM);  // by which mpirun ends its ranks
      if (!reaped_until(Clock::now() + kGrace, child, status)) {
        kill(-child, SIGKILL);
        waitpid(child, &status, 0);
      }
    }
    trial.status = exit_code_of(status);
    trial.started = trial.timed_out || trial.status != kNoProgram;
  }
  close(ends[0]);
  return trial;
}

}  // namespace mtf
