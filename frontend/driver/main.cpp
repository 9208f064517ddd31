// The command `mtf`.

#include <string>
#include <vector>

#include "frontend/driver/commands.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return mtf::command_line(words);
}
