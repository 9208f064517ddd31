// `mtf calibrate`: measures this machine with 1, 2, 4 … ranks at once, and keeps what it finds as a
// module that `of this_machine` reads.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>

#include "frontend/driver/calibrate/measure.h"
#include "frontend/driver/calibrate/measured_profile.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/launch.h"
#include "frontend/driver/launch/cores.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/workspace.h"
#include "frontend/report/quantity.h"
#include "ir/support/columns.h"
#include "ir/support/file.h"
#include "ir/support/number.h"
#include "runtime/ranks/mpi/launch.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr long kMostMeasuredRanks = 64;

std::string curve_text(const Curve& curve) {
  std::string text;
  for (const auto& [size, value] : curve) {
    text += (text.empty() ? "" : ", ") +
            ("[" + significant(size, 4) + ", " + significant(value, 4) + "]");
  }
  return "[" + text + "]";
}

constexpr std::string_view kDoubts = "  # not trusted: ";

// A comment line; empty where there are none.
std::string doubts_text(const Measured& measured) {
  std::string text;
  for (const std::string& figure : measured.doubtful) {
    text += (text.empty() ? std::string(kDoubts) : ", ") + figure;
  }
  return text.empty() ? "" : text + "\n";
}

// As an expression of the language.
std::string profile_text(const Measured& measured) {
  const Hardware& hardware = measured.hardware;
  std::string elements;
  for (const auto& [op, seconds] : hardware.elements) {
    elements +=
        (elements.empty() ? "" : ", ") + ("[\"" + op + "\", " + significant(seconds, 4) + "]");
  }
  std::string collectives;
  for (const MeasuredCollective& row : hardware.collectives) {
    collectives += (collectives.empty() ? "" : ",\n                 ") + ("[\"" + row.kind) +
                   "\", " + std::to_string(row.ranks) + ", " + curve_text(row.seconds) + "]";
  }
  return doubts_text(measured) + "  hardware_profile(ranks = " + std::to_string(hardware.ranks) +
         ", flops = " + significant(hardware.flops, 4) +
         ", overhead = " + significant(hardware.overhead, 4) +
         ",\n    latency = " + significant(hardware.link.latency, 4) +
         ", bandwidth_per_rank = " + significant(hardware.link.bandwidth, 4) +
         ",\n    products = " + curve_text(hardware.products) +
         ",\n    memory_bandwidth = " + curve_text(hardware.memory) + ",\n    elements = [" +
         elements + "],\n    collectives = [" + collectives + "])";
}

// What people want to see of it.
std::string summary(const Hardware& hardware) {
  const auto rate = [](double value) { return significant(value / 1e9, 4); };
  std::vector<Row> rows = {{"products", rate(hardware.flops) + " GFLOP/s at best, " +
                                            rate(value_at(hardware.products, 64)) + " at 64, " +
                                            rate(value_at(hardware.products, 512)) + " at 512"},
                           {"memory", rate(hardware.memory.back().second) + " GB/s, " +
                                          rate(value_at(hardware.memory, 1e5)) + " within 100 kB"},
                           {"a kernel", seconds_text(hardware.overhead) + " besides its work"}};
  for (const MeasuredCollective& row : hardware.collectives) {
    const auto& [bytes, seconds] = row.seconds.back();
    rows.push_back({row.kind + " of " + std::to_string(row.ranks),
                    seconds_text(row.seconds.front().second) + " at least, " +
                        rate(bytes / seconds) + " GB/s received"});
  }
  return count_text(hardware.ranks, "rank") + " at once, each\n" + in_columns(rows);
}

int fail(const std::string& text) {
  std::fprintf(stderr, "mtf: calibrate: %s\n", text.c_str());
  return kProgramError;
}

int write_profile(const std::string& path, const std::string& text) {
  const std::string why = put_file(path, text);
  return why.empty() ? kDone : fail("`" + path + "` cannot be written: " + why);
}

// Asked before the minutes that it takes to measure.
int try_to_keep(const std::string& path) {
  std::error_code ignored;
  const std::string trial = beside(path);
  const std::string why =
      std::filesystem::is_directory(path, ignored) ? "it is a folder" : put_file(trial, "");
  std::filesystem::remove(trial, ignored);
  return why.empty() ? kDone : fail("`" + path + "` cannot be written: " + why);
}

// One of the ranks that `measure_all` started: they measure together, the first one reports.
int measure_as_rank() {
  const std::unique_ptr<Communicator> world = mpi_communicator();
  const Measured measured = measure(op_table(), world.get());
  if (world->has_first_rank()) {
    end_progress();
    std::printf("%s", profile_text(measured).c_str());
    std::fprintf(stderr, "%s%s\n", summary(measured.hardware).c_str(),
                 doubts_text(measured).c_str());
    std::fflush(stdout);
  }
  world->close(kDone, "");
  return kDone;
}

int measure_all(Options options) {
  const std::string path = measured_profile_path();
  if (path.empty()) {
    return fail("neither HOME nor XDG_CONFIG_HOME says where to keep what it measures");
  }
  if (const int status = try_to_keep(path); status != kDone) {
    return status;
  }
  std::string profiles;
  const long most = std::clamp(2 * cores_of_this_process(), 2L, kMostMeasuredRanks);
  for (long ranks = 1; ranks <= most; ranks *= 2) {
    options.ranks = ranks;
    const std::optional<std::string> text = output_of_ranks(options);
    if (!text || text->empty()) {
      return fail("the ranks could not be measured");
    }
    profiles += (profiles.empty() ? "" : ",\n") + *text;
  }
  const bool doubts = profiles.find(kDoubts) != std::string::npos;
  const bool keeps = doubts && measured_profile().has_value();
  const int status = write_profile(
      keeps ? path + ".doubtful" : path,
      "# Written by `mtf calibrate`: what this machine does with so many ranks at once.\n" +
          std::string(kMachineComment) + this_machine() + "\n" + "let this_machine = [\n" +
          profiles + "]\n");
  if (status == kDone && keeps) {
    return fail(
        "this machine is busy: measurements of what is `not trusted` above do not agree; what was "
        "measured before stays, this is in `" +
        path + ".doubtful`");
  }
  if (status == kDone && doubts) {
    std::fprintf(stderr,
                 "mtf: calibrate: this machine is busy: what is `not trusted` above is marked so, "
                 "and is measured better when it is not\n");
  }
  if (status == kDone) {
    std::printf(
        "kept in %s; `mesh m = [x: 2] of this_machine`, or `mtf cost` on a mesh of "
        "nothing, uses it\n",
        path.c_str());
  }
  return status;
}

}  // namespace

int calibrate_command(const Options& options) {
  return launched() ? measure_as_rank() : measure_all(options);
}

}  // namespace mtf
