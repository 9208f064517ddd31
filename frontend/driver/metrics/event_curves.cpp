// The curves of TensorBoard's event files, as `--metrics FOLDER/` and others write them.

#include <algorithm>
#include <filesystem>
#include <map>

#include "frontend/driver/metrics/curve_reader.h"
#include "frontend/driver/metrics/event_file.h"
#include "frontend/report/quantity.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

// Lines that `mtf watch` draws, too.
std::string other_metrics(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".jsonl") {
      return "; `mtf watch " + at->path().string() + "` draws the file in it";
    }
  }
  return "; `--metrics " + folder + (folder.ends_with('/') ? "" : "/") + "` writes one";
}

// Tags of others mean whatever they say.
void read_event(const ReadEvent& event, const std::string& run, bool is_ours, CurveReader& reader) {
  for (const auto& [tag, value] : event.values) {
    const EventTag parts = is_ours ? event_tag(tag) : EventTag{.entry = "", .name = tag};
    reader.add({.run = run, .entry = std::string(parts.entry)}, parts.name, event.step.value_or(0),
               value);
  }
}

// How many events it has.
std::int64_t read_event_file(const std::string& path, std::string_view bytes,
                             const std::string& run, CurveReader& reader) {
  const bool is_ours = path.ends_with(kEventFile);
  std::int64_t events = 0;
  for (; std::optional<ReadEvent> event = first_event(bytes); ++events) {
    bytes.remove_prefix(event->bytes.size());
    read_event(*event, run, is_ours, reader);
  }
  return events;
}

}  // namespace

bool is_event_file(const std::string& path) {
  return fs::path(path).filename().string().find("tfevents") != std::string::npos;
}

std::vector<EventRun> event_runs(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return {{.name = "", .files = {path}}};
  }
  std::map<std::string, std::vector<std::string>> found;
  constexpr auto kOptions = fs::directory_options::skip_permission_denied;
  for (auto at = fs::recursive_directory_iterator(path, kOptions, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_regular_file(error) && is_event_file(at->path().string())) {
      const std::string run = at->path().parent_path().lexically_relative(path).string();
      found[run == "." ? "" : run].push_back(at->path().string());
    }
  }
  std::vector<EventRun> runs;
  for (auto& [name, files] : found) {
    std::ranges::sort(files);  // the names have the time of their beginning
    runs.push_back({.name = name, .files = std::move(files)});
  }
  return runs;
}

Curves event_curves(const std::string& path) {
  const std::vector<EventRun> runs = event_runs(path);
  if (runs.empty()) {
    return {.curves = {},
            .problem = "is a folder without event files of TensorBoard" + other_metrics(path),
            .found = {}};
  }
  CurveReader reader;
  std::int64_t events = 0;
  for (const EventRun& run : runs) {
    for (const std::string& file : run.files) {
      std::string bytes;
      if (const std::string problem = read_whole(file, bytes); !problem.empty()) {
        return {.curves = {}, .problem = "cannot be read: " + file + " " + problem, .found = {}};
      }
      events += read_event_file(file, bytes, run.name, reader);
    }
  }
  const std::string found = events == 0 ? "there is no whole event"
                                        : (reader.has_infinite() ? "all numbers are infinite or NaN"
                                                                 : "there are no numbers") +
                                              std::string(" in ") + count_text(events, "event");
  return {.curves = reader.take(), .problem = {}, .found = found};
}

}  // namespace mtf
