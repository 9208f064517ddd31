// One process of the trace for each rank, with one lane of nested bars: runs of units enclose their
// steps. Bars are complete events ("X"), so that they cannot be unbalanced; times are on the first
// rank's clock.

#include "frontend/driver/trace.h"

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

#include "frontend/driver/json_text.h"
#include "ir/support/file.h"
#include "lowering/step_line.h"
#include "lowering/step_text.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

static_assert(std::is_trivially_copyable_v<TimedEvent>);

Diag trace_error(const std::string& path, const std::string& why) {
  return {.kind = DiagKind::kFile, .text = "the trace `" + path + "` cannot be written: " + why};
}

// Where the file really is: a link stays one.
fs::path place_of(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(path, error);
  return error ? fs::path(path) : place;
}

// ---- what the bars say ----

// The text of a bar but for its time: "name", "cat" and the open "args".
class Labels {
 public:
  Labels(const Timeline& timeline, const SourceMap& sources)
      : timeline_(timeline), sources_(sources) {
    for (const TimedUnit& unit : timeline.units()) {
      runs_.push_back(run_label(unit));
      std::vector<std::string>& steps = steps_.emplace_back();
      const std::vector<StepLine> lines = step_lines(unit.program, sources);
      for (std::size_t s = 0; s < lines.size(); ++s) {
        steps.push_back(step_label(unit.program, unit.program.steps[s], lines[s]));
      }
    }
  }

  // With the group of the rank, if it is a collective.
  [[nodiscard]] std::string of(const TimedEvent& event, std::int64_t rank) const {
    const auto unit = static_cast<std::size_t>(event.unit);
    const std::string step = ",\"step\":" + std::to_string(event.call - 1);
    switch (event.what) {
      case TimedEvent::What::kRun:
        return runs_[unit] + step;
      case TimedEvent::What::kStep: {
        const auto s = static_cast<std::size_t>(event.step);
        return steps_[unit][s] + step + group_text(timeline_.units()[unit].program, s, rank);
      }
      case TimedEvent::What::kAgree:
        return label("agree that all is well", "agreement", "ranks", "all") + step;
      case TimedEvent::What::kPlan:
        return label("plan" + (event.unit < 0 ? "" : " " + title_of(timeline_.units()[unit])),
                     "planning", "what", "plan");
      case TimedEvent::What::kGather:
        return label("gather what is printed", "gathering", "what", "gather");
    }
    return "";
  }

 private:
  static std::string label(std::string_view name, std::string_view category, std::string_view key,
                           std::string_view value) {
    return "\"name\":" + json_quoted(name) + ",\"cat\":" + json_quoted(category) + ",\"args\":{" +
           json_quoted(key) + ":" + json_quoted(value);
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

  [[nodiscard]] std::string run_label(const TimedUnit& unit) const {
    constexpr std::array kCategories =
        std::to_array<std::string_view>({"entry", "statement", "initialise", "move"});
    return label(title_of(unit), kCategories[static_cast<std::size_t>(unit.kind)], "layout",
                 unit.program.layout);
  }

  [[nodiscard]] std::string step_label(const SpmdProgram& program, const Step& step,
                                       const StepLine& line) const {
    const bool collective = is_collective(step.kind);
    JsonText json;
    json.object().member("kind", to_string(step.kind));
    json.member("op", line.before + line.value + (line.value.empty() ? "" : " = ") + line.op);
    json.member("place", sources_.short_place(line.span));
    if (collective) {
      json.key("axes").array();
      for (const AxisId axis : step.axes) {
        json.value(program.mesh.axes[axis].name);
      }
      json.close();
      json.member("elements", step.elements).member("bytes", step.bytes);
      json.member("why", reason_text(step, sources_));
    } else {
      json.member("family", family_of(step)).member("flops", step.flops);
    }
    const std::string name = collective ? std::string(to_string(step.kind)) + " " + line.value
                                        : (line.value.empty() ? "" : line.value + " = ") + line.op;
    return "\"name\":" + json_quoted(name) +
           ",\"cat\":" + json_quoted(collective ? "collective" : "kernel") +
           ",\"args\":" + json.take();
  }

  static std::string group_text(const SpmdProgram& program, std::size_t s, std::int64_t rank) {
    const Step& step = program.steps[s];
    if (!is_collective(step.kind)) {
      return "";
    }
    std::string members;
    for (const std::int64_t member : program.mesh.group_of(rank, step.axes)) {
      members += (members.empty() ? "" : ",") + std::to_string(member);
    }
    return ",\"group\":[" + members + "]";
  }

  const Timeline& timeline_;
  const SourceMap& sources_;
  std::vector<std::string> runs_;                // per unit
  std::vector<std::vector<std::string>> steps_;  // and step
};

// ---- the file ----

// Microseconds with three digits behind the point.
std::string micros(std::int64_t nanoseconds) {
  const std::string digits = std::to_string(nanoseconds % 1000 + 1000);
  return std::to_string(nanoseconds / 1000) + "." + digits.substr(1);
}

std::string rank_name(const Mesh& mesh, std::int64_t rank) {
  const std::vector<std::int64_t> at = mesh.coordinates(rank);
  std::string text;
  for (std::size_t i = 0; i < at.size(); ++i) {
    text += (text.empty() ? " (" : ", ") + mesh.axes[i].name + " " + std::to_string(at[i]);
  }
  return "rank " + std::to_string(rank) + text + (text.empty() ? "" : ")");
}

std::string metadata(std::int64_t rank, std::string_view what, const std::string& value) {
  JsonText json;
  json.object().member("ph", "M").member("pid", rank).member("tid", 0).member("name", what);
  json.key("args").object().member("name", value).close().close();
  return json.take();
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

std::string head(const Timeline& timeline, const Layout& layout) {
  JsonText json;
  json.object().member("program", "mtf").member("layout", layout.name);
  json.member("mesh", layout.mesh.axes.empty() ? "one rank" : to_string(layout.mesh));
  json.member("dropped_events_of_a_process", timeline.dropped());
  json.close();
  return R"({"displayTimeUnit":"ns","otherData":)" + json.take() + ",\"traceEvents\":[";
}

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
  std::string separator = "\n";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::int64_t>(i);
    out << separator << metadata(rank, "process_name", rank_name(mesh, rank)) << ",\n"
        << metadata(rank, "thread_name", "steps");
    separator = ",\n";
    const std::string common = R"({"ph":"X","pid":)" + std::to_string(rank) + R"(,"tid":0,"ts":)";
    for (const TimedEvent& event : ranks[i]) {
      out << separator << common << micros(event.time.begin - start)
          << ",\"dur\":" << micros(event.time.length()) << "," << labels.of(event, rank) << "}}";
    }
  }
}

void write_ranks(std::ostream& out, const std::vector<std::string>& all, const Timeline& timeline,
                 const Layout& layout, const SourceMap& sources) {
  std::vector<std::vector<TimedEvent>> ranks;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    ranks.push_back(aligned(decoded(all[rank]), timeline, rank));
  }
  out << head(timeline, layout);
  write_events(out, ranks, Labels(timeline, sources), layout.mesh);
  out << "\n]}\n";
}

}  // namespace

std::optional<Diag> trace_obstacle(const std::string& path) {
  const fs::path place = place_of(path);
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (fs::is_directory(status)) {
    return trace_error(path, "it is a folder");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return trace_error(path, "it is no ordinary file");
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
  const std::string why = communicator.has_first_rank() ? replace_file(place_of(path), write) : "";
  if (communicator.any(!why.empty())) {
    diags.add(trace_error(path, why.empty() ? "rank 0 cannot" : why));
  } else if (communicator.has_first_rank() && timeline.dropped() > 0) {
    std::fprintf(stderr,
                 "mtf: `%s` has the first %zu events of this process; %lld are left out; "
                 "`--steps A..B` picks others\n",
                 path.c_str(), timeline.events().size(),
                 static_cast<long long>(timeline.dropped()));
  }
}

}  // namespace mtf
