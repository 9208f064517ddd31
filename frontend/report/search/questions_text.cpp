// What is asked beside the best layout, as text: `--fit`, `--explain`, `--sensitivity`.

#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"
#include "frontend/report/search/search_report.h"
#include "ir/support/columns.h"
#include "ir/support/number.h"

namespace mtf {

std::string fit_text(const SearchReport& report) {
  std::vector<Row> rows;
  for (const TriedRanks& tried : report.tried) {
    const std::string bytes = tried.bytes ? bytes_text(*tried.bytes) : "";
    rows.push_back({count_text(tried.ranks, "rank"), bytes + (tried.is_bound ? " or more" : ""),
                    tried.is_bound ? "by the sizes of dims alone" : tried.says});
  }
  return rows.empty() ? ""
                      : "what the best layout takes on a rank, which holds " +
                            bytes_text(static_cast<std::int64_t>(report.goal.memory)) + "\n" +
                            in_columns(rows, {.gap = 3, .right = {0, 1}}) + "\n";
}

namespace {

// As a rule has it, what a table says in words.
std::string axes_of(const std::string& place) {
  const bool is_list = place.find(',') != std::string::npos;
  return place == "whole" ? "()" : is_list ? "(" + place + ")" : place;
}

}  // namespace

std::string explained_text(const SearchReport& report) {
  if (!report.explained) {
    return "";
  }
  const ExplainedRule& rule = *report.explained;
  const Priced& with = rule.with.priced;
  const Priced& here = report.front[report.best].priced;
  std::string text = "\nwith " + rule.dim + " -> " + axes_of(rule.place);
  if (rule.is_answer) {
    return text + ": this is the answer\n";
  }
  text += " instead of " + rule.instead_of + ": " + rules_source(rule.with.layout) + "\n";
  if (!with.is_legal) {
    return text + "  no layout: " + with.obstacle + "\n";
  }
  const auto row = [](const char* what, const std::string& from, const std::string& to) {
    return std::vector<std::string>{what, from, to};
  };
  const std::vector<std::vector<std::string>> rows = {
      row("", "the answer", "with it"),
      row("time", seconds_text(here.seconds), seconds_text(with.seconds)),
      row("of it moving", seconds_text(here.communication), seconds_text(with.communication)),
      row("received", bytes_text(here.received_bytes), bytes_text(with.received_bytes)),
      row("peak memory", bytes_text(here.peak_bytes), bytes_text(with.peak_bytes))};
  return text + in_columns(rows, {.gap = 3, .right = {1, 2}}) +
         (rule.fits ? "" : "  it does not fit the memory of a rank\n");
}

std::string sensitivity_text(const SearchReport& report) {
  if (report.sensitivity.empty()) {
    return "";
  }
  std::vector<Row> rows = {{report.varied, "time", "peak memory", "rules"}};
  std::string last;
  for (const VariedHardware& varied : report.sensitivity) {
    std::string rules = rules_source(varied.layout);
    rows.push_back(
        {varied.factor < 1 ? "1/" + shortest(1 / varied.factor) : shortest(varied.factor) + "x",
         seconds_text(varied.seconds), bytes_text(varied.peak_bytes),
         rules == last ? "the same" : rules});
    last = std::move(rules);
  }
  return "\nthe best layout by the " + report.varied + " of " + report.hardware +
         " (searched at both ends and at 1x; what was planned is priced again)\n" +
         in_columns(rows, {.gap = 3, .right = {0, 1, 2}});
}

}  // namespace mtf
