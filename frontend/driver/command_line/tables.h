// Every command and every option, once, as data: parsing, the pages of help, suggestions,
// completion scripts and the manual page are all made from these two tables.

#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/driver/options.h"

namespace mtf {

// What a shell offers for a word.
enum class Offer : std::uint8_t {
  kNothing,
  kFiles,
  kPrograms,
  kLayouts,  // of the program before it
  kEntries,
  kOperations,
  kModules,
  kCommands,
  kChoices
};

// A word of a command that is no option.
struct WordDef {
  std::string_view name;     // "FILE"
  std::string_view missing;  // asked where it must be and is not; empty: it may be left out
  Offer offer = Offer::kNothing;
  std::string_view choices;  // with `kChoices`: these alone, behind blanks
  void (*take)(Options&, std::string_view) = nullptr;
  bool many = false;  // and all that follow
};

struct ExampleDef {
  std::string_view line;  // for a shell, in the project's folder; a test runs it
  std::string_view says;
};

struct CommandDef {
  std::string_view name;
  Command command = Command::kRun;
  std::span<const WordDef> words;
  std::string_view summary;
  std::array<ExampleDef, 2> examples;
};

struct OptionDef {
  std::string_view name;  // the first is what a command's help and suggestions say
  std::string_view letter;
  std::string_view value;  // what it takes, for the help; empty: nothing
  std::string_view help;
  unsigned commands = 0;                              // one bit each
  bool (*set)(Options&, std::string_view) = nullptr;  // false: not a value for it
  Offer offer = Offer::kNothing;
  std::string_view choices;
};

[[nodiscard]] std::span<const CommandDef> all_commands();
[[nodiscard]] std::span<const OptionDef> all_options();

[[nodiscard]] const CommandDef* find_command(std::string_view name);  // null if there is none
[[nodiscard]] bool takes(const CommandDef& command, const OptionDef& option);
// "--layout" and, of one without a name, "-n"
[[nodiscard]] std::vector<std::string> option_names(const CommandDef& command);

// "mtf plan FILE [ENTRY]"
[[nodiscard]] std::string usage_of(const CommandDef& command);
// What the option takes, and what is nearest to a value that is none of it.
[[nodiscard]] std::string misfit_text(const OptionDef& option, std::string_view value);
// Whether each part of what `--set` takes has a name and a `=`.
[[nodiscard]] bool are_settings(std::string_view text);
// Why options do not go together; "" if they do.
[[nodiscard]] std::string misuse_of(const Options& options);
// "`t.mtf` is what `--layout` takes; ", where a file stands that is missing; "" for none.
[[nodiscard]] std::string file_taken_as(const Options& options);
// "-v, --verbose", "--rank N"
[[nodiscard]] std::string form_of(const OptionDef& option);

}  // namespace mtf
