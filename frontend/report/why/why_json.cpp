#include "frontend/report/why/why_json.h"

#include "frontend/report/json_parts.h"
#include "frontend/report/why/reason.h"
#include "frontend/report/why/why.h"
#include "lowering/memory/peak.h"

namespace mtf {
namespace {

class Writer {
 public:
  Writer(const SpmdProgram& program, const SourceMap& sources)
      : program_(program), sources_(sources), names_(program) {}

  [[nodiscard]] Json program(const Layout& layout, const Asked& asked) const {
    Json values = Json::array();
    Json collectives = Json::array();
    const Tracer tracer(program_);
    const RuleSources rule_sources(program_.source, layout);
    for (const ValueId id : asked.values) {
      values.push_back(value(why_value(program_, tracer, layout, rule_sources, id)));
    }
    for (const std::size_t step : asked.steps) {
      collectives.push_back(collective(why_collective(program_, tracer, step, &names_)));
    }
    Json answer = {{"entry", program_.source.name},
                   {"layout", program_.layout},
                   {"mesh", mesh_json(program_.mesh)},
                   {"values", std::move(values)},
                   {"collectives", std::move(collectives)}};
    if (asked.memory) {
      answer["memory"] = memory(peak_of(program_));
    }
    return answer;
  }

 private:
  [[nodiscard]] std::int32_t line(SourceSpan span) const { return line_of(sources_, span); }
  [[nodiscard]] std::string file(SourceSpan span) const {
    return span.file.valid() ? sources_.file(span.file).name : "";
  }

  [[nodiscard]] Json path(const Path& path) const {
    Json hops = Json::array();
    for (const Hop& hop : path.hops) {
      hops.push_back({{"value", describe(program_.source, hop.value)},
                      {"dim", hop.dim},
                      {"axis", program_.mesh.axes[path.axis].name},
                      {"cause", to_text(program_, hop.cause)},
                      {"file", file(hop.cause.span)},
                      {"line", line(hop.cause.span)}});
    }
    return hops;
  }

  [[nodiscard]] Json sides(const std::vector<Side>& sides) const {
    Json list = Json::array();
    for (const Side& side : sides) {
      list.push_back({{"text", side.text}, {"line", line(side.span)}, {"path", path(side.path)}});
    }
    return list;
  }

  // What goes in one message with a step, itself included.
  [[nodiscard]] Json message(std::size_t step) const {
    Json values = Json::array();
    const StepRange message = message_of(program_, step);
    for (std::size_t s = message.begin; s < message.end; ++s) {
      values.push_back(names_.of(program_.steps[s].to));
    }
    return values;
  }

  [[nodiscard]] Json collective(const CollectiveWhy& why) const {
    const Step& step = program_.steps[why.step];
    Json because = Json::array();
    for (const Reason& reason : step.reasons) {
      because.push_back({{"text", to_text(program_, step, reason)}, {"line", line(reason.span)}});
    }
    Json otherwise = Json::array();
    for (const Alternative& other : why.otherwise) {
      otherwise.push_back(
          {{"text", other.text}, {"bytes", other.bytes}, {"instead_of", other.instead_of}});
    }
    return {{"kind", to_string(step.kind)},
            {"value", names_.of(step.to)},
            {"op", move_text(program_, step, names_)},
            {"axes", axes_json(program_.mesh, step.axes)},
            {"elements", step.elements},
            {"received", step.received},
            {"bytes", step.bytes},
            {"message", message(why.step)},
            {"because", std::move(because)},
            {"had", sides(why.had)},
            {"wanted", sides(why.wanted)},
            {"otherwise", std::move(otherwise)}};
  }

  [[nodiscard]] Json value(const ValueWhy& why) const {
    Json axes = Json::array();
    for (const AxisWhy& axis : why.axes) {
      Json entry = {{"axis", program_.mesh.axes[axis.axis].name}};
      if (axis.path.hops.empty()) {
        entry["why_not"] = axis.absence.text;
        entry["line"] = line(axis.absence.span);
      } else {
        entry["dim"] = axis.path.hops.front().dim;
        entry["path"] = path(axis.path);
      }
      axes.push_back(std::move(entry));
    }
    const Value& value = program_.source.at(why.value);
    return {{"value", why.slice.valid() ? names_.of(why.slice) : value.name},
            {"type", to_string(value.type)},
            {"line", line(value.span)},
            {"axes", std::move(axes)}};
  }

  [[nodiscard]] Json memory(const Peak& peak) const {
    Json held = Json::array();
    for (const Held& entry : peak.held) {
      held.push_back({{"value", entry.value.valid() ? names_.of(entry.value) : ""},
                      {"what", to_string(entry.what)},
                      {"bytes", entry.bytes},
                      {"line", line(entry.span)}});
    }
    return {{"peak_bytes", program_.totals.peak_bytes},
            {"step", peak.step ? Json(*peak.step) : Json(nullptr)},
            {"line", line(peak.span)},
            {"held", std::move(held)}};
  }

  const SpmdProgram& program_;
  const SourceMap& sources_;
  ValueNames names_;
};

}  // namespace

std::string why_json(const SpmdProgram& program, const SourceMap& sources, const Layout& layout,
                     const Asked& asked) {
  return dump(Writer(program, sources).program(layout, asked));
}

std::string answers_json(std::span<const std::string> answers) {
  std::string text;
  for (const std::string& answer : answers) {
    text += (text.empty() ? "" : ", ") + answer;
  }
  return "{\"answers\": [" + text + "]}\n";
}

}  // namespace mtf
