// The command `mtf`.

#include <csignal>
#include <string>
#include <vector>

#include "frontend/driver/commands.h"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of who writes it
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return mtf::command_line(words);
}
