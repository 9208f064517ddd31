// CLI11 takes the words apart, by the tables of commands and options; what is wrong with them is
// said in our own words, which name the command and the way out.

#include "frontend/driver/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <unistd.h>

#include "frontend/diagnostics.h"
#include "frontend/driver/command_line/environment.h"
#include "frontend/driver/command_line/pages.h"
#include "frontend/driver/command_line/program_page.h"
#include "frontend/driver/command_line/tables.h"
#include "frontend/driver/doc/pages.h"
#include "ir/support/diag.h"

namespace mtf {
namespace {

using Words = std::vector<std::string>;

// Thrown where words are no command line; caught here.
struct Misuse {
  std::string text;
};
struct HelpWanted {};

bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

const OptionDef* find_option(const CommandDef& command, std::string_view name) {
  const auto found = std::ranges::find_if(all_options(), [&](const OptionDef& option) {
    return takes(command, option) && !name.empty() &&
           (name == option.name || name == option.letter);
  });
  return found == all_options().end() ? nullptr : &*found;
}

// `--rules=` has a value, which is empty: CLI11 would take the next word. A flag has none.
Words separated(const CommandDef& command, std::span<const std::string> words) {
  Words result;
  bool only_words = false;
  for (const std::string& word : words) {
    only_words = only_words || word == "--";
    const std::size_t equals = only_words ? std::string::npos : word.find('=');
    const OptionDef* option = find_option(command, word.substr(0, equals));
    if (option == nullptr || equals == std::string::npos || !word.starts_with("--")) {
      result.push_back(word);
      continue;
    }
    if (option->value.empty()) {
      throw Misuse{"`" + std::string(option->name) +
                   "` takes no value: " + std::string(option->help)};
    }
    result.emplace_back(option->name);
    result.push_back(word.substr(equals + 1));
  }
  return result;
}

void take_values(const OptionDef& def, const CLI::results_t& values, Options& options) {
  for (const std::string& value : values) {
    if (!def.set(options, value)) {
      throw Misuse{misfit_text(def, value)};
    }
  }
}

void add_option(CLI::App& app, const OptionDef& def, Options& options) {
  const std::string both = std::string(def.letter) +
                           (def.letter.empty() || def.name.empty() ? "" : ",") +
                           std::string(def.name);
  if (def.set == nullptr) {
    app.add_flag_callback(both, [] { throw HelpWanted{}; });
  } else if (def.value.empty()) {
    app.add_flag_callback(both, [&] { def.set(options, ""); });
  } else {
    const auto set = [&](const CLI::results_t& values) {
      take_values(def, values, options);
      return true;
    };
    app.add_option(both, set)->take_all();  // set in turn: the last one stays
  }
}

// Help comes first: it is what is wanted whatever else is wrong.
void define(CLI::App& app, const CommandDef& command, Options& options) {
  app.set_help_flag();
  app.allow_extras();
  for (const bool help : {true, false}) {
    for (const OptionDef& def : all_options()) {
      if (takes(command, def) && (def.set == nullptr) == help) {
        add_option(app, def, options);
      }
    }
  }
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const auto take = [&options, &word = command.words[i]](const CLI::results_t& values) {
      for (const std::string& value : values) {
        word.take(options, value);
      }
      return true;
    };
    CLI::Option* added = app.add_option("word" + std::to_string(i), take);
    if (command.words[i].many) {
      added->expected(-1)->take_all();
    }
  }
}

Misuse missing_value(const CommandDef& command, std::string_view complaint) {
  const std::string name(complaint.substr(0, complaint.find(':')));  // "--rank: 1 required …"
  const OptionDef* option = find_option(command, name);
  return {"`" + name + "` takes a value" +
          (option == nullptr ? "" : ": " + std::string(option->help))};
}

// "; it is one of `mtf plan`": an option that other commands take.
std::string other_commands(std::string_view name) {
  std::string text;
  for (const CommandDef& command : all_commands()) {
    if (find_option(command, name) != nullptr) {
      text += (text.empty() ? "; it is one of `mtf " : "`, `mtf ") + std::string(command.name);
    }
  }
  return text.empty() ? "" : text + "`";
}

Misuse unknown_option(const CommandDef& command, const Options& options, const std::string& word) {
  const std::string name = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
  Words candidates;
  for (const OptionDef& def : all_options()) {
    if (takes(command, def) && !def.name.empty()) {
      candidates.emplace_back(def.name);
    }
  }
  const bool has_program =
      word.starts_with("--") && !options.file.empty() && find_option(command, "--set") != nullptr;
  const std::string own = has_program ? "; those of the program stand behind `--`" : "";
  const bool is_own = has_program && has_option(options.file, name.substr(2));
  const std::string elsewhere = is_own ? "; it is one of the program" : other_commands(name);
  const std::string page = "; `mtf " + std::string(command.name) + " --help` lists them" + own;
  return {"no option `" + name + "`" +
          (elsewhere.empty() ? did_you_mean(name, candidates, page) : elsewhere + own)};
}

// Why a word behind `--` is none of the program's options.
std::string behind_dashes(const CommandDef& command, const std::string& word) {
  if (!looks_like_option(word)) {
    return "; behind `--` are options of the program, as `--width 8`";
  }
  return find_option(command, "--set") == nullptr || word.starts_with("--")
             ? "; no options may follow `--`"
             : "; an option of the program has two dashes: `-" + word + "`";
}

// The first word that nothing has taken.
void check_left_over(const CommandDef& command, const CLI::App& app, const Options& options) {
  bool only_words = false;
  for (const std::string& word : app.remaining()) {
    if (word == "--") {
      only_words = true;
    } else if (!only_words && looks_like_option(word)) {
      throw unknown_option(command, options, word);
    } else if (const CommandDef* meant = find_command(options.file); meant != nullptr) {
      throw Misuse{"`" + word + "` is one word too many; a command comes first: `" +
                   usage_of(*meant) + "`"};
    } else {
      throw Misuse{"`" + word + "` is one word too many" +
                   (only_words ? behind_dashes(command, word) : "")};
    }
  }
}

void check_words(const CommandDef& command, const CLI::App& app, const Options& options) {
  for (std::size_t i = 0; i < command.words.size(); ++i) {
    const WordDef& word = command.words[i];
    if (word.missing.empty()) {
      continue;
    }
    const CLI::Option* given = app.get_option("word" + std::to_string(i));
    if (given->empty() || given->results().front().empty()) {
      throw Misuse{std::string(word.missing) + (word.missing.ends_with('?') ? " " : "; ") +
                   file_taken_as(options) + "it is used as `" + usage_of(command) + "`"};
    }
    const bool fits =
        word.choices.empty() ||
        (" " + std::string(word.choices) + " ").find(" " + given->results().front() + " ") !=
            std::string::npos;
    if (!fits) {
      throw Misuse{std::string(word.missing) + ", not `" + given->results().front() + "`"};
    }
  }
}

// What no single word is wrong about.
void check_together(const CommandDef& command, const CLI::App& app, const Options& options) {
  check_left_over(command, app, options);
  check_words(command, app, options);
  for (const std::string& text : {misuse_of(options), misuse_of_environment()}) {
    if (!text.empty()) {
      throw Misuse{text};
    }
  }
}

// The command line once more, for ranks: without `-n`, and words that look like options last.
Words words_for_ranks(const CommandDef& command, const CLI::App& app) {
  Words result = {std::string(command.name)};
  Words behind;
  std::map<const CLI::Option*, std::size_t> seen;
  for (const CLI::Option* option : app.parse_order()) {
    const std::string& value = option->results()[seen[option]++];
    if (option->get_positional()) {
      (looks_like_option(value) ? behind : result).push_back(value);
      continue;
    }
    const OptionDef* def = find_option(command, option->get_name());
    if (def->name.empty()) {
      continue;
    }
    result.emplace_back(def->name);
    if (!def->value.empty()) {
      result.push_back(value);
    }
  }
  if (!behind.empty()) {
    result.emplace_back("--");
  }
  result.insert(result.end(), behind.begin(), behind.end());
  return result;
}

// The options of the program stand behind a `--` that follows its file: where they begin, or the
// end.
std::size_t own_options(const CommandDef& command, std::span<const std::string> words) {
  const auto dashes = std::ranges::find(words, "--");
  const auto place = static_cast<std::size_t>(dashes - words.begin());
  const bool is_of_program = find_option(command, "--set") != nullptr && place + 1 < words.size() &&
                             words[place + 1].starts_with("--") && words[place + 1].size() > 2;
  if (!is_of_program) {
    return words.size();
  }
  bool has_file = false;
  for (std::size_t i = 0; i < place; ++i) {
    const OptionDef* option = find_option(command, words[i]);
    if (option != nullptr) {
      i += option->value.empty() ? 0 : 1;
    } else {
      has_file = has_file || !looks_like_option(words[i]);
    }
  }
  return has_file ? place : words.size();
}

// `--width 512`, `--width=512`, or `--fast`, which is true.
void take_own_options(std::span<const std::string> words, Options& options) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (word == "--help") {
      throw HelpWanted{};
    }
    if (!word.starts_with("--") || word.size() == 2) {
      throw Misuse{"`" + word +
                   "` is the value of no option; behind `--` stand options of the "
                   "program: `--name value`"};
    }
    if (word.find('=') == std::string::npos && i + 1 < words.size() &&
        !words[i + 1].starts_with("--")) {
      word += "=" + words[++i];
    }
    options.settings.push_back(word);
  }
}

Options parsed(const CommandDef& command, std::span<const std::string> all_words) {
  Options options;
  options.command = command.command;
  CLI::App app;
  define(app, command, options);
  const std::size_t end = own_options(command, all_words);
  const std::span<const std::string> words = all_words.first(end);
  Words last_first = separated(command, words);
  std::ranges::reverse(last_first);
  try {
    app.parse(last_first);
  } catch (const CLI::ArgumentMismatch& error) {
    throw missing_value(command, error.what());
  } catch (const CLI::Error& error) {  // none is known
    throw Misuse{error.what()};
  }
  check_together(command, app, options);
  options.words = words_for_ranks(command, app);
  if (end < all_words.size()) {
    take_own_options(all_words.subspan(end + 1), options);
    options.words.insert(options.words.end(), all_words.begin() + static_cast<std::ptrdiff_t>(end),
                         all_words.end());
  }
  return options;
}

// An error in the words themselves is an object, too, if they ask for one.
bool wants_json(std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const bool format = words[i] == "--format" && i + 1 < words.size() && words[i + 1] != "text";
    if (words[i] == "--json" || format || words[i].starts_with("--format=json")) {
      return true;
    }
  }
  return false;
}

Answer usage_error(const std::string& text, std::span<const std::string> words) {
  if (wants_json(words)) {
    return {.text = render_json(Remark{.slug = "usage", .text = text}),
            .status = kUsageError,
            .json = true};
  }
  return {.text = "mtf: " + text + "\n", .status = kUsageError};
}

// `mtf FILE --help` is about the program; run without the question, one that has no page tells why.
std::variant<Options, Answer> help_wanted(const CommandDef& command,
                                          std::span<const std::string> words) {
  const auto program =
      std::ranges::find_if(words, [](const std::string& word) { return word.ends_with(".mtf"); });
  const bool is_about = command.command == Command::kRun && program != words.end();
  const std::optional<std::string> page = is_about ? program_page(*program) : command_page(command);
  if (page) {
    return Answer{.text = *page};
  }
  return parsed(command, std::span(program, 1));
}

std::variant<Options, Answer> parse_command(const CommandDef& command,
                                            std::span<const std::string> words) {
  try {
    return parsed(command, words);
  } catch (const HelpWanted&) {
    return help_wanted(command, words);
  } catch (const Misuse& misuse) {
    return usage_error(std::string(command.name) + ": " + misuse.text, words);
  }
}

Answer unknown_command(const std::string& word, std::span<const std::string> words) {
  if (const std::string hint = command_hint(word); !hint.empty()) {
    return usage_error("no command `" + word + "`" + hint, words);
  }
  const std::string other = did_you_mean(word, explained_names(), "; `mtf --help` lists them");
  return usage_error(
      "no command `" + word + "`" + did_you_mean(word, names_of(all_commands()), other), words);
}

// `mtf FILE`: a word that looks like a file, or an option in front of one, means `run`.
bool means_run(std::string_view word) {
  return word.starts_with("-") || word.find_first_of("./") != std::string_view::npos;
}

// `mtf help [COMMAND]`
Answer help(std::span<const std::string> words) {
  if (words.empty() || words.front() == "help") {
    return {.text = overview_page()};
  }
  const CommandDef* command = find_command(words.front());
  return command == nullptr ? unknown_command(words.front(), words)
                            : Answer{.text = command_page(*command)};
}

}  // namespace

std::variant<Options, Answer> parse_options(std::span<const std::string> args) {
  if (args.empty() && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1) {
    return parse_command(*find_command("repl"), args);
  }
  if (args.empty()) {
    return Answer{.text = overview_page(), .status = kUsageError};
  }
  const std::string& first = args.front();
  if (first == "--help" || first == "-h") {
    return Answer{.text = overview_page()};
  }
  if (first == "help") {
    return help(args.subspan(1));
  }
  if (first == "--version") {
    return Answer{.text = version_page()};
  }
  const CommandDef* command = find_command(first);
  if (command != nullptr) {
    return parse_command(*command, args.subspan(1));
  }
  return means_run(first) ? parse_command(all_commands().front(), args)
                          : unknown_command(first, args);
}

}  // namespace mtf
