// The options: one row each, with the commands that take it.

#include <algorithm>
#include <charconv>

#include "frontend/driver/command_line/tables.h"

namespace mtf {
namespace {

constexpr unsigned bit(Command command) {
  return 1U << static_cast<unsigned>(command);
}
constexpr unsigned kRun = bit(Command::kRun);
constexpr unsigned kPlan = bit(Command::kPlan);
constexpr unsigned kCost = bit(Command::kCost);
constexpr unsigned kDiff = bit(Command::kDiff);
constexpr unsigned kWhy = bit(Command::kWhy);
constexpr unsigned kPicture = bit(Command::kShow);
constexpr unsigned kRepl = bit(Command::kRepl);
constexpr unsigned kExecuting = kRun | kRepl | bit(Command::kVerify);
constexpr unsigned kShowing = kRun | bit(Command::kCheck) | kPlan;
constexpr unsigned kWithLayout = kExecuting | kShowing | kCost | kWhy | kPicture;
constexpr unsigned kWithFile = kWithLayout | kDiff;
constexpr unsigned kAnswering =
    kWithFile | bit(Command::kOps) | bit(Command::kDoc) | bit(Command::kDoctor) | kPicture;

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

bool add_input(Options& options, std::string_view /*none*/) {
  options.files.emplace_back("-");
  return true;
}

bool add_setting(Options& options, std::string_view text) {
  std::string lines(text);
  std::ranges::replace(lines, ',', '\n');
  options.settings += (options.settings.empty() ? "" : "\n") + lines;
  return text.find('=') != std::string_view::npos;
}

bool set_rank(Options& options, std::string_view text) {
  const bool read = set_number<&Options::rank>(options, text);
  options.marked = options.rank;
  return read;
}

bool set_depth(Options& options, std::string_view text) {
  options.depth = 0;
  return read_number(text, *options.depth) && *options.depth >= 1 && *options.depth <= 4;
}

bool set_width(Options& options, std::string_view text) {
  constexpr std::size_t kNarrowest = 40;
  options.width = 0;
  return read_number(text, *options.width) && *options.width >= kNarrowest;
}

bool set_ranks(Options& options, std::string_view text) {
  return set_number<&Options::ranks>(options, text) && options.ranks >= 1 && options.ranks <= 65536;
}

bool set_timeout(Options& options, std::string_view text) {
  constexpr std::uint32_t kMost = 1'000'000'000;
  std::uint32_t seconds = 0;
  const bool read = read_number(text, seconds);
  options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  return read && seconds >= 1 && seconds <= kMost;
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

bool set_format(Options& options, std::string_view text) {
  options.json_lines = text == "jsonl";
  options.json = text != "text";
  return text == "text" || text == "json" || text == "jsonl";
}

constexpr std::array kOptions = std::to_array<OptionDef>({
    {"", "-n", "N", "start N ranks under mpirun", kRun, set_ranks},
    {"--layout", "", "NAME", "the layout to use", kWithLayout, set_text<&Options::layout>,
     Offer::kLayouts},
    {"--mesh", "", "SIZES", "other sizes of mesh axes: \"rows=4,cols=2\"", kWithFile,
     set_text<&Options::mesh>},
    {"--rules", "", "RULES", "a layout's rules: \"batch:rows;hidden:cols\"", kWithFile, set_rules},
    {"--set", "", "NAME=TEXT", "what `setting(NAME, …)` is; several are separated by commas",
     kWithFile, add_setting},
    {"--hardware", "", "NAME", "the profile to price with, instead of the mesh's",
     kCost | kDiff | kRun, set_text<&Options::hardware>},
    {"--rank", "", "N", "the rank to show", kPlan | kPicture, set_rank},
    {"--only", "", "WHAT",
     "of a plan: `collectives`, `kernels`, or what is called so: \"layer_0/*\"", kPlan,
     set_text<&Options::only>},
    {"--depth", "", "N",
     "of a plan: 1, its repeated blocks; 2, what is in them; 3, products and collectives; 4, all "
     "steps",
     kPlan, set_depth, Offer::kChoices, "1 2 3 4"},
    {"--all", "", "", "of a plan: repeated blocks as often as they are there", kPlan,
     set_flag<&Options::all>},
    {"--width", "", "N", "columns of the output, instead of the terminal's", kPlan | kPicture,
     set_width},
    {"--ascii", "", "", "no lines but of `+`, `-` and `|`", kPicture, set_flag<&Options::ascii>},
    {"--script", "", "FILE", "read the file as if it were typed, with an echo: a transcript", kRepl,
     set_text<&Options::script>, Offer::kFiles},
    {"--count", "", "", "report what each rank computed, sent and held", kRun,
     set_flag<&Options::count>},
    {"--profile", "", "", "report where the time went: by entry, step, collective and kernel", kRun,
     set_flag<&Options::profile>},
    {"--trace", "", "FILE", "write what each rank did when, for ui.perfetto.dev", kRun,
     set_text<&Options::trace>, Offer::kFiles},
    {"--steps", "", "A..B", "steps of each entry that the trace has, from 0 and without B: 10..20",
     kRun, set_steps},
    {"--nan", "", "WHAT",
     "what a loss does that is not finite: warn, or error, which stops all ranks", kRun, set_nan,
     Offer::kChoices, "warn error"},
    {"--max-memory", "", "MIB", "refuse to hold more, over all ranks of this machine", kExecuting,
     set_number<&Options::max_memory>},
    {"--timeout", "", "SECONDS", "stop a program that goes on for longer", kExecuting, set_timeout},
    {"--seed", "", "N", "of the program's random numbers", kExecuting, set_number<&Options::seed>},
    {"--exact", "", "", "the same bits on every layout (the default)",
     kExecuting | kPlan | kCost | kDiff, set_flag<&Options::exact>},
    {"--fast", "", "", "sums in any order", kExecuting | kPlan | kCost | kDiff | kWhy | kPicture,
     set_flag<&Options::fast>},
    {"--json", "", "", "print one JSON object, errors included", kAnswering,
     set_flag<&Options::json>},
    {"--format", "", "FORM",
     "of the output: text, json (as --json), or jsonl, one object a line as they come", kRun,
     set_format, Offer::kChoices, "text json jsonl"},
    {"--html", "", "DIR", "write the language, the operations and the library as a site",
     bit(Command::kDoc), set_text<&Options::html>, Offer::kFiles},
    {"--check", "", "", "change nothing; name the files that would change, with status 1",
     bit(Command::kFmt), set_flag<&Options::check>},
    {"--stdin", "", "", "read standard input and write to standard output, as `-` does",
     bit(Command::kFmt), add_input},
    {"--lint", "", "", "warn of what is legal and wasteful, too", bit(Command::kCheck),
     set_flag<&Options::lint>},
    {"--strict", "", "", "warnings end with status 1, too", bit(Command::kCheck),
     set_flag<&Options::strict>},
    {"--emit", "", "PHASE", "print the program after ast, ir, grad, sharded or spmd; run nothing",
     kShowing, set_emit, Offer::kChoices, "ast ir grad sharded spmd"},
    {"--color", "", "WHEN", "color in messages: auto, always or never",
     kWithFile | bit(Command::kFmt) | bit(Command::kDoc), set_color, Offer::kChoices,
     "auto always never"},
    {"--verbose", "-v", "", "show the mpirun line", kRun, set_flag<&Options::verbose>},
    {"--help", "-h", "", "this page", ~0U},
});

}  // namespace

std::span<const OptionDef> all_options() {
  return kOptions;
}

bool takes(const CommandDef& command, const OptionDef& option) {
  return (option.commands & bit(command.command)) != 0;
}

std::string form_of(const OptionDef& option) {
  const bool both = !option.name.empty() && !option.letter.empty();
  return std::string(option.letter) + (both ? ", " : "") + std::string(option.name) +
         (option.value.empty() ? "" : " ") + std::string(option.value);
}

}  // namespace mtf
