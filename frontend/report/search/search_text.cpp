// The answer of `mtf search` for people.

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/search/search_report.h"
#include "ir/support/columns.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

std::string title(const SearchReport& report) {
  const Layout& layout = report.front[report.best].layout;
  std::string text = entries_text(report.entries) + ": the least " +
                     std::string(name_of(report.goal.objective)) + " on " +
                     count_text(layout.mesh.ranks(), "rank") + " of " + report.hardware;
  if (report.goal.memory > 0) {
    text += ", of which each holds " + bytes_text(static_cast<std::int64_t>(report.goal.memory));
  }
  return text + "\n";
}

// What was not searched, which may be better.
std::string other_meshes_text(const SearchReport& report) {
  constexpr std::size_t kNamed = 4;
  const std::vector<std::string>& others = report.other_meshes;
  if (others.empty()) {
    return "";
  }
  const Mesh& mesh = report.front[report.best].layout.mesh;
  std::string options;
  for (std::size_t i = 0; i < others.size() && others.size() <= kNamed; ++i) {
    options += (i == 0                   ? "`--on "
                : i + 1 == others.size() ? " and `--on "
                                         : ", `--on ") +
               others[i] + "`";
  }
  const std::string on = options.empty() ? "`--on NAME` searches one of the " +
                                               count_text(std::ssize(others)) + " others"
                         : others.size() == 1 ? options + " searches the other"
                                              : options + " search the others";
  return "on the mesh " + mesh.name + "; " + on + ", `--ranks " + std::to_string(mesh.ranks()) +
         "` other shapes of so many ranks\n";
}

std::string indented(const std::string& text) {
  std::string result = "  ";
  for (const char c : text) {
    result += c == '\n' ? std::string("\n  ") : std::string(1, c);
  }
  return result + "\n";
}

// "+12 %", "-3 %", "3.5x", "107x": of b, set against a.
std::string change_text(double a, double b) {
  if (a <= 0) {
    return b <= 0 ? "same" : "more";
  }
  const double ratio = b / a;
  constexpr double kManyTimes = 3;
  if (ratio >= kManyTimes) {
    constexpr double kWholeTimes = 10;
    return (ratio < kWholeTimes ? significant(ratio, 2) : count_text(std::llround(ratio))) + "x";
  }
  const double percent = std::round((ratio - 1) * 1000) / 10;
  return percent == 0 ? "same" : (percent > 0 ? "+" : "") + shortest(percent) + " %";
}

std::string front_text(const SearchReport& report) {
  const FoundLayout& best = report.front[report.best];
  const bool many = report.meshes > 1;
  std::vector<Row> rows = {{"", "time", "of it moving", "utilization", "received", "peak memory",
                            many ? "mesh" : "", "rules"}};
  for (const FoundLayout& found : report.front) {
    const Priced& priced = found.priced;
    const bool is_best = &found == &best;
    const double limit = report.goal.memory;
    const bool fits = limit <= 0 || static_cast<double>(priced.peak_bytes) <= limit;
    const std::string against = is_best
                                    ? (report.fits ? "best" : "nearest")
                                    : change_text(best.priced.seconds, priced.seconds) + " time, " +
                                          change_text(static_cast<double>(best.priced.peak_bytes),
                                                      static_cast<double>(priced.peak_bytes)) +
                                          " memory" + (fits ? "" : ": does not fit");
    rows.push_back({against, seconds_text(priced.seconds),
                    percent_text(priced.seconds > 0 ? priced.communication / priced.seconds : 0),
                    percent_text(found.utilization), bytes_text(priced.received_bytes),
                    bytes_text(priced.peak_bytes), many ? axes_source(found.written) : "",
                    rules_source(found.layout)});
  }
  return in_columns(rows, {.gap = 3, .widest = 60, .width = 400, .right = {1, 2, 3, 4, 5}});
}

std::string no_dims_text(const SearchReport& report) {
  const std::string& mesh = report.front[report.best].layout.mesh.name;
  return report.is_indivisible
             ? "\nno dim splits evenly over an axis; to search layouts that split dims unevenly, "
               "declare `layout start on " +
                   mesh + " uneven { }` and say `--layout start`\n"
             : "";
}

// What stands beside where a dim is.
std::string next_best_text(const DimChoice& choice, const SearchReport& report) {
  if (choice.is_fixed) {
    return "as the layout says";
  }
  if (choice.is_left_out) {
    return "what is next best was not looked at: the budget is used up";
  }
  if (choice.there.empty()) {
    return "nothing else is possible" + (choice.refused.empty() ? "" : ": " + choice.refused);
  }
  const Objective objective = report.goal.objective;
  const double best = value_of(report.front[report.best].priced, objective);
  return "next best " + choice.there + ": " + value_text(choice.value, objective) + " (" +
         change_text(best, choice.value) + ")";
}

std::string dims_text(const SearchReport& report) {
  const double limit = report.goal.objective == Objective::kMemory ? 0 : report.goal.memory;
  std::vector<Row> rows;
  for (const DimChoice& choice : report.dims) {
    std::string next = next_best_text(choice, report);
    if (limit > 0 && choice.bytes > limit) {
      next += ", which takes " + bytes_text(static_cast<std::int64_t>(choice.bytes));
    }
    rows.push_back({choice.dim, choice.here, std::move(next)});
  }
  return rows.empty() ? no_dims_text(report) : "\ndims\n" + in_columns(rows, {.gap = 3});
}

// A small program is often fastest so, which a person who has several ranks does not expect.
std::string nothing_moves_text(const SearchReport& report) {
  const Layout& layout = report.front[report.best].layout;
  const bool is_all_on_each = layout.mesh.ranks() > 1 && !report.dims.empty() &&
                              layout.rules.empty() && layout.variables.empty() && !layout.infer;
  const bool is_faster = report.goal.objective == Objective::kTime && report.fits;
  return "\nnothing moves between ranks" +
         std::string(is_all_on_each && is_faster
                         ? ": each does all of the work, in less time than sharing it takes"
                         : "") +
         "\n";
}

// What takes longest, and all else in one row.
std::string moved_text(const SearchReport& report) {
  constexpr std::ptrdiff_t kShown = 12;
  const auto row = [](const MovedFor& moved) {
    return Row{moved.what, count_text(moved.calls, "call"), bytes_text(moved.bytes),
               seconds_text(moved.seconds), moved.why};
  };
  const std::ptrdiff_t count = std::ssize(report.moved);
  const std::ptrdiff_t shown = count > kShown + 1 ? kShown : count;
  std::vector<Row> rows;
  std::transform(report.moved.begin(), report.moved.begin() + shown, std::back_inserter(rows), row);
  MovedFor rest{.what = "all else", .why = "for " + count_text(count - shown, "reason")};
  std::for_each(report.moved.begin() + shown, report.moved.end(), [&rest](const MovedFor& moved) {
    rest.calls += moved.calls;
    rest.bytes += moved.bytes;
    rest.seconds += moved.seconds;
  });
  if (shown < count) {
    rows.push_back(row(rest));
  }
  return rows.empty() ? nothing_moves_text(report)
                      : "\nwhat moves\n" + in_columns(rows, {.gap = 3, .right = {1, 2, 3}});
}

std::string recomputed_text(const SearchReport& report) {
  const Priced& best = report.front[report.best].priced;
  std::vector<Row> rows;
  for (const RecomputedBlock& block : report.recomputed) {
    if (!block.is_possible) {
      rows.push_back({block.place, "without it there is no plan"});
      continue;
    }
    const std::string time = change_text(best.seconds, block.seconds);
    const std::string memory =
        change_text(static_cast<double>(best.peak_bytes), static_cast<double>(block.peak_bytes));
    const std::string what = block.place.empty() ? "as the blocks say " : "without it ";
    rows.push_back({block.place.empty() ? "none" : block.place,
                    what + seconds_text(block.seconds) + " (" + time + "), " +
                        bytes_text(block.peak_bytes) + " (" + memory + ")" +
                        (block.fits ? "" : ", which does not fit")});
  }
  return rows.empty() ? "" : "\nrecompute\n" + in_columns(rows, {.gap = 3, .widest = 100});
}

// "without `*`, `params` and `at`", or "" of nothing.
std::string without_text(const std::vector<std::string>& words, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "without `" : i + 1 == words.size() ? " " + last + " `" : ", `";
    text += words[i] + "`";
  }
  return text;
}

std::string said_text(const SearchProof& proof) {
  std::vector<std::string> words = {"*"};
  if (proof.reaches == Reaches::kRules) {
    words.emplace_back("params");
  }
  if (proof.leaves_groups) {
    words.emplace_back("at");
  }
  if (proof.leaves_infer) {
    words.emplace_back("infer");
  }
  return without_text(words, "and");
}

// What a proof speaks of, by the bound or by all that were planned.
std::string no_layout_text(const SearchProof& proof, bool by_bound) {
  std::vector<std::string> words;
  if (by_bound ? proof.leaves_lets : proof.leaves_groups) {
    words.emplace_back(by_bound ? "at let" : "at");
  }
  if (proof.leaves_infer) {
    words.emplace_back("infer");
  }
  return "no layout " + without_text(words, "or") + (words.empty() ? "" : " ");
}

std::string none_fits_text(const SearchProof& proof) {
  const std::string least = bytes_text(static_cast<std::int64_t>(proof.least_bytes));
  const double gap = proof.needed_bytes / proof.least_bytes - 1;
  const std::string needs =
      "needs " + least + " or more" +
      (gap > 0 ? ", which is at most " + less_text(gap) + " less than this one" : "");
  if (proof.is_bound_beyond()) {
    return "no layout fits: proven, each " + needs;
  }
  if (proof.is_whole) {
    return no_layout_text(proof, false) + "fits: proven";
  }
  return proof.reaches ? "no layout " + said_text(proof) + " fits; others may, and each " + needs
                       : "whether another layout fits is not known; each " + needs;
}

std::string claim_text(const SearchProof& proof) {
  if (!proof.fits) {
    return none_fits_text(proof);
  }
  if (proof.is_whole) {
    return "0 %: proven, " + no_layout_text(proof, false) + "has less";
  }
  if (proof.gap == 0) {
    return "0 %: proven, the bound says that " + no_layout_text(proof, true) + "can have less";
  }
  std::string text = gap_text(proof);
  text += std::isfinite(proof.gap)
              ? ": " + no_layout_text(proof, true) + "gets below the bound by roles"
              : "";
  if (proof.reaches) {
    text += "; " + said_text(proof) + ", nothing is better";
  }
  return text;
}

std::string proof_text(const SearchReport& report) {
  const std::string counts =
      count_text(static_cast<std::int64_t>(report.priced), "layout") + " planned, " +
      count_text(static_cast<std::int64_t>(report.legal)) + " legal" +
      (report.meshes > 1
           ? ", on " + count_text(static_cast<std::int64_t>(report.meshes)) + " shapes of the mesh"
           : "");
  return "\n" + claim_text(report.proof) + " (" + counts + ")\n";
}

}  // namespace

std::string_view name_of(Objective objective) {
  return objective == Objective::kTime     ? "time"
         : objective == Objective::kMemory ? "memory"
                                           : "bytes received";
}

std::string entries_text(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) {
    text += (text.empty() ? "" : " + ") + entry;
  }
  return text;
}

std::string less_text(double gap) {
  const double percent = 100 * gap / (1 + gap);
  int digits = 2;
  for (double rounds = 0.5; digits < 6 && percent > 100 - rounds; rounds /= 10) {
    ++digits;  // fewer would make it 100
  }
  return significant(percent, digits) + " %";
}

std::string gap_text(const SearchProof& proof) {
  return proof.gap == 0             ? "proven"
         : std::isfinite(proof.gap) ? "at most " + less_text(proof.gap) + " less is possible"
                                    : "how much less is possible is not known";
}

std::string value_text(double value, Objective objective) {
  return objective == Objective::kTime ? seconds_text(value)
                                       : bytes_text(static_cast<std::int64_t>(value));
}

std::string search_text(const SearchReport& report) {
  const FoundLayout& best = report.front[report.best];
  std::string text = fit_text(report) + title(report) + other_meshes_text(report) + "\n";
  text += report.fits ? "" : "nothing that was looked at fits; what comes nearest:\n\n";
  if (!report.is_declared_mesh) {
    text += indented(mesh_source(best.written));
  }
  // One that does not fit has no name, under which it might be used.
  text += indented(report.fits ? layout_source(best.layout) : rules_source(best.layout)) + "\n" +
          front_text(report);
  text += dims_text(report) + moved_text(report) + recomputed_text(report) + proof_text(report);
  if (!report.taken.empty()) {
    text += "\n" + report.taken + ":\n" + indented(report.wording);
  }
  return text + explained_text(report) + sensitivity_text(report);
}

}  // namespace mtf
