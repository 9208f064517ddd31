// The command `mtf`.

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "frontend/driver/commands.h"

// Read by jemalloc when it starts. A plan of 1,000 layers takes 200 MB in small blocks, and a
// quarter of its time are faults of small pages. Where the system has no huge pages at hand,
// nothing is gained or lost. One arena serves all threads: where `ulimit -v` leaves no room for
// that of a new thread, jemalloc would go on without one, and crash.
extern "C" const char* malloc_conf;  // NOLINT(readability-identifier-naming): jemalloc's name
const char* malloc_conf = "thp:always,oversize_threshold:0,narenas:1";

namespace {

// A stream that was closed stays one that cannot be read or written. Otherwise a file that is
// opened later, or a pipe to the ranks, would have its number, and what is said would go there.
void keep_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest one: this
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  keep_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of who writes it
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return mtf::command_line(words);
}
