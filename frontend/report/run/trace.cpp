// One process of the trace for each rank, with one lane of nested bars: runs of units enclose their
// steps. Bars are complete events ("X"), so that they cannot be unbalanced; times are on the first
// rank's clock.

#include "frontend/report/run/trace.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include "frontend/report/json_parts.h"
#include "frontend/report/plan/step_line.h"
#include "frontend/report/plan/step_text.h"
#include "frontend/report/why/reason.h"
#include "ir/support/file.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

static_assert(std::is_trivially_copyable_v<TimedEvent>);

Diag trace_error(const std::string& path, const std::string& why) {
  return {.kind = DiagKind::kFile, .text = "the trace `" + path + "` cannot be written: " + why};
}

// ---- what the bars say ----

constexpr std::string_view kOpening = R"({"displayTimeUnit":"ns","otherData":)";

// A bar but for its place and time: "name", "cat" and "args".
class Labels {
 public:
  Labels(const Timeline& timeline, const SourceMap& sources)
      : timeline_(timeline), sources_(sources) {
    for (const TimedUnit& unit : timeline.units()) {
      runs_.push_back(run_label(unit));
      std::vector<Json>& steps = steps_.emplace_back();
      const std::vector<StepLine> lines = step_lines(unit.program, sources);
      for (std::size_t s = 0; s < lines.size(); ++s) {
        steps.push_back(step_label(unit.program, unit.program.steps[s], lines[s]));
      }
    }
  }

  // With the step of the program, and the group of the rank if it is a collective.
  [[nodiscard]] Json of(const TimedEvent& event, std::int64_t rank) const {
    Json bar = bar_of(event);
    if (event.what != TimedEvent::What::kPlan && event.what != TimedEvent::What::kGather) {
      bar["args"]["step"] = event.call - 1;
    }
    if (event.what == TimedEvent::What::kStep) {
      const SpmdProgram& program = timeline_.units()[static_cast<std::size_t>(event.unit)].program;
      const Step& step = program.steps[static_cast<std::size_t>(event.step)];
      if (event.starts + event.finishes > 0) {
        bar["cat"] = event.starts > 0 ? "start" : "finish";
      }
      if (is_collective(step.kind)) {
        bar["args"]["group"] = program.mesh.group_of(rank, step.axes);
      }
    }
    return bar;
  }

 private:
  static Json label(std::string_view name, std::string_view category, std::string_view key,
                    std::string_view value) {
    return {{"name", name}, {"cat", category}, {"args", {{key, value}}}};
  }

  [[nodiscard]] Json bar_of(const TimedEvent& event) const {
    const auto unit = static_cast<std::size_t>(event.unit);
    switch (event.what) {
      case TimedEvent::What::kRun:
        return runs_[unit];
      case TimedEvent::What::kStep:
        return steps_[unit][static_cast<std::size_t>(event.step)];
      case TimedEvent::What::kAgree:
        return label("agree that none failed", "agreement", "ranks", "all");
      case TimedEvent::What::kPlan:
        return label("plan" + (event.unit < 0 ? "" : " " + title_of(timeline_.units()[unit])),
                     "planning", "what", "plan");
      case TimedEvent::What::kGather:
        break;
    }
    return label("gather what is printed", "gathering", "what", "gather");
  }

  [[nodiscard]] std::string title_of(const TimedUnit& unit) const {
    switch (unit.kind) {
      case RunKind::kEntry:
        return unit.name;
      case RunKind::kStatement:
        return "statement" + place_text(unit.program);
      case RunKind::kInitialise:
        return "initialise " + unit.name;
      case RunKind::kMove:
        return "move to another layout";
    }
    return "";
  }

  [[nodiscard]] std::string place_text(const SpmdProgram& program) const {
    const std::vector<Value>& values = program.source.values;
    const std::string place = values.empty() ? "" : sources_.short_place(values.back().span);
    return place.empty() ? "" : " " + place;
  }

  [[nodiscard]] Json run_label(const TimedUnit& unit) const {
    constexpr std::array kCategories =
        std::to_array<std::string_view>({"entry", "statement", "initialise", "move"});
    return label(title_of(unit), kCategories[static_cast<std::size_t>(unit.kind)], "layout",
                 unit.program.layout);
  }

  [[nodiscard]] Json step_label(const SpmdProgram& program, const Step& step,
                                const StepLine& line) const {
    const bool collective = is_collective(step.kind);
    const std::string value = line.value + (line.value.empty() ? "" : " = ");
    Json args = {{"kind", to_string(step.kind)},
                 {"op", line.before + value + line.op},
                 {"place", sources_.short_place(line.span)}};
    if (collective) {
      args["axes"] = axes_json(program.mesh, step.axes);
      args["elements"] = step.elements;
      args["bytes"] = step.bytes;
      args["why"] = line.why;
    } else {
      args["family"] = family_of(step);
      args["flops"] = step.flops;
    }
    return {{"name",
             collective ? std::string(to_string(step.kind)) + " " + line.value : value + line.op},
            {"cat", step.with_next ? "packing"
                    : collective   ? "collective"
                                   : "kernel"},
            {"args", std::move(args)}};
  }

  const Timeline& timeline_;
  const SourceMap& sources_;
  std::vector<Json> runs_;                // per unit
  std::vector<std::vector<Json>> steps_;  // and step
};

// ---- the file ----

double micros(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e3;
}

std::string rank_name(const Mesh& mesh, std::int64_t rank) {
  const std::vector<std::int64_t> at = mesh.coordinates(rank);
  std::string text;
  for (std::size_t i = 0; i < at.size(); ++i) {
    text += (text.empty() ? " (" : ", ") + mesh.axes[i].name + " " + std::to_string(at[i]);
  }
  return "rank " + std::to_string(rank) + text + (text.empty() ? "" : ")");
}

Json metadata(std::int64_t rank, std::string_view what, const std::string& value) {
  return {{"ph", "M"}, {"pid", rank}, {"tid", 0}, {"name", what}, {"args", {{"name", value}}}};
}

std::vector<TimedEvent> decoded(const std::string& bytes) {
  std::vector<TimedEvent> events(bytes.size() / sizeof(TimedEvent));
  if (!events.empty()) {
    std::memcpy(events.data(), bytes.data(), bytes.size());
  }
  return events;
}

// On the first rank's clock; enclosing bars first.
std::vector<TimedEvent> aligned(std::vector<TimedEvent> events, const Timeline& timeline,
                                std::size_t rank) {
  for (TimedEvent& event : events) {
    event.time = {.begin = timeline.on_first_clock(rank, event.time.begin),
                  .end = timeline.on_first_clock(rank, event.time.end)};
  }
  std::ranges::stable_sort(events, [](const TimedEvent& a, const TimedEvent& b) {
    return std::tuple(a.time.begin, -a.time.length(), a.what) <
           std::tuple(b.time.begin, -b.time.length(), b.what);
  });
  return events;
}

Json other_data(const Timeline& timeline, const Layout& layout) {
  return {{"program", "mtf"},
          {"layout", layout.name},
          {"mesh", layout.mesh.axes.empty() ? "one rank" : to_string(layout.mesh)},
          {"dropped_events_of_a_process", timeline.dropped()}};
}

// One event a line: a trace may be long, so no tree of all of it is built.
void write_events(std::ostream& out, const std::vector<std::vector<TimedEvent>>& ranks,
                  const Labels& labels, const Mesh& mesh) {
  std::int64_t start = 0;
  bool any = false;
  for (const std::vector<TimedEvent>& events : ranks) {
    if (!events.empty()) {
      start = any ? std::min(start, events.front().time.begin) : events.front().time.begin;
      any = true;
    }
  }
  std::string_view separator = "\n";
  const auto write = [&](const Json& event) {
    out << std::exchange(separator, ",\n") << dump(event);
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::int64_t>(i);
    write(metadata(rank, "process_name", rank_name(mesh, rank)));
    write(metadata(rank, "thread_name", "steps"));
    for (const TimedEvent& event : ranks[i]) {
      Json bar = {{"ph", "X"},
                  {"pid", rank},
                  {"tid", 0},
                  {"ts", micros(event.time.begin - start)},
                  {"dur", micros(event.time.length())}};
      bar.update(labels.of(event, rank));
      write(bar);
    }
  }
}

void write_ranks(std::ostream& out, const std::vector<std::string>& all, const Timeline& timeline,
                 const Layout& layout, const SourceMap& sources) {
  std::vector<std::vector<TimedEvent>> ranks;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    ranks.push_back(aligned(decoded(all[rank]), timeline, rank));
  }
  out << kOpening << dump(other_data(timeline, layout)) << ",\"traceEvents\":[";
  write_events(out, ranks, Labels(timeline, sources), layout.mesh);
  out << "\n]}\n";
}

}  // namespace

std::optional<Diag> trace_obstacle(const std::string& path) {
  const fs::path place = behind_links(path);
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (!fs::status_known(status)) {  // links in a ring, or a folder that nobody may read
    return trace_error(path, error.message());
  }
  if (fs::is_directory(status)) {
    return trace_error(path, "it is a folder");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return trace_error(path, "it is not a regular file");
  }
  if (const std::string other = another_there(place, std::array{kOpening}, "trace");
      !other.empty()) {
    return trace_error(path, other);
  }
  if (fs::exists(status) && access(place.c_str(), W_OK) != 0) {
    return trace_error(path, std::strerror(errno));
  }
  if (place.has_parent_path() && !fs::is_directory(place.parent_path(), error)) {
    return trace_error(path, "there is no folder `" + fs::path(path).parent_path().string() + "`");
  }
  const fs::path temporary = beside(place);
  errno = 0;
  if (!std::ofstream(temporary)) {
    return trace_error(path, std::strerror(errno));
  }
  fs::remove(temporary, error);
  return std::nullopt;
}

void write_trace(const std::string& path, const Timeline& timeline, const Layout& layout,
                 const SourceMap& sources, Communicator& communicator, DiagSink& diags) {
  std::vector<std::string> local(communicator.local_ranks().size());
  for (const TimedEvent& event : timeline.events()) {
    local[static_cast<std::size_t>(event.rank)].append(reinterpret_cast<const char*>(&event),
                                                       sizeof(event));
  }
  const std::vector<std::string> all = communicator.share(local);
  const auto write = [&](std::ostream& out) { write_ranks(out, all, timeline, layout, sources); };
  const std::string why = communicator.has_first_rank() ? replace_file(path, write) : "";
  const TimeSpan steps = timeline.steps();
  if (communicator.any(!why.empty())) {
    diags.add(trace_error(path, why.empty() ? "rank 0 cannot" : why));
  } else if (communicator.has_first_rank() && steps.begin > 0 &&
             timeline.most_runs() <= steps.begin) {
    const std::int64_t last = timeline.most_runs() - 1;
    const std::string there =
        last < 0 ? "nothing was" : "the last one was step " + std::to_string(last);
    std::fprintf(stderr, "mtf: `%s` has no steps: none was run from step %lld on; %s\n",
                 path.c_str(), static_cast<long long>(steps.begin), there.c_str());
  } else if (communicator.has_first_rank() && timeline.dropped() > 0) {
    std::fprintf(stderr,
                 "mtf: `%s` has the first %zu events of this process; %lld are left out; "
                 "`--steps A..B` picks others\n",
                 path.c_str(), timeline.events().size(),
                 static_cast<long long>(timeline.dropped()));
  }
}

}  // namespace mtf
