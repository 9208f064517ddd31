#include "frontend/driver/command_line/option_setters.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/driver/command_line/tables.h"
#include "frontend/driver/metrics/metrics_file.h"
#include "frontend/elaborate.h"
#include "ir/support/text/lists.h"
#include "ir/support/units.h"

namespace mtf {
namespace {

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

std::optional<std::chrono::seconds> seconds_in(std::string_view text) {
  const std::uint32_t seconds = parse_number<std::uint32_t>(text).value_or(0);
  return seconds >= 1 && seconds <= 1'000'000'000 ? std::optional(std::chrono::seconds(seconds))
                                                  : std::nullopt;
}

}  // namespace

// No rules are rules, too: a blank, which has none, where not given is empty.
bool set_rules(Options& options, std::string_view text) {
  options.rules = text.empty() ? " " : text;
  return true;
}

bool add_input(Options& options, std::string_view /*none*/) {
  options.files.emplace_back("-");
  return true;
}

bool add_setting(Options& options, std::string_view text) {
  for (const std::string_view part : pieces_of(text, ',')) {
    options.settings.emplace_back(part);
  }
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
  const std::optional<std::chrono::seconds> time = seconds_in(text);
  options.deadline = std::chrono::steady_clock::now() + time.value_or(std::chrono::seconds(0));
  return time.has_value();
}

bool set_hang_timeout(Options& options, std::string_view text) {
  options.hang_timeout = seconds_in(text).value_or(std::chrono::seconds(0));
  return options.hang_timeout.count() > 0;
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

}  // namespace mtf
