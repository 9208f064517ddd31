// Runs one golden case: mtf on the case's file, its output compared with the .golden beside it.
//
//   golden_runner MTF CASE GOLDEN FILE
//
// CASE holds the directives, FILE is the program that mtf is given (the same, but for examples).
// With MTF_UPDATE_GOLDENS in the environment, the golden is rewritten by what the first launch
// prints; the launches on other numbers of ranks are still compared with it. A command that hangs
// is ended with all that it started, and named; MTF_GOLDEN_SECONDS is how long each may take.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/golden/fold_json.h"

namespace {

namespace fs = std::filesystem;

struct Case {
  std::vector<std::string> commands;  // what follows "mtf "
  std::vector<std::string> ranks;
  bool must_fail = false;
};

struct Output {
  std::string text;  // standard output, then standard error: their mixture is not reproducible
  int status = 0;
  std::string hung = {};  // the command that took too long; no other is run after it
};

std::string read_file(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The rest of the lines "# NAME: …".
std::vector<std::string> directives(const fs::path& path, const std::string& name) {
  std::vector<std::string> values;
  std::ifstream stream(path);
  const std::string prefix = "# " + name + ": ";
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(prefix)) {
      values.push_back(line.substr(prefix.size()));
    }
  }
  return values;
}

Case read_case(const fs::path& path, const std::string& file) {
  Case result{.commands = directives(path, "command"),
              .ranks = {},
              .must_fail = path.filename().string().starts_with("fail_")};
  for (const std::string& args : directives(path, "args")) {
    result.commands.push_back(args + " " + file);
  }
  if (result.commands.empty()) {
    result.commands.push_back("run " + file);
  }
  for (const std::string& line : directives(path, "ranks")) {
    std::istringstream words(line);
    for (std::string count; words >> count;) {
      result.ranks.push_back(count);
    }
  }
  if (result.ranks.empty()) {
    result.ranks.emplace_back("1");
  }
  return result;
}

// 5 minutes: the slowest takes 10 s, and 20 times that under sanitizers.
std::chrono::seconds longest() {
  const char* seconds = std::getenv("MTF_GOLDEN_SECONDS");
  return std::chrono::seconds(seconds == nullptr ? 300 : std::atoi(seconds));
}

// `timeout` makes a process group, and signals all of it; 10 s later it kills what is left.
Output run(const std::string& command) {
  const auto start = std::chrono::steady_clock::now();
  const std::string limited = "timeout -k 10 " + std::to_string(longest().count()) + " " + command;
  const fs::path errors = fs::temp_directory_path() / ("golden." + std::to_string(getpid()));
  Output output;
  std::FILE* pipe = popen((limited + " 2>" + errors.string() + " </dev/null").c_str(), "r");
  if (pipe == nullptr) {
    return {.text = "cannot start " + command, .status = 127};
  }
  std::string buffer(4096, '\0');
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    output.text.append(buffer, 0, n);
  }
  const int status = pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  output.text += read_file(errors);
  fs::remove(errors);
  if (output.status != 0 && std::chrono::steady_clock::now() - start >= longest()) {
    output.hung = command;
  }
  return output;
}

// All commands of the case on one number of ranks; more than one are told apart by a header line.
Output run_all(const Case& test, const std::string& mtf, const std::string& ranks) {
  const std::string launcher = ranks == "1" ? "" : "mpirun -q --oversubscribe -n " + ranks + " ";
  Output all;
  for (const std::string& command : test.commands) {
    Output one = run(launcher + mtf + " " + command);
    all.text += (test.commands.size() > 1 ? "$ mtf " + command + "\n" : "") +
                mtf::golden::with_json_folded(one.text);
    // 1 is an error in the program, 2 wrong usage; anything else is a crash, whatever is expected.
    const bool failed = one.status == 1 || one.status == 2;
    const bool as_expected = test.must_fail ? failed : one.status == 0;
    all.status = as_expected ? all.status : std::max(1, one.status);
    if (!one.hung.empty()) {
      all.hung = std::move(one.hung);
      break;
    }
  }
  return all;
}

void show_difference(const fs::path& golden, const std::string& text) {
  const fs::path actual = fs::temp_directory_path() / ("actual." + std::to_string(getpid()));
  std::ofstream(actual) << text;
  std::cout << run("diff -u " + golden.string() + " " + actual.string()).text;
  fs::remove(actual);
}

int check(const Case& test, const std::string& mtf, const fs::path& golden) {
  bool update = std::getenv("MTF_UPDATE_GOLDENS") != nullptr;
  for (const std::string& ranks : test.ranks) {
    const Output actual = run_all(test, mtf, ranks);
    if (!actual.hung.empty()) {
      std::cout << "ended after " << longest().count() << " s: " << actual.hung << "\n"
                << actual.text;
      return 1;
    }
    if (actual.status != 0) {
      std::cout << "on " << ranks << " ranks: exit status " << actual.status
                << (test.must_fail ? ", or no failure though one is expected\n" : "\n")
                << actual.text;
      return 1;
    }
    if (update && actual.text != read_file(golden)) {
      std::ofstream(golden) << actual.text;
    }
    update = false;
    if (actual.text != read_file(golden)) {
      std::cout << "on " << ranks << " ranks the output differs from the golden:\n";
      show_difference(golden, actual.text);
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv, argv + argc);
  if (args.size() != 5) {
    std::cerr << "usage: golden_runner MTF CASE GOLDEN FILE\n";
    return 2;
  }
  const fs::path file = args[4];
  fs::current_path(file.parent_path());
  return check(read_case(args[2], file.filename().string()), args[1], args[3]);
}
