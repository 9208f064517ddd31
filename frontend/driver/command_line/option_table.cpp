// The options: one row each, with the commands that take it.

#include <algorithm>
#include <charconv>

#include "frontend/driver/command_line/tables.h"
#include "frontend/driver/metrics/metrics_file.h"
#include "frontend/elaborate.h"
#include "ir/support/text/parse_number.h"
#include "ir/support/units.h"

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

template <auto member>
bool set_text(Options& options, std::string_view text) {
  options.*member = text;
  return !text.empty();
}

template <auto member>
bool set_search_text(Options& options, std::string_view text) {
  options.search.*member = text;
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

template <auto member>
bool set_search_flag(Options& options, std::string_view /*none*/) {
  options.search.*member = true;
  return true;
}

template <typename Number>
bool read_number(std::string_view text, Number& number) {
  const auto read = parse_number<Number>(text);
  number = read.value_or(number);
  return read && number >= 0;
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
  return are_settings(text);
}

bool set_precision(Options& options, std::string_view text) {
  options.precision = text;
  return precision_named(text).has_value();
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

bool set_max_memory(Options& options, std::string_view text) {
  return set_number<&Options::max_memory>(options, text) && options.max_memory >= 1;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(", "), text.size());
    if (end > 0) {
      names.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

bool set_searched_ranks(Options& options, std::string_view text) {
  std::set<std::int64_t> all;
  for (const std::string& word : names_in(text)) {
    const std::int64_t ranks = parse_number<std::int64_t>(word).value_or(0);
    if (ranks < 1 || ranks > (1 << 20)) {
      return false;
    }
    all.insert(ranks);
  }
  options.search.ranks.assign(all.begin(), all.end());
  return !options.search.ranks.empty();
}

bool set_axes(Options& options, std::string_view text) {
  return read_number(text, options.search.axes) && options.search.axes >= 1 &&
         options.search.axes <= 4;
}

// "16GiB", "500 MB", "1024" of the first of the units; 0 for what is no amount.
double amount_in(std::string_view text, std::span<const NamedFactor> units) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  unit = unit.empty() ? units.front().first : unit;
  const auto found = std::ranges::find(units, unit, &NamedFactor::first);
  return error == std::errc{} && found != units.end() ? number * found->second : 0;
}

bool set_memory(Options& options, std::string_view text) {
  const double bytes = amount_in(text, kByteUnits);
  const bool is_amount = bytes >= 1 && bytes <= 1e18;  // which `nan` is not
  options.search.memory = is_amount ? static_cast<std::uint64_t>(bytes) : 0;
  return is_amount;
}

bool set_explain(Options& options, std::string_view text) {
  options.search.explain = text;
  const std::size_t arrow = text.find("->");
  return arrow != std::string_view::npos && text.find_first_not_of(' ') < arrow;
}

bool set_sensitivity(Options& options, std::string_view text) {
  options.search.sensitivity = text;
  return text == "bandwidth" || text == "latency" || text == "flops" || text == "memory_bandwidth";
}

// "batch", or "batch=16".
bool set_scale(Options& options, std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  options.search.scale = text.substr(0, equals);
  options.search.scale_each = 0;
  const bool is_whole = equals == text.size();
  return !options.search.scale.empty() &&
         (is_whole || (read_number(text.substr(equals + 1), options.search.scale_each) &&
                       options.search.scale_each >= 1));
}

bool set_objective(Options& options, std::string_view text) {
  options.search.objective = text;
  return text == "time" || text == "memory" || text == "bytes";
}

bool set_budget(Options& options, std::string_view text) {
  constexpr double kMost = 86'400;
  options.search.budget = amount_in(text, kTimeUnits);
  return options.search.budget > 0 && options.search.budget <= kMost;
}

bool add_whole(Options& options, std::string_view text) {
  std::ranges::move(names_in(text), std::back_inserter(options.search.whole));
  return !options.search.whole.empty();
}

bool set_over(Options& options, std::string_view text) {
  constexpr std::array kKinds = std::to_array<std::string_view>(
      {"none", "rules", "params", "rest", "gather", "recompute", "lets", "infer"});
  for (const std::string& name : names_in(text)) {
    if (std::ranges::find(kKinds, name) == kKinds.end()) {
      return false;
    }
    options.search.over.insert(name);
  }
  return !options.search.over.empty();
}

bool set_timeout(Options& options, std::string_view text) {
  const std::uint32_t seconds = parse_number<std::uint32_t>(text).value_or(0);
  options.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  return seconds >= 1 && seconds <= 1'000'000'000;
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

bool set_picture(Options& options, std::string_view text) {
  options.plot = text;
  return text.find('.', text.rfind('/') + 1) == std::string_view::npos || text.ends_with(".svg");
}

bool add_metrics(Options& options, std::string_view text) {
  options.metrics.emplace_back(text);
  return is_metrics_path(text);
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
