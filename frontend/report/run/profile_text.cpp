// Tables. What a program is made of comes first, then the steps of each entry, then what they add
// up to by collective and by family of kernels.

#include "frontend/report/run/profile_text.h"

#include <algorithm>

#include "frontend/report/plan/step_line.h"
#include "frontend/report/quantity.h"
#include "ir/support/columns.h"
#include "ir/support/number.h"
#include "ir/support/utf8.h"
#include "lowering/price/price.h"

namespace mtf {
namespace {

constexpr std::size_t kShownSteps = 30;  // of an entry; the JSON has all
constexpr std::size_t kWidestStep = 60;

// 10^9 a second; empty for nothing.
std::string rate_text(double amount, double seconds) {
  const double rate = seconds > 0 ? amount / seconds * 1e-9 : 0;
  return rate <= 0 ? "" : fixed(rate, rate < 9.95 ? 2 : rate < 99.5 ? 1 : 0);
}

std::string share_text(double part, double whole) {
  return whole > 0 ? percent_text(part / whole) : "";
}

// Empty where all ranks are alike.
std::string range_text(const PerRank& ranks) {
  const std::string least = seconds_text(ranks.least());
  const std::string most = seconds_text(ranks.most());
  return least == most ? "" : least + ".." + most;
}

std::string optional_text(const std::optional<PerRank>& seconds) {
  return seconds ? seconds_text(seconds->mean()) : "";
}

std::string predicted_text(const std::optional<double>& predicted) {
  return predicted ? seconds_text(*predicted) : "";
}

// Titles only of the columns that say something.
std::string table(std::vector<Row> rows, const Row& titles, std::size_t words) {
  Row head(titles.size());
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const bool used = std::ranges::any_of(
        rows, [&](const Row& row) { return i < row.size() && !row[i].empty(); });
    head[i] = used ? titles[i] : "";
  }
  rows.insert(rows.begin(), head);
  ColumnStyle style{.widest = kWidestStep};
  for (std::size_t i = words; i < titles.size(); ++i) {
    style.right.push_back(i);
  }
  return in_columns(rows, style);
}

// ---- the whole program ----

struct Part {
  std::string name;
  std::int64_t calls = 0;
  double flops = 0;
  PerRank seconds;
};

Row part_row(const Part& part, double whole) {
  const double seconds = part.seconds.mean();
  return {part.name,
          part.calls == 0 ? "" : count_text(part.calls),
          seconds_text(seconds),
          part.calls == 0 ? "" : seconds_text(seconds / static_cast<double>(part.calls)),
          share_text(seconds, whole),
          range_text(part.seconds),
          rate_text(part.flops, seconds)};
}

std::string_view kind_text(RunKind kind) {
  switch (kind) {
    case RunKind::kEntry:
      return "";
    case RunKind::kStatement:
      return "statements at top level";
    case RunKind::kInitialise:
      return "initialising variables";
    case RunKind::kMove:
      return "moving tensors to other layouts";
  }
  return "";
}

// Of all calls, with as many trips of loops as there were.
double flops_of(const UnitProfile& unit) {
  const SpmdProgram& program = unit.unit->program;
  if (program.totals.loops == 0) {
    return program.totals.flops * static_cast<double>(unit.calls);
  }
  double flops = 0;
  for (std::size_t s = 0; s < unit.steps.size(); ++s) {
    flops += program.steps[s].flops * static_cast<double>(unit.steps[s].calls);
  }
  return flops;
}

// Entries by name, all else by kind.
std::vector<Part> parts_of(const Profile& profile) {
  std::vector<Part> parts;
  for (const UnitProfile& unit : profile.units) {
    const TimedUnit& timed = *unit.unit;
    const std::string name =
        timed.kind == RunKind::kEntry ? timed.name : std::string(kind_text(timed.kind));
    auto part = std::ranges::find(parts, name, &Part::name);
    if (part == parts.end()) {
      parts.push_back({.name = name});
      part = std::prev(parts.end());
    }
    part->calls += unit.calls;
    part->flops += flops_of(unit);
    part->seconds.add(unit.seconds);
  }
  return parts;
}

std::string program_table(const Profile& profile) {
  std::vector<Part> parts = parts_of(profile);
  parts.push_back({.name = "planning", .seconds = profile.planning});
  parts.push_back({.name = "gathering what is printed", .seconds = profile.gathering});
  Part rest{.name = "everything else", .seconds = profile.whole};
  for (const Part& part : parts) {
    rest.seconds.subtract(part.seconds);
  }
  parts.push_back(std::move(rest));
  std::ranges::stable_sort(parts, std::greater<>(),
                           [](const Part& part) { return part.seconds.mean(); });
  parts.push_back({.name = "the program", .seconds = profile.whole});
  std::vector<Row> rows;
  for (const Part& part : parts) {
    if (part.seconds.most() > 0) {
      rows.push_back(part_row(part, profile.whole.mean()));
    }
  }
  return table(rows, {"", "calls", "total", "mean", "share", "over ranks", "GFLOP/s"}, 1);
}

// ---- steps ----

// A step, or the steps of several statements at one place that are alike but for their numbers.
struct ProfileLine {
  std::string text;
  SourceSpan span;
  std::int64_t calls = 0;
  double medians = 0;  // one for each call
  PerRank seconds;
  double flops = 0;
  double bytes = 0;
  std::optional<PerRank> waited;
  std::optional<PerRank> hidden;
  std::optional<double> predicted;  // of all calls
  std::vector<const OpDef*> ops;
};

ProfileLine line_of(const UnitProfile& unit, std::size_t s, const StepLine& text) {
  const StepProfile& measured = unit.steps[s];
  const SpmdProgram& program = unit.unit->program;
  const Step& step = program.steps[s];
  const auto calls = static_cast<double>(measured.calls);
  ProfileLine line{
      .text = text.before + text.value + (text.value.empty() ? "" : " = ") + text.op,
      .span = text.span,
      .calls = measured.calls,
      .medians = measured.median * calls,
      .seconds = measured.seconds,
      .flops = step.flops * calls,
      .bytes =
          (static_cast<double>(message_bytes(program, s)) + bytes_touched(program, step)) * calls,
      .waited = measured.waited,
      .hidden = measured.hidden};
  if (measured.predicted) {
    line.predicted = *measured.predicted * calls;
  }
  for (const LocalCall& call : step.calls) {
    line.ops.push_back(call.split->call.op);
  }
  return line;
}

void join(std::vector<ProfileLine>& lines, ProfileLine more) {
  const auto alike = [&](const ProfileLine& line) {
    return !line.ops.empty() && line.span == more.span && line.ops == more.ops;
  };
  const auto line = std::ranges::find_if(lines, alike);
  if (line == lines.end()) {
    lines.push_back(std::move(more));
    return;
  }
  line->calls += more.calls;
  line->medians += more.medians;
  line->seconds.add(more.seconds);
  line->flops += more.flops;
  line->bytes += more.bytes;
  if (line->predicted && more.predicted) {
    *line->predicted += *more.predicted;
  }
}

// The longest ones come to the front, in the order of the plan.
std::size_t longest_to_front(std::vector<ProfileLine>& lines) {
  if (lines.size() <= kShownSteps) {
    return lines.size();
  }
  std::vector<double> seconds;
  std::ranges::transform(lines, std::back_inserter(seconds),
                         [](const ProfileLine& line) { return line.seconds.mean(); });
  std::ranges::nth_element(seconds, seconds.begin() + kShownSteps, std::greater<>());
  const double least = seconds[kShownSteps];
  const auto is_shorter = [&](const ProfileLine& line) { return line.seconds.mean() <= least; };
  std::ranges::stable_sort(lines, {}, is_shorter);
  return lines.size() - static_cast<std::size_t>(std::ranges::count_if(lines, is_shorter));
}

Row line_row(const ProfileLine& line, double whole, const SourceMap& sources) {
  const auto calls = static_cast<double>(line.calls);
  const double seconds = line.seconds.mean();
  return {shortened(line.text, kWidestStep),
          sources.short_place(line.span),
          count_text(line.calls),
          seconds_text(line.medians / calls),
          seconds_text(seconds),
          share_text(seconds, whole),
          range_text(line.seconds),
          rate_text(line.flops, seconds),
          rate_text(line.bytes, seconds),
          optional_text(line.waited),
          optional_text(line.hidden),
          line.predicted ? seconds_text(*line.predicted / calls) : ""};
}

Row rest_row(const std::string& name, const PerRank& seconds, double whole) {
  return {name,
          "",
          "",
          "",
          seconds_text(seconds.mean()),
          share_text(seconds.mean(), whole),
          range_text(seconds)};
}

// The longest, and what the others took together.
std::vector<Row> line_rows(std::vector<ProfileLine> lines, double whole, const SourceMap& sources) {
  const std::size_t shown = longest_to_front(lines);
  std::vector<Row> rows;
  PerRank others;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i < shown) {
      rows.push_back(line_row(lines[i], whole, sources));
    } else {
      others.add(lines[i].seconds);
    }
  }
  if (shown < lines.size()) {
    const auto hidden = static_cast<std::int64_t>(lines.size() - shown);
    rows.push_back(rest_row(count_text(hidden, "shorter step"), others, whole));
  }
  return rows;
}

std::string steps_table(const Profile& profile, const std::vector<const UnitProfile*>& units,
                        const SourceMap& sources) {
  std::vector<ProfileLine> lines;
  PerRank whole;
  PerRank agreeing;
  PerRank between;
  for (const UnitProfile* unit : units) {
    const std::vector<StepLine> texts = step_lines(unit->unit->program, sources);
    whole.add(unit->seconds);
    between.add(unit->seconds);
    between.subtract(unit->agreeing.seconds);
    agreeing.add(unit->agreeing.seconds);
    for (std::size_t s = 0; s < unit->steps.size(); ++s) {
      between.subtract(unit->steps[s].seconds);
      if (unit->steps[s].calls == 0) {
        continue;
      }
      ProfileLine line = line_of(*unit, s, texts[s]);
      if (units.size() > 1) {
        join(lines, std::move(line));
      } else {
        lines.push_back(std::move(line));
      }
    }
  }
  std::vector<Row> rows = line_rows(std::move(lines), whole.mean(), sources);
  if (agreeing.most() > 0) {
    rows.push_back(rest_row("ranks agree that none failed", agreeing, whole.mean()));
  }
  if (profile.simulated) {
    between.level();  // a turn of one rank is no rest of another
  }
  rows.push_back(rest_row("between the steps", between, whole.mean()));
  return table(rows,
               {"step", "", "calls", "median", "total", "share", "over ranks", "GFLOP/s", "GB/s",
                "waited", "hidden", "predicted"},
               2);
}

std::string entry_text(const Profile& profile, const UnitProfile& unit, const SourceMap& sources) {
  const auto calls = static_cast<double>(std::max<std::int64_t>(unit.calls, 1));
  std::string text = "\n" + unit.unit->name + ", " + count_text(unit.calls, "call") + ", " +
                     seconds_text(unit.seconds.mean() / calls) + " on average, median " +
                     seconds_text(unit.median);
  text += unit.predicted ? ", predicted " + seconds_text(*unit.predicted) : "";
  return text + "\n" + steps_table(profile, {&unit}, sources);
}

std::string groups_text(const std::string& title, const std::vector<StepGroup>& groups,
                        const std::string& bytes_title, double whole) {
  if (groups.empty()) {
    return "";
  }
  std::vector<Row> rows;
  for (const StepGroup& group : groups) {
    const double seconds = group.seconds.mean();
    rows.push_back({group.name, count_text(group.calls),
                    bytes_text(static_cast<std::int64_t>(group.bytes)), seconds_text(seconds),
                    share_text(seconds, whole), range_text(group.seconds),
                    rate_text(group.flops, seconds), rate_text(group.bytes, seconds),
                    optional_text(group.waited), optional_text(group.hidden),
                    predicted_text(group.predicted)});
  }
  return "\n" + title + "\n" +
         table(rows,
               {"", "calls", bytes_title, "total", "share", "over ranks", "GFLOP/s", "GB/s",
                "waited", "hidden", "predicted"},
               1);
}

std::string title(const Profile& profile) {
  if (profile.ranks == 1) {
    return "profile of one rank\n";
  }
  std::string text = "profile of " + std::to_string(profile.ranks) + " ranks on " +
                     to_string(profile.mesh) +
                     (profile.layout.empty() ? "" : " under " + profile.layout);
  return text +
         (profile.simulated
              ? "\nsimulated in one process, where ranks take turns: seconds are those of "
                "one rank, the whole took " +
                    seconds_text(profile.whole.mean() * static_cast<double>(profile.ranks)) + "\n"
              : "; seconds are means over ranks\n");
}

}  // namespace

namespace {

// Of what was done beside other work: it is in no row but for what was waited.
std::string ahead_text(const Profile& profile) {
  const double seconds = profile.ahead.mean();
  const double waited = profile.awaited.mean();
  return profile.ahead_calls == 0
             ? ""
             : "read ahead, beside other work: " + count_text(profile.ahead_calls, "call") + ", " +
                   seconds_text(seconds) + ", of which " + seconds_text(std::min(seconds, waited)) +
                   " were waited for\n";
}

}  // namespace

std::string profile_text(const Profile& profile, const SourceMap& sources) {
  std::string text = title(profile) + program_table(profile) + ahead_text(profile);
  std::vector<const UnitProfile*> statements;
  for (const UnitProfile& unit : profile.units) {
    if (unit.unit->kind == RunKind::kEntry) {
      text += entry_text(profile, unit, sources);
    } else if (unit.unit->kind == RunKind::kStatement) {
      statements.push_back(&unit);
    }
  }
  if (!statements.empty()) {
    text += "\n" + std::string(kind_text(RunKind::kStatement)) + "\n" +
            steps_table(profile, statements, sources);
  }
  const double whole = profile.whole.mean();
  return text +
         groups_text("collectives of the whole program", collectives_by_kind(profile), "received",
                     whole) +
         groups_text("kernels of the whole program", kernels_by_family(profile), "touched", whole);
}

}  // namespace mtf
