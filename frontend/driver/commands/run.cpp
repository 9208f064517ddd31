// `mtf run`: the whole file is checked before anything runs; then it runs, on the ranks that mpirun
// started or on a mesh simulated in this process.

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "frontend/driver/devices/execute_device.h"
#include "frontend/driver/hardware_option.h"
#include "frontend/driver/launch.h"
#include "frontend/driver/launch/agreed.h"
#include "frontend/driver/mesh_size.h"
#include "frontend/driver/metrics/metrics_log.h"
#include "frontend/driver/progress.h"
#include "frontend/driver/search/automatic.h"
#include "frontend/parse/parse.h"
#include "frontend/report/json.h"
#include "frontend/report/run/counts_text.h"
#include "frontend/report/run/profile_text.h"
#include "frontend/report/run/trace.h"
#include "runtime/ranks/mpi/launch.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

// Collective. The report of all ranks, on the first one; empty on the others.
std::string count_report(const ExecuteDevice& device, Communicator& ranks, bool json) {
  std::vector<std::string> jsons;
  std::vector<std::string> texts;
  for (const RankCounts& counts : device.counts()) {
    jsons.push_back(rank_json(counts, device.mesh()));
    texts.push_back(rank_text(counts, device.mesh()));
  }
  jsons = ranks.share(jsons);
  texts = ranks.share(texts);
  if (!ranks.has_first_rank()) {
    return "";
  }
  return json ? counts_json(jsons) : counts_text(texts, jsons);
}

// Collective. Shown by the first rank, where it does not disturb the program's own output.
void show_profile(Workspace& workspace, const Timeline& timeline, const Layout& layout,
                  Session& session, Communicator& ranks) {
  Profile profile = profile_of(timeline, layout, ranks);
  const std::string& named = workspace.options.hardware;
  if (const std::optional<HardwareChoice> hardware =
          session.hardware(named.empty() ? "this_machine" : named)) {
    add_predictions(profile, hardware->for_ranks(ranks.ranks()));
  }
  if (ranks.has_first_rank() && workspace.options.json) {
    workspace.answers.push_back(profile_json(profile, workspace.sources));
  } else if (ranks.has_first_rank()) {
    end_progress();
    std::fflush(stdout);
    std::fputs(profile_text(profile, workspace.sources).c_str(), stderr);
  }
}

// Collective. Of a program that failed, what there is goes into the trace.
void report_times(Workspace& workspace, Timeline& timeline, const ExecuteDevice& device,
                  Session& session, DiagSink& diags) {
  std::unique_ptr<Communicator> alone;  // of a program that computes nothing
  if (device.communicator() == nullptr) {
    alone = simulated_communicator(1);
  }
  Communicator& ranks = alone == nullptr ? *device.communicator() : *alone;
  if (!timeline.is_started()) {
    timeline.start(ranks);
  }
  timeline.stop();
  if (diags.ok() && workspace.options.profile) {
    show_profile(workspace, timeline, device.layout(), session, ranks);
  }
  if (!workspace.options.trace.empty()) {
    write_trace(workspace.options.trace, timeline, device.layout(), workspace.sources, ranks,
                diags);
  }
}

// Ends a loop of the host alone, between two of its statements, where nothing runs on the device.
std::function<void()> host_interruption(const ExecuteDevice& device, Interruption& interruption) {
  return
      [&device, &interruption, statements = std::uint64_t{0}, runs = std::uint64_t{0}]() mutable {
        constexpr std::uint64_t kHostAlone = 1'000;  // what a unit prints comes before it is ended
        statements = std::exchange(runs, device.runs()) == device.runs() ? statements + 1 : 0;
        if (statements <= kHostAlone) {
          return;
        }
        if (Communicator* ranks = device.communicator()) {
          interruption.before_statement(*ranks);
        } else {
          throw_if_interrupted();
        }
      };
}

void say_counts(Workspace& workspace, const ExecuteDevice& device) {
  const bool json = workspace.options.json;
  const std::string report = count_report(device, *device.communicator(), json);
  if (json && !report.empty()) {
    workspace.answers.push_back(report);
  } else {
    say(workspace, report);
  }
}

// What ended it before its end, if that was a signal. `failed`: it is about to throw anything else.
std::optional<Interrupted> run_until_interrupted(Session& session, ast::File tree,
                                                 const std::function<void()>& failed) {
  note_interruptions();
  try {
    session.run(std::move(tree));
  } catch (const Interrupted& stop) {
    return stop;
  } catch (...) {
    failed();
    throw;
  }
  return std::nullopt;
}

// Where a run was interrupted, and what of it is lost: " after step 3 (call 4 of `train`), within
// step 0 (call 1 of `test`); nothing was saved".
std::string done_by(const ExecuteDevice& device, const Session& session) {
  const std::string& last = device.last_step();
  const std::string& within = device.running_step();
  const std::string& saved = device.saved_step();
  std::string text = last.empty() ? "" : " after " + last;
  text += within.empty() ? "" : (text.empty() ? " within " : ", within ") + within;
  if (last.empty() || last == saved || !session.has_save()) {
    return text;
  }
  return text + "; nothing was saved" + (saved.empty() ? "" : " since " + saved);
}

void warn_of_run(Workspace& workspace, const DiagSink& diags, const Communicator* world) {
  const bool first_rank = world == nullptr || world->has_first_rank();
  if (first_rank && diags.ok() && !diags.diags().empty()) {
    warn(workspace, diags);
  }
}

// Of the ranks of this process together; 0: nobody has measured.
double peak_flops(const Options& options, Session& session, Communicator* world) {
  const std::optional<HardwareChoice> hardware =
      session.hardware(options.hardware.empty() ? "this_machine" : options.hardware);
  return hardware ? hardware->for_ranks(world == nullptr ? 1 : world->ranks()).flops : 0;
}

ExecuteOptions asked_of_device(const Options& options) {
  return {.ops = op_table(),
          .exact = !options.fast,
          .nan_is_error = options.nan_is_error || options.check_nan,
          .check_finite = options.check_nan,
          .seed = options.seed,
          .max_memory = options.max_memory,
          .count = options.count,
          .check_plan = plans_are_to_be_checked(),
          .print = {},
          .after_run = {},
          .observe = {},
          .ends_saved = true};
}

Outcome execute(Workspace& workspace, FileId file, std::map<std::string, TensorType> variables,
                Interruption& interruption, Communicator* world) {
  const Options& options = workspace.options;
  DiagSink diags;
  const bool is_timed = options.profile || !options.trace.empty();
  Timeline timeline(options.trace.empty() ? 0 : kMostTraceEvents,
                    {.begin = options.steps_begin, .end = options.steps_end});
  MetricsLog metrics(options.metrics);
  ExecuteOptions running = asked_of_device(options);
  running.print = [&](std::string_view line) { say_line(workspace, line); };
  running.after_run = [&] { warn_of_run(workspace, diags, world); };
  running.trained = [&](const TrainedStep& step) { metrics.trained(step); };
  running.noted = [&](const NotedMetric& metric) { metrics.noted(metric); };
  running.timeline = is_timed ? &timeline : nullptr;
  running.interruption = &interruption;
  running.variables = std::move(variables);
  ExecuteDevice device(std::move(running), world);
  std::optional<ast::File> tree = parse(file, workspace.sources, diags);
  ElaborateOptions host = elaborate_options(options);
  host.search = automatic(workspace, file);
  host.before_statement = host_interruption(device, interruption);
  Session session(std::move(host), workspace.sources, device, diags);
  metrics.set_peak(peak_flops(options, session, world));
  const auto failed = [&] {
    if (is_timed && world == nullptr) {  // other ranks may be elsewhere
      report_times(workspace, timeline, device, session, diags);
    }
  };
  const std::optional<Interrupted> interrupted =
      run_until_interrupted(session, *std::move(tree), failed);
  metrics.report(diags);
  if (diags.ok() && options.count && device.communicator() != nullptr) {
    say_counts(workspace, device);
  }
  if (is_timed) {
    report_times(workspace, timeline, device, session, diags);
  }
  Outcome outcome = outcome_of(workspace, diags);
  if (interrupted && outcome.status == kDone) {
    say_interrupted(
        workspace, *interrupted,
        interrupted->saved.empty() ? done_by(device, session) : " after " + device.last_step(),
        outcome);
  }
  return outcome;
}

bool fits_ranks(const CheckedProgram& program, const Options& options, Communicator* world,
                DiagSink& diags) {
  const Layout* chosen = program.session.layout();
  return world == nullptr
             ? chosen == nullptr || check_simulated_size(*chosen, options.mesh, diags)
             : check_mesh_size(chosen, program.session.layouts_to_choose(), world->ranks(),
                               sizes_of_dims(program.device.units()), diags);
}

std::optional<Diag> obstacle_to_reports(const Options& options) {
  for (const std::string& path : options.metrics) {
    const MetricsFile file(path);
    const std::string problem = file.obstacle();
    if (!problem.empty()) {
      return Diag{.kind = DiagKind::kFile,
                  .text = in_backticks(file.path()) + " cannot take metrics: " + problem};
    }
  }
  return options.trace.empty() ? std::nullopt : trace_obstacle(options.trace);
}

// The first rank will write them; all of them refuse to run if it cannot.
bool can_report(const Options& options, Communicator* world, DiagSink& diags) {
  const bool first_rank = world == nullptr || world->has_first_rank();
  const std::optional<Diag> obstacle = first_rank ? obstacle_to_reports(options) : std::nullopt;
  if (obstacle) {
    diags.add(*obstacle);
  }
  if (world == nullptr || !world->any(obstacle.has_value())) {
    return !obstacle;
  }
  if (!obstacle) {
    diags.error(DiagKind::kFile, {}, "rank 0 cannot write what is to be reported");
  }
  return false;
}

Outcome check_and_run(Workspace& workspace, Interruption& interruption, Communicator* world) {
  workspace.world = world;
  const std::optional<FileId> file = read_program(workspace, world);
  if (!file) {
    return outcome_of(workspace, workspace.diags);
  }
  std::map<std::string, TensorType> variables;
  {
    const std::unique_ptr<CheckedProgram> program = check_program(workspace, *file);
    if (program != nullptr) {
      check_contracts(workspace, *program, in_use(*program), workspace.diags);
    }
    if (program == nullptr || !workspace.diags.ok()) {
      return outcome_of(workspace, workspace.diags);
    }
    if (world != nullptr &&
        !are_started_alike(workspace, *program, *file, *world, workspace.diags)) {
      return outcome_of(workspace, workspace.diags);
    }
    if (workspace.options.emit) {
      const std::string text = emitted(workspace, *file, *program);
      say(workspace, world == nullptr || world->has_first_rank() ? text : "");
      return outcome_of(workspace, workspace.diags);
    }
    warn_of_idle_mesh(workspace.options.mesh, program->session, workspace.diags);
    if (!knows_hardware(workspace, program->session) ||
        !fits_ranks(*program, workspace.options, world, workspace.diags) ||
        !can_report(workspace.options, world, workspace.diags)) {
      return outcome_of(workspace, workspace.diags);
    }
    variables = program->device.declared();
  }
  if (world == nullptr || world->has_first_rank()) {
    warn(workspace, workspace.diags);
  } else {
    static_cast<void>(take_text(workspace, workspace.diags));  // they are said once
  }
  return execute(workspace, *file, std::move(variables), interruption, world);
}

constexpr std::chrono::minutes kPatience{2};  // of a rank that waits, before it says so

Patience patience_of(const Options& options, std::function<std::string()> place) {
  const bool ends_all = options.hang_timeout.count() > 0;
  return {.limit = ends_all ? options.hang_timeout : kPatience,
          .ends_all = ends_all,
          .place = std::move(place)};
}

}  // namespace

int run_command(const Options& options) {
  const std::optional<Launch> launch = launched();
  if (options.ranks > 0 && !launch) {
    return start_ranks(options);
  }
  if (options.ranks > 0 && options.ranks != launch->ranks) {
    return show_usage_error("mpirun started " + std::to_string(launch->ranks) +
                                " ranks; leave `-n` out, or start mtf without it",
                            options.json);
  }
  Workspace workspace(options);
  Interruption interruption(options.deadline);
  const auto place = [&] { return workspace.sources.short_place(interruption.last_step()); };
  std::unique_ptr<Communicator> world;
  Outcome outcome = guarded(workspace, [&] {
    world = launch ? mpi_communicator({}, patience_of(options, place)) : nullptr;
    return check_and_run(workspace, interruption, world.get());
  });
  if (!launch || launch->rank == 0) {
    show_json(workspace, outcome);
  }
  flush_output(outcome);
  if (world != nullptr && outcome.status != kDone) {
    world->close(outcome.status, outcome.message);
    return outcome.status;
  }
  if (!launch || launch->rank == 0) {
    std::fputs(outcome.message.c_str(), stderr);
  }
  if (world != nullptr) {
    world->close(kDone, "");
  }
  return outcome.status;
}

}  // namespace mtf
