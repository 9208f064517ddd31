// A fused step is one line where its calls nest ("relu(%3 + bias)"), and one line per call where a
// value inside of it is used twice or the nesting gets long.

#include <algorithm>
#include <map>
#include <utility>

#include "frontend/report/plan/brief.h"
#include "frontend/report/plan/pseudo_code.h"
#include "frontend/report/plan/step_text.h"
#include "frontend/report/quantity.h"
#include "frontend/report/why/reason.h"
#include "ir/support/columns.h"
#include "lowering/loops/loops.h"

namespace mtf {
namespace {

constexpr std::size_t kLongestNested = 44;

std::string_view word(InputKind kind) {
  switch (kind) {
    case InputKind::kArgument:
      return "argument";
    case InputKind::kCaptured:
      return "tensor";
    case InputKind::kParam:
      return "param";
    case InputKind::kState:
      return "state";
  }
  return "";
}

bool joins_and_reduces(const LocalCall& call) {
  return call.operands.size() > 1 &&
         std::ranges::any_of(call.split->space->loops,
                             [](const auto& loop) { return loop.role == DimRole::kReduced; });
}

struct Nested {
  std::string text;
  int precedence = 0;
};

class Lines {
 public:
  Lines(const SpmdProgram& program, const SourceMap& sources, std::int64_t rank)
      : program_(program), sources_(sources), rank_(rank), names_(program), reasons_(program) {}

  std::vector<PlanLine> take() {
    const std::size_t items =
        program_.inputs.size() + program_.steps.size() + program_.updates.size();
    add_items(0, items);
    add_return();
    return std::move(lines_);
  }

  // Without what a folded text does not need.
  BriefPlan take_brief(std::size_t least) {
    BriefPlan plan;
    std::size_t begin = 0;
    for (const LeftOut& left_out : left_out_of(program_, names_, reasons_, least)) {
      add_items(begin, left_out.begin - left_out.length);
      const std::size_t before = count_shown();
      add_items(left_out.begin - left_out.length, left_out.begin);
      const std::size_t at = count_shown();
      constexpr std::size_t kReadLater = 5;  // times of a repetition
      PlanCut& cut = plan.cuts.emplace_back(PlanCut{.at = at,
                                                    .lines = (at - before) * left_out.times,
                                                    .until = at + kReadLater * (at - before)});
      for (const auto& [id, other] : left_out.stands_for) {
        cut.stands_for.emplace_back(names_.of(id), names_.of(other));
      }
      begin = left_out.end();
      add_literals(left_out.begin, begin);
    }
    add_items(begin, program_.inputs.size() + program_.steps.size() + program_.updates.size());
    add_return();
    plan.lines = std::move(lines_);
    plan.read = names_read();
    return plan;
  }

 private:
  // Inputs, steps and updates, one behind the other.
  void add_items(std::size_t begin, std::size_t end) {
    const std::size_t inputs = program_.inputs.size();
    const std::size_t steps = program_.steps.size();
    for (std::size_t i = begin; i < end; ++i) {
      if (i < inputs) {
        add_input(i);
      } else if (i < inputs + steps) {
        add_step_at_depth(i - inputs);
      } else {
        add_update(program_.updates[i - inputs - steps]);
      }
    }
  }

  void add_step_at_depth(std::size_t number) {
    const LoopMark mark = loop_mark(program_.steps[number]);
    depth_ -= mark == LoopMark::kEnd ? 1 : 0;
    const std::size_t first = lines_.size();
    add_step(number);
    for (std::size_t line = first; line < lines_.size(); ++line) {
      lines_[line].loops = depth_;
      lines_[line].is_main = lines_[line].is_main || mark != LoopMark::kNone;
    }
    depth_ += mark == LoopMark::kWhile ? 1 : 0;
  }

  // Lines that a text has.
  [[nodiscard]] std::size_t count_shown() {
    for (; counted_ < lines_.size(); ++counted_) {
      shown_ += lines_[counted_].aside ? 0 : 1;
    }
    return shown_;
  }

  // Others may show the numbers of what is left out.
  void add_literals(std::size_t begin, std::size_t end) {
    const std::size_t inputs = program_.inputs.size();
    for (std::size_t i = std::max(begin, inputs); i < end && i < inputs + program_.steps.size();
         ++i) {
      for (const LocalCall& call : program_.steps[i - inputs].calls) {
        std::string literal = call.result.valid() ? literal_text(call) : "";
        if (!literal.empty()) {
          nested_[call.result.index] = {.text = std::move(literal),
                                        .precedence = precedence_of(call)};
        }
      }
    }
  }

  // Of the values that lines read.
  [[nodiscard]] std::vector<BriefPlan::Read> names_read() const {
    std::vector<char> is_input(program_.values.size(), 0);
    for (const SpmdId id : program_.inputs) {
      is_input[at(id)] = 1;
    }
    for (const WorkingCopy& copy : program_.copies) {
      is_input[at(copy.value)] = 1;
    }
    std::vector<BriefPlan::Read> names;
    for (const SpmdId id : read_) {
      names.push_back({.name = names_.of(id), .is_input = is_input[at(id)] != 0});
    }
    return names;
  }

  void add_input(std::size_t index) {
    const Input& input = program_.source.inputs[index];
    const SpmdId id = program_.inputs[index];
    PlanLine line = line_of(LineKind::kInput, id);
    line.op = word(input.kind);
    line.op += input.name == line.name ? "" : " " + input.name;
    line.why = part_text(program_.at(id));
    lines_.push_back(std::move(line));
    for (const WorkingCopy& copy : program_.copies) {
      if (copy.input == index) {
        add_copy(copy);
      }
    }
  }

  void add_copy(const WorkingCopy& copy) {
    PlanLine line = line_of(LineKind::kInput, copy.value);
    line.op = "working copy of " + names_.of(program_.inputs[copy.input]);
    line.why = part_text(program_.at(copy.value));
    lines_.push_back(std::move(line));
  }

  // "holds batch 0..32", of the dims that are split.
  [[nodiscard]] std::string part_text(const SpmdValue& value) const {
    if (!holds(value.layout, program_.mesh, rank_)) {
      return "holds nothing";
    }
    const Slice slice = slice_of(value.type.shape, value.layout, program_.mesh, rank_);
    std::string text;
    for (std::size_t i = 0; i < value.type.shape.rank(); ++i) {
      if (slice.extent[i] != value.type.shape[i].size) {
        text += (text.empty() ? "holds " : ", ") + value.type.shape[i].name + " " +
                std::to_string(slice.offset[i]) + ".." +
                std::to_string(slice.offset[i] + slice.extent[i]);
      }
    }
    return text;
  }

  // Of a dim that does not divide, later ranks have less than the first.
  [[nodiscard]] Shape own_shape(const SpmdValue& value) const {
    if (!holds(value.layout, program_.mesh, rank_)) {
      return value.local.shape;
    }
    const Slice first = slice_of(value.type.shape, value.layout, program_.mesh, 0);
    const Slice own = slice_of(value.type.shape, value.layout, program_.mesh, rank_);
    std::vector<Dim> dims(value.local.shape.dims().begin(), value.local.shape.dims().end());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      dims[i].size -= first.extent[i] - own.extent[i];
    }
    return Shape(std::move(dims));
  }

  void add_step(std::size_t index) {
    const Step& step = program_.steps[index];
    if (step.kind == StepKind::kKernel) {
      add_kernel(step, index);
      return;
    }
    PlanLine line = line_of(LineKind::kStep, step.to);
    line.op = move_text(program_, step, names_);
    read_.push_back(step.from);
    for (const LocalCall& call : step.calls) {
      read_.insert(read_.end(), call.operands.begin(), call.operands.end());
    }
    line.amount = step.kind == StepKind::kSlice ? "" : bytes_text(step.bytes);
    line.why = reasons_.of(index, sources_);
    line.step = index;
    line.is_main = is_collective(step.kind);
    lines_.push_back(std::move(line));
  }

  void add_kernel(const Step& step, std::size_t index) {
    const std::size_t first = lines_.size();
    std::map<std::int32_t, int> uses;
    for (const LocalCall& call : step.calls) {
      for (const SpmdId operand : call.operands) {
        ++uses[operand.index];
      }
    }
    for (const LocalCall& call : step.calls) {
      add_call(call, uses[call.result.index] == 1, index);
    }
    if (lines_.size() > first) {
      lines_.back().amount = flops_text(step.flops);
      lines_.back().why = reasons_.of(index, sources_);
      const ValueId origin = step.calls.back().origin;
      if (lines_.back().why.empty() && origin.valid() &&
          program_.source.at(origin).recompute.of.valid()) {
        lines_.back().why = "again, by `recompute`";
      }
    }
  }

  // A line, or nothing where the value is shown in the text of its one user; what is reduced has a
  // line, for its dims.
  void add_call(const LocalCall& call, bool used_once, std::size_t step) {
    const Nested text = {.text = call_text(call, operand_text()),
                         .precedence = precedence_of(call)};
    const std::string literal = literal_text(call);
    const bool has_result = call.result.valid();  // an effect has none
    const bool passing = has_result && program_.at(call.result).home == Home::kNone;
    if (has_result && !literal.empty()) {
      nested_[call.result.index] = {.text = literal, .precedence = text.precedence};
    } else if (passing && used_once && call.op().tile != nullptr &&
               width_but_for_numbers(text.text) <= kLongestNested) {
      nested_[call.result.index] = text;
    }
    if (passing && nested_.contains(call.result.index)) {
      return;
    }
    PlanLine line = has_result ? line_of(LineKind::kStep, call.result) : PlanLine{};
    line.kind = LineKind::kStep;
    line.op = text.text;
    line.step = step;
    line.aside = !literal.empty();
    line.is_main = joins_and_reduces(call);
    lines_.push_back(std::move(line));
  }

  [[nodiscard]] OperandText operand_text() {
    return [this](SpmdId id, int least) {
      const auto found = nested_.find(id.index);
      if (found == nested_.end()) {
        read_.push_back(id);
        return names_.of(id);
      }
      return found->second.precedence < least ? "(" + found->second.text + ")" : found->second.text;
    };
  }

  void add_update(const SpmdUpdate& update) {
    PlanLine line = line_of(LineKind::kUpdate, program_.inputs[update.input]);
    line.op = "<- " + operand_text()(update.value, 0);
    lines_.push_back(std::move(line));
    for (const WorkingCopy& copy : program_.copies) {
      if (copy.input == update.input) {
        PlanLine next = line_of(LineKind::kUpdate, copy.value);
        next.op = "<- " + operand_text()(copy.next, 0);
        lines_.push_back(std::move(next));
      }
    }
  }

  void add_return() {
    std::string text;
    for (const SpmdId id : program_.outputs) {
      text += (text.empty() ? "" : ", ") + operand_text()(id, 0);
    }
    if (!text.empty()) {
      PlanLine line;
      line.kind = LineKind::kReturn;
      line.name = "return";
      line.op = text;
      lines_.push_back(std::move(line));
    }
  }

  [[nodiscard]] PlanLine line_of(LineKind kind, SpmdId id) const {
    const SpmdValue& value = program_.at(id);
    const Axes& partial = value.layout->partial;
    PlanLine line;
    line.kind = kind;
    line.name = names_.of(id);
    line.type = type_text(value, own_shape(value));
    line.partial = partial.empty() ? "" : "partial(" + to_string(program_.mesh, partial) + ")";
    if (!value.layout->where.empty()) {
      line.partial += line.partial.empty() ? "" : " ";
      line.partial += to_string(value.layout->where, program_.mesh);
    }
    return line;
  }

  const SpmdProgram& program_;
  const SourceMap& sources_;
  std::int64_t rank_;
  ValueNames names_;
  Reasons reasons_;
  std::map<std::int32_t, Nested> nested_;  // values that are shown where they are used
  std::vector<PlanLine> lines_;
  std::vector<SpmdId> read_;  // whose names are in lines
  std::size_t depth_ = 0;     // of the loops around
  std::size_t counted_ = 0;   // lines, of which `shown_` are shown
  std::size_t shown_ = 0;
};

}  // namespace

std::vector<PlanLine> plan_lines(const SpmdProgram& program, const SourceMap& sources,
                                 std::int64_t rank) {
  return Lines(program, sources, rank).take();
}

BriefPlan brief_plan(const SpmdProgram& program, const SourceMap& sources, std::int64_t rank,
                     std::size_t least) {
  return Lines(program, sources, rank).take_brief(least);
}

}  // namespace mtf
