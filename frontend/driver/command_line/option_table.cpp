// The options: one row each, with the commands that take it.

#include <array>

#include "frontend/driver/command_line/option_setters.h"
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
constexpr unsigned kWatch = bit(Command::kWatch);
constexpr unsigned kSearch = bit(Command::kSearch);
constexpr unsigned kExecuting = kRun | kRepl | bit(Command::kVerify);
constexpr unsigned kShowing = kRun | bit(Command::kCheck) | kPlan;
constexpr unsigned kWithLayout = kExecuting | kShowing | kCost | kSearch | kWhy | kPicture;
constexpr unsigned kWithFile = kWithLayout | kDiff;
constexpr unsigned kAnswering =
    kWithFile | bit(Command::kOps) | bit(Command::kDoc) | bit(Command::kDoctor) | kPicture;

constexpr std::array kOptions = std::to_array<OptionDef>({
    {"", "-n", "N", "start N ranks under mpirun", kRun, set_ranks},
    {"--layout", "", "NAME", "the layout to use; `none`: one rank", kWithLayout,
     set_text<&Options::layout>, Offer::kLayouts},
    {"--mesh", "", "SIZES", "other sizes of mesh axes: \"rows=4,cols=2\"", kWithFile,
     set_text<&Options::mesh>},
    {"--rules", "", "RULES", "a layout's rules: \"batch:rows;hidden:cols\"", kWithFile, set_rules},
    {"--set", "", "NAME=TEXT", "what `setting(NAME, …)` is; several are separated by commas",
     kWithFile, add_setting},
    {"--precision", "", "DTYPE",
     "of products and activations, as `with precision` around the program: bf16, f16, or "
     "\"bf16,gradients=bf16\"",
     kWithFile, set_precision, Offer::kChoices, "bf16 f16 f32"},
    {"--hardware", "", "NAME", "the profile to price with, instead of the mesh's",
     kCost | kSearch | kDiff | kRun, set_text<&Options::hardware>},
    {"--ranks", "", "N", "search all meshes of so many ranks; of --scale and --fit several: 1,6,48",
     kSearch, set_searched_ranks},
    {"--axes", "", "N", "axes that such a mesh may have: 1 to 4", kSearch, set_axes},
    {"--on", "", "MESH", "the mesh, where the file declares several", kSearch,
     set_search_text<&SearchOptions::mesh>},
    {"--memory", "", "SIZE", "what a rank may hold, as 16GiB, instead of what the hardware has",
     kSearch, set_memory},
    {"--objective", "", "WHAT", "what is to be least: time, memory, or bytes received", kSearch,
     set_objective, Offer::kChoices, "time memory bytes"},
    {"--budget", "", "TIME", "how long a common machine would search, as 10s or 500ms", kSearch,
     set_budget},
    {"--keep-whole", "", "DIMS", "dims that are not to be split, separated by commas", kSearch,
     add_whole},
    {"--over", "", "WHAT",
     "what may vary beside rules, by commas: params, lets, rest, gather, recompute, infer, or none",
     kSearch, set_over},
    {"--explain", "", "RULE", "why a rule is not in the answer: \"batch->rows\"", kSearch,
     set_explain},
    {"--fit", "", "", "on as few ranks as the memory of one allows", kSearch,
     set_search_flag<&SearchOptions::fit>},
    {"--scale", "", "DIM",
     "the best layouts as ranks grow from 1 to 4096 and the dim with them; `batch=16`: by 16 a "
     "rank",
     kSearch, set_scale},
    {"--sensitivity", "", "WHAT",
     "how the answer changes with the hardware's bandwidth, latency, flops or memory_bandwidth",
     kSearch, set_sensitivity, Offer::kChoices, "bandwidth latency flops memory_bandwidth"},
    {"--write", "", "", "put the layout that is found into the file", kSearch,
     set_search_flag<&SearchOptions::write>},
    {"--plot", "", "", "draw all layouts, time over memory", kSearch,
     set_search_flag<&SearchOptions::plot>},
    {"--svg", "", "FILE", "write that picture", kSearch, set_search_text<&SearchOptions::svg>,
     Offer::kFiles},
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
    {"--width", "", "N", "columns of the output, instead of the terminal's",
     kPlan | kPicture | kWatch, set_width},
    {"--ascii", "", "", "no lines but of `+`, `-` and `|`", kPicture | kWatch,
     set_flag<&Options::ascii>},
    {"--script", "", "FILE",
     "behind the program, read the file as if it were typed, with an echo: a transcript", kRepl,
     set_text<&Options::script>, Offer::kFiles},
    {"--count", "", "", "report what each rank computed, sent and held", kRun,
     set_flag<&Options::count>},
    {"--profile", "", "", "report where the time went: by entry, step, collective and kernel", kRun,
     set_flag<&Options::profile>},
    {"--trace", "", "FILE", "write what each rank did when, for ui.perfetto.dev", kRun,
     set_text<&Options::trace>, Offer::kFiles},
    {"--steps", "", "A..B", "steps of each entry that the trace has, from 0 and without B: 10..20",
     kRun, set_steps},
    {"--metrics", "", "FILE",
     "write what each step of training says: x.jsonl, x.csv, or a folder x/ for TensorBoard", kRun,
     add_metrics, Offer::kFiles},
    {"--once", "", "", "draw what there is, and end", kWatch, set_flag<&Options::once>},
    {"--plot", "", "FILE", "write the curves as a picture, x.svg", kWatch, set_picture,
     Offer::kFiles},
    {"--nan", "", "WHAT",
     "what a loss does that is not finite: warn, or error, which stops all ranks", kRun, set_nan,
     Offer::kChoices, "warn error"},
    {"--check-nan", "", "",
     "stop at the first value that is not finite, and say where it came from", kRun,
     set_flag<&Options::check_nan>},
    {"--max-memory", "", "MIB", "refuse to hold more, over all ranks of this machine", kExecuting,
     set_max_memory},
    {"--timeout", "", "SECONDS", "stop a program that goes on for longer", kExecuting, set_timeout},
    {"--hang-timeout", "", "SECONDS", "end all ranks where some wait for others for longer", kRun,
     set_hang_timeout},
    {"--seed", "", "N", "seed of all random numbers", kExecuting, set_number<&Options::seed>},
    {"--exact", "", "", "the same bits on every layout (the default)",
     kExecuting | kPlan | kCost | kSearch | kDiff, set_flag<&Options::exact>},
    {"--fast", "", "", "sums in any order",
     kExecuting | kPlan | kCost | kSearch | kDiff | kWhy | kPicture, set_flag<&Options::fast>},
    {"--locked", "", "", "no layout that is `auto` is searched anew", kWithFile,
     set_flag<&Options::locked>},
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
    {"--clean", "", "",
     "remove what runs that were killed have left in shared memory and temporary files, and put "
     "back files that a killed `mtf verify` could not",
     bit(Command::kDoctor), set_flag<&Options::clean>},
    {"--lint", "", "", "warn of what is legal and wasteful, too", bit(Command::kCheck),
     set_flag<&Options::lint>},
    {"--strict", "", "", "warnings end with status 1, too", bit(Command::kCheck),
     set_flag<&Options::strict>},
    {"--emit", "", "PHASE", "print the program after ast, ir, grad, sharded or spmd; run nothing",
     kShowing, set_emit, Offer::kChoices, "ast ir grad sharded spmd"},
    {"--color", "", "WHEN", "color in messages: auto, always or never", ~0U, set_color,
     Offer::kChoices, "auto always never"},
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

std::vector<std::string> option_names(const CommandDef& command) {
  std::vector<std::string> names;
  for (const OptionDef& option : all_options()) {
    if (takes(command, option)) {
      names.emplace_back(option.name.empty() ? option.letter : option.name);
    }
  }
  return names;
}

std::string form_of(const OptionDef& option) {
  const bool both = !option.name.empty() && !option.letter.empty();
  return std::string(option.letter) + (both ? ", " : "") + std::string(option.name) +
         (option.value.empty() ? "" : " ") + std::string(option.value);
}

}  // namespace mtf
