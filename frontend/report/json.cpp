#include "frontend/report/json.h"

#include "frontend/report/json_parts.h"
#include "frontend/report/plan/step_line.h"
#include "frontend/report/plan/step_text.h"
#include "frontend/report/why/reason.h"
#include "lowering/loops/loops.h"

namespace mtf {

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json axes_json(const Mesh& mesh, const Axes& axes) {
  Json names = Json::array();
  for (const AxisId axis : axes) {
    names.push_back(mesh.axes[axis].name);
  }
  return names;
}

Json mesh_json(const Mesh& mesh) {
  Json axes = Json::array();
  for (const MeshAxis& axis : mesh.axes) {
    axes.push_back({{"axis", axis.name}, {"size", axis.size}});
  }
  return axes;
}

Json totals_json(const Totals& totals, const Mesh& mesh) {
  Json collectives = Json::array();
  for (const CollectiveTotal& total : totals.collectives) {
    collectives.push_back({{"kind", to_string(total.kind)},
                           {"axes", axes_json(mesh, total.axes)},
                           {"calls", total.calls},
                           {"messages", total.messages},
                           {"elements", total.elements},
                           {"received", total.received},
                           {"bytes", total.bytes}});
  }
  Json json = {{"flops", totals.flops},
               {"peak_bytes", totals.peak_bytes},
               {"parameters", totals.parameters},
               {"collectives", std::move(collectives)}};
  if (totals.loops > 0) {  // of which one trip is in all these
    json["loops"] = totals.loops;
  }
  return json;
}

std::int32_t line_of(const SourceMap& sources, SourceSpan span) {
  return span.file.valid() ? sources.place(span.file, span.begin).line : 0;
}

namespace {

// The axes that a kernel's loops are split over, or those of a collective's group.
Axes axes_of(const Step& step) {
  if (step.kind != StepKind::kKernel) {
    return step.axes;
  }
  Axes axes;
  for (const LocalCall& call : step.calls) {
    for (const Axes& loop : call.split->loops) {
      std::ranges::copy_if(loop, std::back_inserter(axes),
                           [&axes](AxisId axis) { return !has(axes, axis); });
    }
  }
  std::ranges::sort(axes);
  return axes;
}

// In which its result passes, or in which it is done.
std::int64_t pieces_of(const SpmdProgram& program, const Step& step) {
  return step.kind == StepKind::kKernel ? step.calls.front().stream->parts
                                        : program.at(step.to).pieces;
}

Json step_json(const SpmdProgram& program, const Makers& makers, const Step& step,
               const StepLine& text, const SourceMap& sources) {
  Json dims = Json::array();
  for (const std::string& dim : dims_of(program, makers, step)) {
    dims.push_back(dim);
  }
  return {{"kind", to_string(step.kind)},
          {"value", text.value},
          {"op", text.before + text.op},
          {"axes", axes_json(program.mesh, axes_of(step))},
          {"dims", std::move(dims)},
          {"elements", step.elements},
          {"received", step.received},
          {"bytes", step.bytes},
          {"pieces", pieces_of(program, step)},
          {"flops", step.flops},
          {"why", text.why},
          {"line", line_of(sources, text.span)}};
}

Json steps_json(const SpmdProgram& program, const SourceMap& sources) {
  const std::vector<StepLine> lines = step_lines(program, sources);
  const Makers makers(program);
  Json steps = Json::array();
  int depth = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const LoopMark mark = loop_mark(program.steps[i]);
    steps.push_back(step_json(program, makers, program.steps[i], lines[i], sources));
    if (program.steps[i].with_next) {  // in one message
      steps.back()["with_next"] = true;
    }
    depth += mark == LoopMark::kWhile ? 1 : 0;
    if (depth > 0) {  // that the step is in, with their marks
      steps.back()["loops"] = depth;
    }
    depth -= mark == LoopMark::kEnd ? 1 : 0;
  }
  return steps;
}

}  // namespace

std::string plan_json(const SpmdProgram& program, const SourceMap& sources, std::int64_t rank,
                      std::span<const std::string> entries) {
  return dump({{"entry", program.source.name},
               {"layout", program.layout},
               {"mesh", mesh_json(program.mesh)},
               {"rank", rank},
               {"steps", steps_json(program, sources)},
               {"totals", totals_json(program.totals, program.mesh)},
               {"entries", std::vector<std::string>(entries.begin(), entries.end())}}) +
         "\n";
}

std::string output_json(std::span<const std::string> lines) {
  return dump({{"output", std::vector<std::string>(lines.begin(), lines.end())}});
}

std::string output_line_json(std::string_view line) {
  return dump({{"output", line}});
}

std::string status_json(int status) {
  return dump({{"status", status}});
}

std::string rank_json(const RankCounts& counts, const Mesh& mesh) {
  const std::vector<std::int64_t> at = mesh.coordinates(counts.rank);
  Json coordinates = Json::object();
  for (std::size_t i = 0; i < at.size(); ++i) {
    coordinates[mesh.axes[i].name] = at[i];
  }
  Json entries = Json::array();
  for (const EntryCounts& entry : counts.entries) {
    entries.push_back({{"entry", entry.entry},
                       {"form", entry.form},
                       {"calls", entry.calls},
                       {"totals", totals_json(entry.totals, mesh)}});
  }
  Json messages = Json::array();
  for (const CollectiveTotal& total : counts.totals.collectives) {
    messages.push_back({{"kind", to_string(total.kind)},
                        {"axes", axes_json(mesh, total.axes)},
                        {"sent_bytes", total.sent_bytes},
                        {"received_bytes", total.received_bytes}});
  }
  return dump({{"rank", counts.rank},
               {"coordinates", std::move(coordinates)},
               {"messages", std::move(messages)},
               {"entries", std::move(entries)},
               {"totals", totals_json(counts.totals, mesh)}});
}

std::int64_t bytes_received(std::string_view rank) {
  const Json counted = Json::parse(rank);
  std::int64_t bytes = 0;
  for (const Json& total : counted.at("totals").at("collectives")) {
    bytes += total.at("bytes").get<std::int64_t>();
  }
  return bytes;
}

std::string counts_json(std::span<const std::string> ranks) {
  Json list = Json::array();
  for (const std::string& rank : ranks) {
    list.push_back(Json::parse(rank));
  }
  return dump({{"ranks", std::move(list)}}) + "\n";
}

}  // namespace mtf
