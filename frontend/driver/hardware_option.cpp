#include "frontend/driver/hardware_option.h"

#include <string>
#include <vector>

namespace mtf {

constexpr std::string_view kDefaultHardware = "cpu_core";

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
          ? "this machine is not measured yet; `mtf calibrate` does it"
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
