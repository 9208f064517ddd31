#include "frontend/report/why/why_text.h"

#include <algorithm>

#include "frontend/report/quantity.h"
#include "frontend/report/why/reason.h"
#include "ir/support/columns.h"

namespace mtf {
namespace {

constexpr std::size_t kShownHeld = 24;

// A heading, and under it lines that each begin with a word, said once where it repeats.
class Answer {
 public:
  explicit Answer(std::string heading) : heading_(std::move(heading)) {}

  void add(const std::string& word, std::string text) {
    rows_.push_back({word == last_ ? "" : word, std::move(text)});
    last_ = word;
  }

  [[nodiscard]] std::string text() const {
    return heading_ + "\n" + in_columns(rows_, {.indent = 4});
  }

 private:
  std::string heading_;
  std::string last_;
  std::vector<Row> rows_;
};

void add_sides(Answer& answer, const std::string& word, const std::vector<Side>& sides,
               const SpmdProgram& program, const SourceMap& sources) {
  for (const Side& side : sides) {
    const std::vector<std::string> hops = hop_texts(program, sources, side.path);
    if (hops.empty()) {
      answer.add(word, side.text + place_text(sources, side.span));
      continue;
    }
    answer.add(word, side.text + " by " + hops.front());
    for (std::size_t h = 1; h < hops.size(); ++h) {
      answer.add(word, "  and " + describe(program.source, side.path.hops[h].value) + " has " +
                           side.path.hops[h].dim + " by " + hops[h]);
    }
  }
}

// "%25, %21, w2 and 4 more"
std::string made_text(const SpmdProgram& program, const ValueNames& names, StepRange message) {
  constexpr std::size_t kShown = 8;
  std::string text;
  const std::size_t shown = std::min(message.end, message.begin + kShown);
  for (std::size_t s = message.begin; s < shown; ++s) {
    text += (text.empty() ? "" : ", ") + names.of(program.steps[s].to);
  }
  return text +
         (shown == message.end ? "" : " and " + std::to_string(message.end - shown) + " more");
}

// Of what is there before the first step; empty: a step makes it.
std::string given_text(const SpmdProgram& program, ValueId id) {
  for (const Input& input : program.source.inputs) {
    if (input.value == id) {
      return input.is_variable() ? "variable " + input.name : "argument";
    }
  }
  for (const WorkingCopy& copy : program.copies) {
    if (program.at(copy.value).origin == id) {
      return "working copy of " + program.source.inputs[copy.input].name +
             ", cast where that is updated, and kept for the next run";
    }
  }
  return "";
}

std::string value_text(const SpmdProgram& program, ValueId id) {
  if (std::string given = given_text(program, id); !given.empty()) {
    return given;
  }
  const Value& value = program.source.at(id);
  const std::string op(value.op == nullptr        ? ""
                       : value.op->symbol.empty() ? value.op->name
                                                  : value.op->symbol);
  return "result of `" + op + "`" + (value.backward ? " in the backward pass" : "");
}

}  // namespace

std::string place_text(const SourceMap& sources, SourceSpan span) {
  const std::string place = sources.short_place(span);
  return place.empty() ? "" : " (" + place + ")";
}

std::vector<std::string> hop_texts(const SpmdProgram& program, const SourceMap& sources,
                                   const Path& path) {
  std::vector<std::string> texts;
  for (const Hop& hop : path.hops) {
    const bool from_outside = !hop.cause.span.file.valid() && program.layout == "rules";
    texts.push_back(to_text(program, hop.cause) +
                    (from_outside ? " (--rules)" : place_text(sources, hop.cause.span)));
  }
  return texts;
}

std::string why_text(const SpmdProgram& program, const SourceMap& sources, const ValueNames& names,
                     const CollectiveWhy& why) {
  const Step& step = program.steps[why.step];
  Answer answer("  " + names.of(step.to) + " = " + move_text(program, step, names) + ": " +
                count_text(step.elements, "element") + " in, " + bytes_text(step.bytes) +
                " received");
  for (const Reason& reason : step.reasons) {
    const bool backward = step.need.user.valid() && program.source.at(step.need.user).backward;
    answer.add("because", to_text(program, step, reason) + place_text(sources, reason.span) +
                              (backward ? ", in the backward pass" : ""));
  }
  if (const StepRange message = message_of(program, why.step); message.size() > 1) {
    answer.add("message", "one for " + std::to_string(message.size()) +
                              " tensors: " + made_text(program, names, message));
  }
  add_sides(answer, "had", why.had, program, sources);
  add_sides(answer, "wanted", why.wanted, program, sources);
  for (const Alternative& other : why.otherwise) {
    answer.add("otherwise", other.text + ": " + bytes_text(other.bytes) + " received instead of " +
                                bytes_text(other.instead_of) + other.besides);
  }
  return answer.text();
}

std::string why_text(const SpmdProgram& program, const SourceMap& sources, const ValueNames& names,
                     const ValueWhy& why) {
  const Value& value = program.source.at(why.value);
  const std::string name = why.slice.valid() ? names.of(why.slice) : value.name;
  const ValueLayout& layout = program.target(why.value).layout;
  const SpmdValue rests{
      .type = value.type,
      .layout = layout,
      .local = {value.type.dtype, local_shape(value.type.shape, layout, program.mesh)}};
  const std::string type = type_text(rests);
  Answer answer("  " + (name.empty() ? "" : name + "  ") + type + "  " +
                value_text(program, why.value) + place_text(sources, value.span));
  for (const AxisWhy& axis : why.axes) {
    const std::string word = program.mesh.axes[axis.axis].name;
    const std::vector<std::string> hops = hop_texts(program, sources, axis.path);
    if (hops.empty()) {
      answer.add(word, "splits no dim of it: " + axis.absence.text +
                           place_text(sources, axis.absence.span));
      continue;
    }
    answer.add(word, "splits " + axis.path.hops.front().dim + " by " + hops.front());
    for (std::size_t h = 1; h < hops.size(); ++h) {
      answer.add(word, "  and " + describe(program.source, axis.path.hops[h].value) + " has " +
                           axis.path.hops[h].dim + " by " + hops[h]);
    }
  }
  for (const FormWhy& form : why.forms) {
    const Step& step = program.steps[form.step];
    const Axes& partial = program.at(form.slice).layout->partial;
    const std::string as = names.of(form.slice) + "  " + type_text(program.at(form.slice));
    if (step.kind != StepKind::kKernel) {
      answer.add("also", as + " by " + move_text(program, step, names));
    } else if (!partial.empty()) {
      answer.add("first", as + ", a partial sum over " + to_string(program.mesh, partial));
    } else {
      answer.add("also", as + ", as it is computed");
    }
  }
  return answer.text();
}

std::string peak_text(const SpmdProgram& program, const SourceMap& sources, const ValueNames& names,
                      const Peak& peak) {
  std::string text = "  " + bytes_text(program.totals.peak_bytes) + " at the peak";
  if (peak.step) {
    text += ", in step " + std::to_string(*peak.step) + " of " +
            std::to_string(program.steps.size()) + place_text(sources, peak.span);
  }
  std::vector<Row> rows;
  std::int64_t rest = 0;
  for (std::size_t i = 0; i < peak.held.size(); ++i) {
    const Held& held = peak.held[i];
    if (i >= kShownHeld) {
      rest += held.bytes;
      continue;
    }
    const bool gap = !held.value.valid();
    rows.push_back({bytes_text(held.bytes), gap ? "" : names.of(held.value),
                    gap ? "" : type_text(program.at(held.value)), std::string(to_string(held.what)),
                    sources.short_place(held.span)});
  }
  if (rest > 0) {
    rows.push_back({bytes_text(rest), std::to_string(peak.held.size() - kShownHeld) + " others"});
  }
  return text + "\n" + in_columns(rows, {.indent = 4, .right = {0}});
}

}  // namespace mtf
