// What begins with `:`.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtf {

class Repl;

struct ReplCommand {
  std::string_view name;
  std::string_view takes;  // "NAME", "[ENTRY]"
  std::string_view says;
  bool (*run)(Repl&, const std::string& rest) = nullptr;  // false: a mistake
};

// In alphabetical order.
[[nodiscard]] std::span<const ReplCommand> repl_commands();

// By its name, or by the beginning of one alone; null: none or several, which are `candidates`
// then.
const ReplCommand* meant_command(std::string_view word, std::vector<std::string>& candidates);

// `text`: without the colon.
bool run_repl_command(Repl& repl, const std::string& text);

// `help`, `plan()` or `exit`, if that is all of the text; else "".
[[nodiscard]] std::string word_without_colon(std::string_view text);

// The pages of `:help`.
[[nodiscard]] std::string repl_help();

// program.cpp: those of the command line, about the script.
bool repl_plan(Repl& repl, const std::string& rest);
bool repl_cost(Repl& repl, const std::string& rest);
bool repl_why(Repl& repl, const std::string& rest);
bool repl_diff(Repl& repl, const std::string& rest);
bool repl_check(Repl& repl, const std::string& rest);
bool repl_verify(Repl& repl, const std::string& rest);
bool repl_ops(Repl& repl, const std::string& rest);
bool repl_library(Repl& repl, const std::string& rest);  // `mtf doc`
bool repl_expect(Repl& repl, const std::string& rest);
bool repl_search(Repl& repl, const std::string& rest);

// layout.cpp
bool repl_layout(Repl& repl, const std::string& words);
bool repl_mesh(Repl& repl, const std::string& rest);
bool repl_what_if(Repl& repl, const std::string& words);

// session.cpp
bool repl_type(Repl& repl, const std::string& rest);
bool repl_show(Repl& repl, const std::string& rest);
bool repl_show_path(Repl& repl, const std::string& rest);  // of an entry, as `mtf show` has it
bool repl_vars(Repl& repl, const std::string& rest);
bool repl_doc(Repl& repl, const std::string& rest);
bool repl_save(Repl& repl, const std::string& rest);
bool repl_load(Repl& repl, const std::string& rest);
bool repl_reload(Repl& repl, const std::string& rest);
bool repl_time(Repl& repl, const std::string& rest);
bool repl_ranks(Repl& repl, const std::string& rest);

[[nodiscard]] std::vector<std::string> words_in(std::string_view text);

}  // namespace mtf
