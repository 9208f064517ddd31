#include "frontend/driver/command_line/tables.h"

#include <algorithm>
#include <charconv>

namespace mtf {
namespace {

template <auto member>
void take_text(Options& options, std::string_view text) {
  options.*member = text;
}

void take_layout(Options& options, std::string_view text) {
  options.layouts.emplace_back(text);
}

constexpr WordDef kFile{.name = "FILE",
                        .missing = "which file?",
                        .offer = Offer::kPrograms,
                        .choices = "",
                        .take = take_text<&Options::file>};
constexpr WordDef kEntry{.name = "ENTRY",
                         .missing = "",
                         .offer = Offer::kEntries,
                         .choices = "",
                         .take = take_text<&Options::name>};
constexpr WordDef kLayout{.name = "LAYOUT",
                          .missing = "which two layouts?",
                          .offer = Offer::kLayouts,
                          .choices = "",
                          .take = take_layout};
constexpr WordDef kValue{
    .name = "VALUE",
    .missing = "of what? a value, a line as `:18`, a collective as `all_reduce`, or `memory`",
    .offer = Offer::kNothing,
    .choices = "",
    .take = take_text<&Options::value>};
constexpr WordDef kOperation{.name = "NAME",
                             .missing = "",
                             .offer = Offer::kOperations,
                             .choices = "",
                             .take = take_text<&Options::name>};
constexpr WordDef kShell{.name = "SHELL",
                         .missing = "for which shell? bash, zsh or fish",
                         .offer = Offer::kChoices,
                         .choices = "bash zsh fish layouts entries",
                         .take = take_text<&Options::name>};

constexpr WordDef kMaybeFile{.name = "FILE",
                             .missing = "",
                             .offer = Offer::kPrograms,
                             .choices = "",
                             .take = take_text<&Options::file>};
constexpr std::array kNoFileOrOne = {kMaybeFile};
constexpr std::array kOneFile = {kFile};
constexpr std::array kFileAndEntry = {kFile, kEntry};
constexpr std::array kFileAndLayouts = {kFile, kLayout, kLayout, kEntry};
constexpr std::array kFileAndValue = {kFile, kValue, kEntry};
constexpr std::array kOneOperation = {kOperation};
constexpr std::array kShellAndFile = {kShell, kMaybeFile};

constexpr std::array kAllCommands = std::to_array<CommandDef>({
    {"run",
     Command::kRun,
     kOneFile,
     "run a program; `mtf FILE` is the same",
     {{{"mtf run examples/two_layer.mtf --layout both", "in one process, on a simulated mesh"},
       {"mtf run -n 4 examples/two_layer.mtf --layout both --profile",
        "on four ranks, and where the time went"}}}},
    {"check",
     Command::kCheck,
     kOneFile,
     "report errors of the program and its layouts; run nothing",
     {{{"mtf check examples/two_layer.mtf", "under every layout that the file declares"},
       {"mtf check --lint --layout both examples/two_layer.mtf",
        "one of them, and what it wastes"}}}},
    {"plan",
     Command::kPlan,
     kFileAndEntry,
     "show what one rank does, step by step; run nothing",
     {{{"mtf plan examples/two_layer.mtf train_step --layout both", "the steps of rank 0"},
       {"mtf plan examples/two_layer.mtf --layout both --mesh rows=16,cols=32 --rank 511",
        "on 512 ranks that need not be here"}}}},
    {"cost",
     Command::kCost,
     kFileAndEntry,
     "price the layouts side by side: compute, communication, memory, time",
     {{{"mtf cost examples/two_layer.mtf --hardware tpu_v3", "on hardware that need not be here"},
       {"mtf cost examples/two_layer.mtf train_step --layout both --json",
        "one layout, for a script"}}}},
    {"calibrate",
     Command::kCalibrate,
     {},
     "measure this machine, for the prices of `of this_machine`",
     {{{"mtf calibrate", "some minutes, on a machine that does nothing else"},
       {"mtf calibrate && mtf cost examples/two_layer.mtf --hardware this_machine",
        "and what a program takes here"}}}},
    {"diff",
     Command::kDiff,
     kFileAndLayouts,
     "what changes from one layout to another; `none` is one rank",
     {{{"mtf diff examples/two_layer.mtf data_parallel both train_step",
        "from one layout to another"},
       {"mtf diff examples/two_layer.mtf none both", "what splitting costs at all"}}}},
    {"why",
     Command::kWhy,
     kFileAndValue,
     "say why a value lies as it does, why a collective is there, what fills the memory",
     {{{"mtf why examples/two_layer.mtf h train_step --layout both", "why `h` lies as it does"},
       {"mtf why examples/two_layer.mtf memory train_step --layout both",
        "what is alive at the peak"}}}},
    {"show",
     Command::kShow,
     kFileAndValue,
     "draw which ranks hold which blocks of a value",
     {{{"mtf show examples/two_layer.mtf h train_step --layout both", "a grid of ranks"},
       {"mtf show examples/two_layer.mtf %8 train_step --layout both --rank 3 --ascii",
        "what one rank holds, in plain characters"}}}},
    {"verify",
     Command::kVerify,
     kOneFile,
     "run on one rank and under every layout, and compare",
     {{{"mtf verify examples/two_layer.mtf", "every layout gives the same bits"},
       {"mtf verify examples/two_layer.mtf --fast --layout both",
        "how far sums in any order are from them"}}}},
    {"ops",
     Command::kOps,
     kOneOperation,
     "list the operations, or explain one",
     {{{"mtf ops einsum", "its forms, parameters, dims and an example"},
       {"mtf ops --json", "all of them, for editors"}}}},
    {"doctor",
     Command::kDoctor,
     {},
     "check what runs need: MPI, shared memory, cores, instructions, calibration",
     {{{"mtf doctor", "each finding, and what mends it"},
       {"mtf doctor --json", "the same for a script"}}}},
    {"repl",
     Command::kRepl,
     kNoFileOrOne,
     "explore: statements are answered as they are typed; `:help` in it",
     {{{"mtf repl examples/two_layer.mtf", "with what the file declares"},
       {"echo ':plan train_step' | mtf repl --layout both examples/two_layer.mtf",
        "questions from a script"}}}},
    {"completion",
     Command::kCompletion,
     kShellAndFile,
     "print a script by which a shell completes this command, or what it asks of FILE for that",
     {{{"source <(mtf completion bash)", "in ~/.bashrc"},
       {"mtf completion zsh > _mtf",
        "in a folder of $fpath; `fish`: ~/.config/fish/completions"}}}},
    {"man",
     Command::kMan,
     {},
     "print the manual page",
     {{{"mtf man > mtf.1", "`man -l mtf.1` shows it"},
       {"mtf man | gzip > mtf.1.gz", "as /usr/local/share/man/man1 has them"}}}},
});

constexpr auto kLater = std::to_array<std::string_view>({"search", "fmt", "doc"});

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
constexpr unsigned kAnswering = kWithFile | bit(Command::kOps) | bit(Command::kDoctor) | kPicture;

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
    {"--lint", "", "", "warn of what is legal and wasteful, too", bit(Command::kCheck),
     set_flag<&Options::lint>},
    {"--strict", "", "", "warnings end with status 1, too", bit(Command::kCheck),
     set_flag<&Options::strict>},
    {"--emit", "", "PHASE", "print the program after ast, ir, grad, sharded or spmd; run nothing",
     kShowing, set_emit, Offer::kChoices, "ast ir grad sharded spmd"},
    {"--color", "", "WHEN", "color in messages: auto, always or never", kWithFile, set_color,
     Offer::kChoices, "auto always never"},
    {"--verbose", "-v", "", "show the mpirun line", kRun, set_flag<&Options::verbose>},
    {"--help", "-h", "", "this page", ~0U},
});

}  // namespace

std::span<const CommandDef> all_commands() {
  return kAllCommands;
}

std::span<const OptionDef> all_options() {
  return kOptions;
}

std::span<const std::string_view> later_commands() {
  return kLater;
}

const CommandDef* find_command(std::string_view name) {
  const auto* found = std::ranges::find(kAllCommands, name, &CommandDef::name);
  return found == kAllCommands.end() ? nullptr : found;
}

bool takes(const CommandDef& command, const OptionDef& option) {
  return (option.commands & bit(command.command)) != 0;
}

std::string usage_of(const CommandDef& command) {
  std::string text = "mtf " + std::string(command.name);
  for (const WordDef& word : command.words) {
    const std::string name(word.name);
    text += " " + (word.missing.empty() ? "[" + name + "]" : name);
  }
  return text;
}

std::string form_of(const OptionDef& option) {
  const bool both = !option.name.empty() && !option.letter.empty();
  return std::string(option.letter) + (both ? ", " : "") + std::string(option.name) +
         (option.value.empty() ? "" : " ") + std::string(option.value);
}

}  // namespace mtf
