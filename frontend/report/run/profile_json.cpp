#include "frontend/report/json_parts.h"
#include "frontend/report/plan/step_line.h"
#include "frontend/report/run/profile_text.h"
#include "lowering/price/price.h"

namespace mtf {
namespace {

std::string_view kind_word(RunKind kind) {
  switch (kind) {
    case RunKind::kEntry:
      return "entry";
    case RunKind::kStatement:
      return "statement";
    case RunKind::kInitialise:
      return "initialise";
    case RunKind::kMove:
      return "move";
  }
  return "";
}

Json ranks_json(const PerRank& ranks) {
  return {{"min", ranks.least()}, {"mean", ranks.mean()}, {"max", ranks.most()}};
}

Json optional_json(const std::optional<PerRank>& ranks) {
  return ranks ? ranks_json(*ranks) : Json();
}

Json optional_json(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

Json step_json(const UnitProfile& unit, std::size_t s, const StepLine& line,
               const SourceMap& sources) {
  const SpmdProgram& program = unit.unit->program;
  const Step& step = program.steps[s];
  const StepProfile& measured = unit.steps[s];
  return {{"kind", to_string(step.kind)},
          {"family", family_of(step)},
          {"value", line.value},
          {"op", line.before + line.op},
          {"axes", axes_json(program.mesh, step.axes)},
          {"place", sources.short_place(line.span)},
          {"calls", measured.calls},
          {"median", measured.median},
          {"seconds", ranks_json(measured.seconds)},
          {"waited", optional_json(measured.waited)},
          {"hidden", optional_json(measured.hidden)},
          {"predicted", optional_json(measured.predicted)},
          {"flops", step.flops},
          {"bytes", step.bytes},
          {"touched", bytes_touched(program, step)}};
}

Json unit_json(const UnitProfile& unit, const SourceMap& sources) {
  const std::vector<StepLine> lines = step_lines(unit.unit->program, sources);
  Json steps = Json::array();
  for (std::size_t s = 0; s < unit.steps.size(); ++s) {
    steps.push_back(step_json(unit, s, lines[s], sources));
    if (unit.unit->program.steps[s].with_next) {
      steps.back()["with_next"] = true;
    }
  }
  return {{"kind", kind_word(unit.unit->kind)},
          {"name", unit.unit->name},
          {"calls", unit.calls},
          {"median", unit.median},
          {"seconds", ranks_json(unit.seconds)},
          {"predicted", optional_json(unit.predicted)},
          {"steps", std::move(steps)},
          {"agreeing", ranks_json(unit.agreeing.seconds)}};
}

Json groups_json(const std::vector<StepGroup>& groups) {
  Json list = Json::array();
  for (const StepGroup& group : groups) {
    list.push_back({{"name", group.name},
                    {"calls", group.calls},
                    {"flops", group.flops},
                    {"bytes", group.bytes},
                    {"seconds", ranks_json(group.seconds)},
                    {"waited", optional_json(group.waited)},
                    {"hidden", optional_json(group.hidden)},
                    {"predicted", optional_json(group.predicted)}});
  }
  return list;
}

}  // namespace

std::string profile_json(const Profile& profile, const SourceMap& sources) {
  Json units = Json::array();
  for (const UnitProfile& unit : profile.units) {
    units.push_back(unit_json(unit, sources));
  }
  return dump({{"profile",
                {{"layout", profile.layout},
                 {"ranks", profile.ranks},
                 {"simulated", profile.simulated},
                 {"mesh", mesh_json(profile.mesh)},
                 {"seconds", ranks_json(profile.whole)},
                 {"planning", ranks_json(profile.planning)},
                 {"gathering", ranks_json(profile.gathering)},
                 {"ahead",
                  {{"calls", profile.ahead_calls},
                   {"seconds", ranks_json(profile.ahead)},
                   {"waited", ranks_json(profile.awaited)}}},
                 {"units", std::move(units)},
                 {"collectives", groups_json(collectives_by_kind(profile))},
                 {"kernels", groups_json(kernels_by_family(profile))}}}}) +
         "\n";
}

}  // namespace mtf
