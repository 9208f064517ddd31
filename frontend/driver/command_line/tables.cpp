#include "frontend/driver/command_line/tables.h"

#include <algorithm>

namespace mtf {
namespace {

template <auto member>
void take_text(Options& options, std::string_view text) {
  options.*member = text;
}

void take_layout(Options& options, std::string_view text) {
  options.layouts.emplace_back(text);
}

void take_file(Options& options, std::string_view text) {
  options.files.emplace_back(text);
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
constexpr WordDef kShown{.name = "VALUE",
                         .missing = "of what? a value, as `h` or `%8`, or `mesh`",
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
constexpr WordDef kSomeFiles{.name = "FILE",
                             .missing = "",
                             .offer = Offer::kPrograms,
                             .choices = "",
                             .take = take_file,
                             .many = true};
constexpr std::array kFilesToFormat = {kSomeFiles};
constexpr std::array kNoFileOrOne = {kMaybeFile};
constexpr std::array kOneFile = {kFile};
constexpr std::array kFileAndEntry = {kFile, kEntry};
constexpr std::array kFileAndLayouts = {kFile, kLayout, kLayout, kEntry};
constexpr std::array kFileAndValue = {kFile, kValue, kEntry};
constexpr std::array kFileAndShown = {kFile, kShown, kEntry};
constexpr WordDef kMetrics{.name = "FILE",
                           .missing = "which file? x.jsonl or x.csv, as `--metrics` writes it",
                           .offer = Offer::kFiles,
                           .choices = "",
                           .take = take_text<&Options::file>};
constexpr std::array kOneMetrics = {kMetrics};
constexpr WordDef kModule{.name = "MODULE[.NAME]",
                          .missing = "",
                          .offer = Offer::kModules,
                          .choices = "",
                          .take = take_text<&Options::name>};
constexpr WordDef kMember{.name = "NAME",
                          .missing = "",
                          .offer = Offer::kNothing,
                          .choices = "",
                          .take = take_text<&Options::value>};
constexpr std::array kModuleAndName = {kModule, kMember};
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
    {"search",
     Command::kSearch,
     kFileAndEntry,
     "find the layout that costs least, and say why",
     {{{"mtf search examples/two_layer.mtf train_step", "on the mesh that the file declares"},
       {"mtf search examples/two_layer.mtf --ranks 64 --hardware tpu_v3",
        "on the best mesh of 64 ranks"}}}},
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
     kFileAndShown,
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
    {"watch",
     Command::kWatch,
     kOneMetrics,
     "draw the curves of a file, or of all runs in a folder, that `--metrics` writes",
     {{{"mtf run examples/two_layer.mtf --metrics two_layer.jsonl && mtf watch --once "
        "two_layer.jsonl",
        "of a run that has ended"},
       {"mtf watch --once --plot two_layer.svg two_layer.jsonl", "and as a picture"}}}},
    {"ops",
     Command::kOps,
     kOneOperation,
     "list the operations, or explain one",
     {{{"mtf ops einsum", "its forms, parameters, dims and an example"},
       {"mtf ops --json", "all of them, for editors"}}}},
    {"doc",
     Command::kDoc,
     kModuleAndName,
     "list the modules of the library, or explain one, one of its functions, a file's, or the "
     "language",
     {{{"mtf doc nn.dense", "what it computes, its arguments and an example"},
       {"mtf doc language layouts", "what the reference of the language says of them"}}}},
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
    {"fmt",
     Command::kFmt,
     kFilesToFormat,
     "give files the standard layout; what they say stays the same",
     {{{"mtf fmt --check examples/two_layer.mtf", "whether it has it already, for a script"},
       {"mtf fmt --stdin < examples/two_layer.mtf", "to standard output, for an editor"}}}},
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

}  // namespace

std::span<const CommandDef> all_commands() {
  return kAllCommands;
}

const CommandDef* find_command(std::string_view name) {
  const auto* found = std::ranges::find(kAllCommands, name, &CommandDef::name);
  return found == kAllCommands.end() ? nullptr : found;
}

std::string usage_of(const CommandDef& command) {
  std::string text = "mtf " + std::string(command.name);
  for (const WordDef& word : command.words) {
    const std::string name(word.name);
    text += " " + (word.many ? name + "…" : word.missing.empty() ? "[" + name + "]" : name);
  }
  return text;
}

}  // namespace mtf
