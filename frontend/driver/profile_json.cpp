#include "frontend/driver/json_text.h"
#include "frontend/driver/profile_text.h"
#include "lowering/price.h"
#include "lowering/step_line.h"

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

void add_ranks(JsonText& json, std::string_view key, const PerRank& ranks) {
  json.key(key).object();
  json.member("min", ranks.least()).member("mean", ranks.mean()).member("max", ranks.most());
  json.close();
}

void add_optional(JsonText& json, std::string_view key, const std::optional<PerRank>& ranks) {
  if (ranks) {
    add_ranks(json, key, *ranks);
  } else {
    json.key(key).null();
  }
}

void add_optional(JsonText& json, std::string_view key, const std::optional<double>& number) {
  if (number) {
    json.member(key, *number);
  } else {
    json.key(key).null();
  }
}

void add_step(JsonText& json, const UnitProfile& unit, std::size_t s, const StepLine& line,
              const SourceMap& sources) {
  const SpmdProgram& program = unit.unit->program;
  const Step& step = program.steps[s];
  const StepProfile& measured = unit.steps[s];
  json.object();
  json.member("kind", to_string(step.kind)).member("family", family_of(step));
  json.member("value", line.value).member("op", line.before + line.op);
  json.key("axes").array();
  for (const AxisId axis : step.axes) {
    json.value(program.mesh.axes[axis].name);
  }
  json.close();
  json.member("place", sources.short_place(line.span));
  json.member("calls", measured.calls).member("median", measured.median);
  add_ranks(json, "seconds", measured.seconds);
  add_optional(json, "waited", measured.waited);
  add_optional(json, "predicted", measured.predicted);
  json.member("flops", step.flops).member("bytes", step.bytes);
  json.member("touched", bytes_touched(program, step));
  json.close();
}

void add_unit(JsonText& json, const UnitProfile& unit, const SourceMap& sources) {
  const std::vector<StepLine> lines = step_lines(unit.unit->program, sources);
  json.object();
  json.member("kind", kind_word(unit.unit->kind)).member("name", unit.unit->name);
  json.member("calls", unit.calls).member("median", unit.median);
  add_ranks(json, "seconds", unit.seconds);
  add_optional(json, "predicted", unit.predicted);
  json.key("steps").array();
  for (std::size_t s = 0; s < unit.steps.size(); ++s) {
    add_step(json, unit, s, lines[s], sources);
  }
  json.close();
  add_ranks(json, "agreeing", unit.agreeing.seconds);
  json.close();
}

void add_groups(JsonText& json, std::string_view key, const std::vector<StepGroup>& groups) {
  json.key(key).array();
  for (const StepGroup& group : groups) {
    json.object().member("name", group.name).member("calls", group.calls);
    json.member("flops", group.flops).member("bytes", group.bytes);
    add_ranks(json, "seconds", group.seconds);
    add_optional(json, "waited", group.waited);
    add_optional(json, "predicted", group.predicted);
    json.close();
  }
  json.close();
}

}  // namespace

std::string profile_json(const Profile& profile, const SourceMap& sources) {
  JsonText json;
  json.object().key("profile").object();
  json.member("layout", profile.layout).member("ranks", profile.ranks);
  json.member("simulated", profile.simulated);
  json.key("mesh").array();
  for (const MeshAxis& axis : profile.mesh.axes) {
    json.object().member("axis", axis.name).member("size", axis.size).close();
  }
  json.close();
  add_ranks(json, "seconds", profile.whole);
  add_ranks(json, "planning", profile.planning);
  add_ranks(json, "gathering", profile.gathering);
  json.key("units").array();
  for (const UnitProfile& unit : profile.units) {
    add_unit(json, unit, sources);
  }
  json.close();
  add_groups(json, "collectives", collectives_by_kind(profile));
  add_groups(json, "kernels", kernels_by_family(profile));
  json.close().close();
  return json.take() + "\n";
}

}  // namespace mtf
