#include "frontend/driver/launch/line.h"

namespace mtf {
namespace {

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

}  // namespace

std::string shell_line(const std::vector<std::string>& line) {
  std::string text;
  for (const std::string& word : line) {
    text += (text.empty() ? "" : " ") + shell_word(word);
  }
  return text;
}

std::vector<std::string> mpirun_line(const Options& options, const std::string& executable,
                                     long slots, bool joined) {
  // Ranks share the cores by themselves; binding would give a rank's threads one core.
  std::vector<std::string> line = {"mpirun", "-q", "--bind-to",
                                   "none",   "-n", std::to_string(options.ranks)};
  if (options.ranks > slots) {
    line.emplace_back("--oversubscribe");
  }
  if (joined) {
    line.insert(line.end(), {"--mca", "iof_base_redirect_app_stderr_to_stdout", "1"});
  }
  line.push_back(executable);
  line.insert(line.end(), options.words.begin(), options.words.end());
  return line;
}

}  // namespace mtf
