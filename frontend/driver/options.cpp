// Two tables, of commands and of options, say all there is: parsing, help and suggestions read
// them.

#include "frontend/driver/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/support/columns.h"
#include "ir/support/diag.h"

namespace mtf {
namespace {

constexpr std::string_view kVersion = "mtf 0.1";

struct CommandDef {
  std::string_view name;
  std::optional<Command> command;  // absent: not built yet
  std::string_view words;          // what follows it
  std::string_view summary;
};

constexpr std::array kCommands = std::to_array<CommandDef>({
    {"run", Command::kRun, "FILE", "run a program; `mtf FILE` is the same"},
    {"check", Command::kCheck, "FILE", "report errors of the program and its layouts; run nothing"},
    {"plan", Command::kPlan, "FILE [ENTRY]", "show what one rank does, step by step; run nothing"},
    {"cost", Command::kCost, "FILE [ENTRY]",
     "price the layouts side by side: compute, communication, memory, time"},
    {"calibrate", Command::kCalibrate, "",
     "measure this machine, for the prices of `of this_machine`"},
    {"diff", Command::kDiff, "FILE LAYOUT LAYOUT [ENTRY]",
     "what changes from one layout to another; `none` is one rank"},
    {"why", Command::kWhy, "FILE VALUE [ENTRY]",
     "say why a value lies as it does, why a collective is there, what fills the memory"},
    {"verify", Command::kVerify, "FILE", "run on one rank and under every layout, and compare"},
    {"ops", Command::kOps, "[NAME]", "list the operations, or explain one"},
    {"repl", std::nullopt, "", ""},
    {"search", std::nullopt, "", ""},
    {"fmt", std::nullopt, "", ""},
    {"doctor", std::nullopt, "", ""},
    {"doc", std::nullopt, "", ""},
});

constexpr unsigned bit(Command command) {
  return 1U << static_cast<unsigned>(command);
}
constexpr unsigned kRun = bit(Command::kRun);
constexpr unsigned kPlan = bit(Command::kPlan);
constexpr unsigned kCost = bit(Command::kCost);
constexpr unsigned kDiff = bit(Command::kDiff);
constexpr unsigned kWhy = bit(Command::kWhy);
constexpr unsigned kExecuting = kRun | bit(Command::kVerify);
constexpr unsigned kShowing = kRun | bit(Command::kCheck) | kPlan;
constexpr unsigned kWithLayout = kExecuting | kShowing | kCost | kWhy;
constexpr unsigned kWithFile = kWithLayout | kDiff;

constexpr bool takes_file(Command command) {
  return command != Command::kOps && command != Command::kCalibrate;
}

struct OptionDef {
  std::string_view name;  // the first is what a command's help and suggestions say
  std::string_view letter;
  std::string_view value;  // what it takes, for the help; empty: nothing
  std::string_view help;
  unsigned commands = 0;
  bool (*set)(Options&, std::string_view);  // false: not a value for it
};

template <auto member>
bool set_text(Options& options, std::string_view text) {
  options.*member = text;
  return !text.empty();
}

// No rules are rules, too: a blank, which has none, where not given is empty.
bool set_rules(Options& options, std::string_view text) {
  options.rules = text.empty() ? " " : text;
  return true;
}

template <auto member>
bool set_flag(Options& options, std::string_view /*none*/) {
  options.*member = true;
  return true;
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number >= 0;
}

template <auto member>
bool set_number(Options& options, std::string_view text) {
  return read_number(text, options.*member);
}

bool add_setting(Options& options, std::string_view text) {
  options.settings += (options.settings.empty() ? "" : ",") + std::string(text);
  return text.find('=') != std::string_view::npos;
}

bool set_ranks(Options& options, std::string_view text) {
  return set_number<&Options::ranks>(options, text) && options.ranks >= 1 && options.ranks <= 65536;
}

bool set_timeout(Options& options, std::string_view text) {
  constexpr std::uint32_t kMost = 1'000'000'000;
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  return error == std::errc{} && end == text.data() + text.size() && seconds >= 1 &&
         seconds <= kMost;
}

// As ranges of the language: "10..20", without 20.
bool set_steps(Options& options, std::string_view text) {
  const std::size_t dots = text.find("..");
  return dots != std::string_view::npos && read_number(text.substr(0, dots), options.steps_begin) &&
         read_number(text.substr(dots + 2), options.steps_end) &&
         options.steps_begin < options.steps_end;
}

bool set_nan(Options& options, std::string_view text) {
  options.nan_is_error = text == "error";
  return text == "error" || text == "warn";
}

bool set_emit(Options& options, std::string_view text) {
  constexpr std::array kPhases =
      std::to_array<std::string_view>({"ast", "ir", "grad", "sharded", "spmd"});
  const auto* found = std::ranges::find(kPhases, text);
  options.emit = static_cast<Emit>(found - kPhases.begin());
  return found != kPhases.end();
}

bool set_color(Options& options, std::string_view text) {
  constexpr std::array kChoices = std::to_array<std::string_view>({"auto", "always", "never"});
  const auto* found = std::ranges::find(kChoices, text);
  options.color = static_cast<ColorChoice>(found - kChoices.begin());
  return found != kChoices.end();
}

constexpr std::array kOptions = std::to_array<OptionDef>({
    {"", "-n", "N", "start N ranks under mpirun", kRun, set_ranks},
    {"--layout", "", "NAME", "the layout to use", kWithLayout, set_text<&Options::layout>},
    {"--mesh", "", "SIZES", "other sizes of mesh axes: \"rows=4,cols=2\"", kWithFile,
     set_text<&Options::mesh>},
    {"--rules", "", "RULES", "a layout's rules: \"batch:rows;hidden:cols\"", kWithFile, set_rules},
    {"--set", "", "NAME=TEXT", "what `setting(NAME, …)` is; several behind commas", kWithFile,
     add_setting},
    {"--hardware", "", "NAME", "the profile to price with, instead of the mesh's",
     kCost | kDiff | kRun, set_text<&Options::hardware>},
    {"--rank", "", "N", "the rank to show", kPlan, set_number<&Options::rank>},
    {"--count", "", "", "report what each rank computed, sent and held", kRun,
     set_flag<&Options::count>},
    {"--profile", "", "", "report where the time went: by entry, step, collective and kernel", kRun,
     set_flag<&Options::profile>},
    {"--trace", "", "FILE", "write what each rank did when, for ui.perfetto.dev", kRun,
     set_text<&Options::trace>},
    {"--steps", "", "A..B", "steps of each entry that the trace has, from 0 and without B: 10..20",
     kRun, set_steps},
    {"--nan", "", "WHAT",
     "what a loss does that is not finite: warn, or error, which stops all ranks", kRun, set_nan},
    {"--max-memory", "", "MIB", "refuse to hold more, over all ranks of this machine", kExecuting,
     set_number<&Options::max_memory>},
    {"--timeout", "", "SECONDS", "stop a program that goes on for longer", kExecuting, set_timeout},
    {"--seed", "", "N", "of the program's random numbers", kExecuting, set_number<&Options::seed>},
    {"--exact", "", "", "the same bits on every layout (the default)",
     kExecuting | kPlan | kCost | kDiff, set_flag<&Options::exact>},
    {"--fast", "", "", "sums in any order", kExecuting | kPlan | kCost | kDiff | kWhy,
     set_flag<&Options::fast>},
    {"--json", "", "", "print one JSON object", kShowing | kCost | kDiff | kWhy,
     set_flag<&Options::json>},
    {"--lint", "", "", "warn of what is legal and wasteful, too", bit(Command::kCheck),
     set_flag<&Options::lint>},
    {"--strict", "", "", "warnings end with status 1, too", bit(Command::kCheck),
     set_flag<&Options::strict>},
    {"--emit", "", "PHASE", "print the program after ast, ir, grad, sharded or spmd; run nothing",
     kShowing, set_emit},
    {"--color", "", "WHEN", "color in messages: auto, always or never", kWithFile, set_color},
    {"--verbose", "-v", "", "show the mpirun line", kRun, set_flag<&Options::verbose>},
    {"--help", "-h", "", "this page", kWithFile | bit(Command::kOps) | bit(Command::kCalibrate),
     nullptr},
});

Answer usage_error(const std::string& text) {
  return {.text = "mtf: " + text + "\n", .status = kUsageError};
}

std::string overview() {
  std::vector<Row> rows;
  for (const CommandDef& def : kCommands) {
    if (def.command) {
      rows.push_back({"mtf " + std::string(def.name) + " " + std::string(def.words),
                      std::string(def.summary)});
    }
  }
  return "mtf: tensor programs with named dims, split over ranks by layouts\n\n" +
         in_columns(rows, {.gap = 3}) + "\n`mtf COMMAND --help` lists the options of a command.\n";
}

std::string page(const CommandDef& command) {
  std::vector<Row> rows;
  for (const OptionDef& def : kOptions) {
    if ((def.commands & bit(*command.command)) != 0) {
      const bool both = !def.name.empty() && !def.letter.empty();
      rows.push_back({std::string(def.letter) + (both ? ", " : "") + std::string(def.name) +
                          (def.value.empty() ? "" : " ") + std::string(def.value),
                      std::string(def.help)});
    }
  }
  return "mtf " + std::string(command.name) + " " + std::string(command.words) + "\n\n  " +
         std::string(command.summary) + "\n\n" + in_columns(rows, {.gap = 3});
}

// The words of one command, from left to right.
class Parser {
 public:
  Parser(const CommandDef& command, std::span<const std::string> words)
      : command_(command), words_(words) {
    options_.command = *command.command;
    options_.words.emplace_back(command.name);
  }

  std::variant<Options, Answer> parse() {
    while (at_ < words_.size() && !answer_) {
      const std::size_t first = at_++;
      const std::string& word = words_[first];
      if (word.size() > 1 && word.front() == '-') {
        take_option(word);
      } else {
        take_word(word);
      }
      if (word != "-n") {
        const auto taken = words_.subspan(first, at_ - first);
        options_.words.insert(options_.words.end(), taken.begin(), taken.end());
      }
    }
    if (!answer_ && options_.file.empty() && takes_file(options_.command)) {
      fail("which file? it is used as `mtf " + std::string(command_.name) + " " +
           std::string(command_.words) + "`");
    }
    if (!answer_ && options_.command == Command::kDiff && options_.layouts.size() < 2) {
      fail("which two layouts? it is used as `mtf " + std::string(command_.name) + " " +
           std::string(command_.words) + "`");
    }
    if (!answer_ && options_.command == Command::kWhy && options_.value.empty()) {
      fail("of what? a value, a line as `:18`, a collective as `all_reduce`, or `memory`");
    }
    if (!answer_ && options_.trace.empty() &&
        options_.steps_end != std::numeric_limits<std::int64_t>::max()) {
      fail("`--steps` says what a trace has; `--trace FILE` writes one");
    }
    if (!answer_ && options_.fast && options_.exact) {
      fail("`--exact` and `--fast` exclude each other");
    }
    if (answer_) {
      return *std::move(answer_);
    }
    return std::move(options_);
  }

 private:
  void fail(const std::string& text) {
    answer_ = usage_error(std::string(command_.name) + ": " + text);
  }

  void take_option(const std::string& word) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const auto* def = std::ranges::find_if(kOptions, [&](const OptionDef& option) {
      return (option.commands & bit(options_.command)) != 0 &&
             (name == option.name || name == option.letter);
    });
    if (def == kOptions.end()) {
      unknown_option(name);
      return;
    }
    if (def->set == nullptr) {
      answer_ = Answer{.text = page(command_)};
      return;
    }
    std::optional<std::string> value;
    if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (!def->value.empty() && at_ < words_.size()) {
      value = words_[at_++];
    }
    if (value.has_value() == def->value.empty()) {
      fail("`" + name + "` takes " + (def->value.empty() ? "no value" : "a value: ") +
           std::string(def->help));
    } else if (!def->set(options_, value.value_or(""))) {
      fail("`" + *value + "` is no value for `" + name + "`: " + std::string(def->help));
    }
  }

  void unknown_option(const std::string& name) {
    std::vector<std::string> candidates;
    for (const OptionDef& def : kOptions) {
      if ((def.commands & bit(options_.command)) != 0 && !def.name.empty()) {
        candidates.emplace_back(def.name);
      }
    }
    fail("no option `" + name + "`" +
         did_you_mean(name, candidates,
                      "; `mtf " + std::string(command_.name) + " --help` lists them"));
  }

  void take_word(const std::string& word) {
    const bool names =
        (bit(options_.command) & (bit(Command::kOps) | kPlan | kCost | kDiff | kWhy)) != 0;
    if (takes_file(options_.command) && options_.file.empty()) {
      options_.file = word;
    } else if (options_.command == Command::kDiff && options_.layouts.size() < 2) {
      options_.layouts.push_back(word);
    } else if (options_.command == Command::kWhy && options_.value.empty()) {
      options_.value = word;
    } else if (names && options_.name.empty()) {
      options_.name = word;
    } else {
      fail("`" + word + "` is one word too many");
    }
  }

  const CommandDef& command_;
  std::span<const std::string> words_;
  std::size_t at_ = 0;
  Options options_;
  std::optional<Answer> answer_;
};

Answer unknown_command(std::string_view word) {
  return usage_error("no command `" + std::string(word) + "`" +
                     did_you_mean(word, names_of(kCommands)));
}

// `mtf FILE`: a word that looks like a file, or an option in front of one, means `run`.
bool means_run(std::string_view word) {
  return word.starts_with("-") || word.find_first_of("./") != std::string_view::npos;
}

}  // namespace

std::variant<Options, Answer> parse_options(std::span<const std::string> args) {
  if (args.empty()) {
    return Answer{.text = overview(), .status = kUsageError};
  }
  const std::string& first = args.front();
  if (first == "--help" || first == "-h" || first == "help") {
    return Answer{.text = overview()};
  }
  if (first == "--version") {
    return Answer{.text = std::string(kVersion) + "\n"};
  }
  const auto* def = std::ranges::find(kCommands, first, &CommandDef::name);
  if (def == kCommands.end()) {
    return means_run(first) ? Parser(kCommands.front(), args).parse() : unknown_command(first);
  }
  if (!def->command) {
    return usage_error("`mtf " + first + "` is not built yet");
  }
  return Parser(*def, args.subspan(1)).parse();
}

}  // namespace mtf
