#include <chrono>
#include <filesystem>
#include <system_error>

#include "frontend/driver/calibrate/measured_profile.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/doctor/finding.h"
#include "frontend/report/quantity.h"

namespace mtf {
namespace {

constexpr auto kMeasure = "mtf calibrate";
constexpr std::int64_t kDaysFresh = 180;

std::int64_t days_since_written(const std::string& path) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  const auto age = std::filesystem::file_time_type::clock::now() - written;
  return error ? 0 : std::chrono::duration_cast<std::chrono::hours>(age).count() / 24;
}

// Whether the language takes it.
bool is_profile() {
  Workspace workspace(Options{});
  const FileId file = workspace.sources.add({.name = "doctor", .path = "", .text = "print 1\n"});
  const auto program = build_under(workspace, file, "", workspace.diags);
  return program != nullptr && program->session.hardware("this_machine").has_value() &&
         workspace.diags.ok();
}

}  // namespace

Finding check_calibration() {
  const std::string path = measured_profile_path();
  const std::optional<std::string> text = measured_profile();
  Finding finding{.what = "calibration", .health = Health::kWarning, .found = "", .fix = kMeasure};
  if (!text) {
    finding.found = "this machine is not measured: `mtf cost` prices it as a core of 2020";
    return finding;
  }
  if (!is_profile()) {
    finding.health = Health::kFailure;
    finding.found = path + " is not a hardware profile";
    return finding;
  }
  const std::optional<std::string> machine = measured_machine(*text);
  const std::int64_t days = days_since_written(path);
  if (machine && *machine != this_machine()) {
    finding.found = path + " was measured on another machine: " + *machine;
  } else if (text->find("# not trusted: ") != std::string::npos) {
    finding.found = path + " has figures of a busy machine, marked `not trusted`";
  } else if (days > kDaysFresh) {
    finding.found = path + " was measured " + std::to_string(days) + " days ago";
  } else {
    finding.health = Health::kOk;
    finding.found = path + (days < 1 ? ", of today" : ", " + count_text(days, "day") + " old");
    finding.fix.clear();
  }
  return finding;
}

}  // namespace mtf
