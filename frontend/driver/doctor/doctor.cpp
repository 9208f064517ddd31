// `mtf doctor`. Started by mpirun it is one of the ranks that a doctor has started, and answers.

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <unistd.h>

#include "frontend/driver/command_line/pages.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/doctor/finding.h"
#include "frontend/driver/workspace.h"
#include "frontend/report/json_parts.h"
#include "ir/support/columns.h"
#include "ir/support/number.h"
#include "runtime/ranks/mpi/launch.h"

namespace mtf {
namespace {

constexpr std::array kChecks = {
    check_mpirun,       check_root,   check_ranks,         check_cores,
    check_instructions, check_memory, check_shared_memory, check_temporary_folder,
    check_calibration};

std::string_view word(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kWarning:
      return "warning";
    case Health::kFailure:
      return "failure";
  }
  return "";
}

std::string findings_text(std::span<const Finding> findings) {
  std::vector<Row> rows;
  for (const Finding& finding : findings) {
    rows.push_back({std::string(word(finding.health)), finding.what, finding.found});
    if (!finding.fix.empty()) {
      rows.push_back({"", "", "fix: " + finding.fix});
    }
  }
  return in_columns(rows, {.indent = 0});
}

std::string findings_json(std::span<const Finding> findings) {
  Json checks = Json::array();
  for (const Finding& finding : findings) {
    checks.push_back({{"check", finding.what},
                      {"status", word(finding.health)},
                      {"found", finding.found},
                      {"fix", finding.fix}});
  }
  Json versions = Json::array();
  std::istringstream lines(version_page());
  for (std::string line; std::getline(lines, line);) {
    versions.push_back(line);
  }
  return dump({{"checks", std::move(checks)}, {"versions", std::move(versions)}});
}

Outcome examine(Workspace& workspace) {
  std::vector<Finding> findings;
  findings.reserve(kChecks.size() + 1);
  for (Finding (*check)() : kChecks) {
    findings.push_back(check());
  }
  findings.push_back(check_leftovers(workspace.options.clean));
  if (workspace.options.json) {
    workspace.answers.push_back(findings_json(findings));
  } else {
    say(workspace, findings_text(findings));
  }
  const bool fails =
      std::ranges::find(findings, Health::kFailure, &Finding::health) != findings.end();
  return {.status = fails ? kProgramError : kDone, .message = ""};
}

// The ranks know of each other, and have exchanged a message.
int answer_as_rank(const Options& options) {
  const std::unique_ptr<Communicator> world = mpi_communicator();
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::vector<std::string> hosts = world->share(std::array<std::string, 1>{host.data()});
  if (world->has_first_rank()) {
    const bool one =
        std::ranges::count(hosts, hosts.front()) == static_cast<std::ptrdiff_t>(hosts.size());
    const std::string found =
        plural(hosts.size(), "rank") + " met, " + (one ? "on one machine" : "on several machines");
    const Finding finding{.what = "ranks", .found = found, .fix = ""};
    std::puts((options.json ? findings_json(std::span(&finding, 1)) : found).c_str());
    std::fflush(stdout);
  }
  world->close(kDone, "");
  return kDone;
}

}  // namespace

int doctor_command(const Options& options) {
  return launched() ? answer_as_rank(options) : run_alone(options, examine);
}

}  // namespace mtf
