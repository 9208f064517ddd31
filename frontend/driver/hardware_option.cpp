#include "frontend/driver/hardware_option.h"

#include <string>
#include <vector>

#include "frontend/driver/calibrate/measured_profile.h"

namespace mtf {

namespace {

constexpr std::string_view kDefaultHardware = "cpu_core";

std::string no_calibration() {
  return measured_profile() ? in_backticks(measured_profile_path()) +
                                  " is not a hardware profile; `mtf calibrate` writes it anew"
                            : "this machine is not measured yet; `mtf calibrate` does it";
}

}  // namespace

bool knows_hardware(Workspace& workspace, Session& session) {
  const std::string& name = workspace.options.hardware;
  if (name.empty() || session.hardware(name)) {
    return true;
  }
  const std::vector<std::string> names = session.hardware_names();
  std::string all;
  for (const std::string& known : names) {
    all += (all.empty() ? "" : ", ") + known;
  }
  workspace.diags.error(
      DiagKind::kUnknownName, {},
      name == "this_machine"
          ? no_calibration()
          : "no hardware profile `" + name + "`" + did_you_mean(name, names, "; there is " + all));
  return false;
}

Hardware hardware_for(const Options& options, Session& session, std::string_view profile,
                      std::int64_t ranks) {
  const std::string_view named = options.hardware.empty() ? profile : options.hardware;
  std::optional<HardwareChoice> found = session.hardware(named.empty() ? "this_machine" : named);
  if (!found) {
    found = session.hardware(kDefaultHardware);
  }
  return found ? found->for_ranks(ranks) : Hardware{};
}

}  // namespace mtf
