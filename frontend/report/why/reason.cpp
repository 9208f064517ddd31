#include "frontend/report/why/reason.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "frontend/report/plan/step_text.h"
#include "frontend/report/quantity.h"
#include "frontend/report/why/why.h"
#include "ir/support/number.h"
#include "lowering/partition/reason.h"

namespace mtf {
namespace {

std::string_view verb(Combine combine) {
  switch (combine) {
    case Combine::kSum:
      return "summed";
    case Combine::kMax:
      return "reduced to its maximum";
    case Combine::kMin:
      return "reduced to its minimum";
    case Combine::kProd:
    case Combine::kLogSumExp:  // of scans, which say so otherwise
    case Combine::kRecurrence:
      break;
  }
  return "multiplied up";
}

// What is no operation and asks for a layout; "" for an operation.
std::string_view part_of(Requester requester) {
  switch (requester) {
    case Requester::kOperation:
      return "";
    case Requester::kPin:
      return "`@`";
    case Requester::kResult:
      return "the result";
    case Requester::kTrip:
      return "the next trip";
    case Requester::kUpdate:
      break;
  }
  return "the update";
}

std::string reader_text(const SpmdProgram& program, const Step& step) {
  const Value& user = program.source.at(step.need.user);
  if (step.need.requester == Requester::kPin && user.op != nullptr && user.op->symbol.empty()) {
    return in_backticks(user.op->name);
  }
  if (step.need.requester != Requester::kOperation) {
    return std::string(part_of(step.need.requester));
  }
  const bool is_finished =
      step.need.user == program.at(step.from).origin && !is_digest(program, step.from);
  if (is_finished || user.op == nullptr) {
    return "the layout";
  }
  return in_backticks(user.op->name);
}

// "`add` needs it along z, and ranks hold it where y == z".
std::string holders_text(const SpmdProgram& program, const Step& step) {
  const ValueLayout& from = program.at(step.from).layout;
  const ValueLayout& to = program.at(step.to).layout;
  const std::string reader = reader_text(program, step);
  if (step.kind == StepKind::kBroadcast) {
    return reader + " needs it all along " + to_string(program.mesh, step.axes) +
           ", and ranks hold it " + to_string(from.where, program.mesh);
  }
  return to.where.empty() ? reader + " needs it so"
                          : "ranks hold it " + to_string(to.where, program.mesh);
}

std::string resplit_text(const SpmdProgram& program, const Step& step, const Reason& reason) {
  const std::string reader = reader_text(program, step);
  const std::string had = to_string(program.mesh, reason.had);
  const std::string has = to_string(program.mesh, reason.has);
  if (step.need.user == program.at(step.from).origin) {  // it is finished
    return reason.has.empty()
               ? reader + " keeps " + reason.dim + " whole, it was computed split over " + had
               : reader + " splits " + reason.dim + " over " + has;
  }
  if (reason.has.size() < reason.had.size()) {
    return reader + " needs " +
           (reason.has.empty() ? "all of " + reason.dim : reason.dim + " split only over " + has) +
           ", which is split over " + had;
  }
  return reader + " needs " + reason.dim + " split over " + has;
}

std::string choice_text(const SpmdProgram& program, const LocalCall& call) {
  const PricedLoops& next = call.split->otherwise.front();
  return "splits " + loops_text(program, call.split->space, call.split->loops) + ", moving " +
         bytes_text(call.split->bytes) + "; next best " +
         loops_text(program, call.split->space, next.loops) + ", moving " + bytes_text(next.bytes) +
         besides_text(program, next, call.split->bytes);
}

std::string parts_text(const LocalCall& call, StreamLimit limit) {
  std::string text = "in " + std::to_string(call.stream->parts) + " parts of " +
                     call.split->space->loops[call.stream->loop].name;
  switch (limit) {
    case StreamLimit::kSlice:
      return text + ", all that a rank has";
    case StreamLimit::kMemory:
      return text + "; with more, sums that wait for others would take more memory";
    case StreamLimit::kBits:
      return text + "; with more, the sum would have other bits";
    default:
      return text;
  }
}

std::string unstreamed_text(const SpmdProgram& program, const Reason& reason) {
  const std::string op =
      reason.call.valid() ? in_backticks(program.source.at(reason.call).op->name) : "";
  switch (reason.limit) {
    case StreamLimit::kReadTwice:
      return "not streamed: it is read more than once";
    case StreamLimit::kReadWhole:
      return "not streamed: " + op + " reads all of it at once";
    case StreamLimit::kByBlocks:
      return "not streamed: the " + op + " keeps the sums of blocks apart";
    case StreamLimit::kNoGain:
      return "not streamed: parts of the " + op + " would take no less memory";
    case StreamLimit::kReadByParts:
      return "not streamed: the " + op + " passes over it for each part of " + reason.dim;
    default:
      return "not streamed: another move follows";
  }
}

// Whether a step's first reason says what a dim is to be split over, and not what it was.
bool tells_wanted(const SpmdProgram& program, const Step& step) {
  const Reason& reason = step.reasons.front();
  return reason.kind == ReasonKind::kResplit &&
         tells_has(reason.had, reason.has, step.need.user == program.at(step.from).origin);
}

// The axes that it says a dim is split over.
const Axes& told_axes(const SpmdProgram& program, const Step& step) {
  const Reason& reason = step.reasons.front();
  switch (reason.kind) {
    case ReasonKind::kMoved:
    case ReasonKind::kServed:
    case ReasonKind::kShared:
      return reason.had;
    case ReasonKind::kResplit:
      return tells_wanted(program, step) ? reason.has : reason.had;
    default:
      return reason.has;
  }
}

// The nearest hop on the way back of an axis on that side; null: nothing is known.
const Hop* nearest_hop(const std::vector<Side>& sides, AxisId axis, ValueId but_of = {}) {
  const auto known = std::ranges::find_if(sides, [&](const Side& side) {
    return side.path.axis == axis && !side.path.hops.empty() &&
           (!but_of.valid() || side.path.hops.front().value != but_of);
  });
  return known == sides.end() ? nullptr : &known->path.hops.front();
}

// What gave an axis of a step's first reason; none where that is not known.
std::optional<Cause> cause_led_back(const SpmdProgram& program, const Tracer& tracer,
                                    const CollectiveWhy& why, const Step& step, AxisId axis) {
  const Hop* hop = nullptr;
  if (tells_wanted(program, step)) {  // by what else the reader reads, or its result
    const ValueId moved = program.at(step.from).origin;
    hop = nearest_hop(why.wanted, axis, step.need.user == moved ? ValueId() : moved);
  }
  for (const std::vector<Side>* sides : {&why.had, &why.wanted}) {
    hop = hop == nullptr ? nearest_hop(*sides, axis) : hop;
  }
  if (hop != nullptr) {
    return hop->cause;
  }
  for (const Path& path : tracer.of_slice(step.from, axis)) {
    if (!path.hops.empty()) {
      return path.hops.front().cause;
    }
  }
  return std::nullopt;
}

// What gave the axes of a step's first reason; none where that is not known of one of them.
std::vector<Cause> causes_led_back(const SpmdProgram& program, const Tracer& tracer,
                                   std::size_t number) {
  const CollectiveWhy why = why_collective(program, tracer, number, nullptr);
  const Step& step = program.steps[number];
  std::vector<Cause> causes;
  for (const AxisId axis : told_axes(program, step)) {
    const std::optional<Cause> cause = cause_led_back(program, tracer, why, step, axis);
    if (!cause) {
      return {};
    }
    if (std::ranges::none_of(causes, [&](const Cause& had) { return is_same(had, *cause); })) {
      causes.push_back(*cause);
    }
  }
  return causes;
}

}  // namespace

std::string besides_text(const SpmdProgram& program, const PricedLoops& other,
                         std::int64_t chosen) {
  constexpr double kRounding = 1e-6;
  if (other.bytes > chosen) {
    return "";
  }
  if (other.work > 1 + kRounding) {
    const std::string times =
        std::abs(other.work - 2) < kRounding ? "twice" : significant(other.work, 3) + " times";
    return ", with " + times + " the arithmetic" +
           (other.idle.empty() ? ""
                               : ": " + to_string(program.mesh, other.idle) +
                                     ", which an operand is split over, would be idle");
  }
  return other.collectives > 0 ? ", in " + std::to_string(other.collectives) + " more collective" +
                                     (other.collectives == 1 ? "" : "s")
                               : ", which is no better";
}

const LocalCall& call_meant(const Step& step, const Reason& reason) {
  const auto found = std::ranges::find(step.calls, reason.call, &LocalCall::origin);
  return found == step.calls.end() ? step.calls.front() : *found;
}

std::string to_text(const SpmdProgram& program, const Step& step, const Reason& reason) {
  switch (reason.kind) {
    case ReasonKind::kReduced:
      return reason.dim + " is " + std::string(verb(step.combine)) + " and split over " +
             to_string(program.mesh, reason.has);
    case ReasonKind::kCarried:
      return carried_text(carried_by(program, step).value());
    case ReasonKind::kHolders:
      return holders_text(program, step);
    case ReasonKind::kResplit:
      return resplit_text(program, step, reason);
    case ReasonKind::kShared:
      return "ranks along " + to_string(program.mesh, reason.had) +
             " have the same: each does a part";
    case ReasonKind::kMoved:
      return in_backticks(step.calls.front().op().name) + " moves " + reason.dim +
             ", which is split over " + to_string(program.mesh, reason.had);
    case ReasonKind::kServed:
      return in_backticks(step.calls.front().op().name) + " reads " + reason.dim +
             ", which is split over " + to_string(program.mesh, reason.had) + ", at indices";
    case ReasonKind::kWindow:
      return reader_text(program, step) + " reads windows of " + reason.dim +
             ", which is split over " + to_string(program.mesh, reason.has);
    case ReasonKind::kScanned:
    case ReasonKind::kSelected:
      return reader_text(program, step) +
             (reason.kind == ReasonKind::kScanned ? " runs along " : " takes elements along ") +
             reason.dim + ", which is split over " + to_string(program.mesh, reason.has);
    case ReasonKind::kSorted:
      return reader_text(program, step) + " sorts " + reason.dim + ", which is split over " +
             to_string(program.mesh, reason.has);
    case ReasonKind::kCheapest:
      return choice_text(program, call_meant(step, reason));
    case ReasonKind::kStreamed:
      return parts_text(call_meant(step, reason), reason.limit);
    case ReasonKind::kUnstreamed:
      break;
  }
  return unstreamed_text(program, reason);
}

std::string to_text(const SpmdProgram& program, const Cause& cause) {
  switch (cause.kind) {
    case CauseKind::kNone:
      return "";
    case CauseKind::kRule:
      return in_backticks(cause.rule);
    case CauseKind::kPin:
      return in_backticks("@ [" + cause.rule + "]");
    case CauseKind::kVariable:
      return "where the variable is kept";
    case CauseKind::kInferred:
      break;
  }
  const OpDef* op = cause.through < 0 ? nullptr : program.source.at(ValueId{cause.through}).op;
  const std::string through(op == nullptr ? "<-" : op->symbol.empty() ? op->name : op->symbol);
  return "`infer`, from " + describe(program.source, ValueId{cause.from}) + " through " +
         in_backticks(through);
}

Reasons::Reasons(const SpmdProgram& program) : program_(program) {
  std::optional<Tracer> tracer;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const bool names_rule = std::ranges::any_of(
        step.reasons, [](const Reason& reason) { return reason.cause.kind != CauseKind::kNone; });
    if (step.kind == StepKind::kKernel || step.reasons.empty() || names_rule) {
      continue;
    }
    if (!tracer) {
      tracer.emplace(program);
    }
    if (std::vector<Cause> causes = causes_led_back(program, *tracer, s); !causes.empty()) {
      led_back_.emplace(s, std::move(causes));
    }
  }
}

std::vector<Cause> Reasons::causes(std::size_t step, std::size_t reason) const {
  const auto led_back = led_back_.find(step);
  if (reason == 0 && led_back != led_back_.end()) {
    return led_back->second;
  }
  const Cause& cause = program_.steps[step].reasons[reason].cause;
  return cause.kind == CauseKind::kNone ? std::vector<Cause>() : std::vector{cause};
}

std::string Reasons::of(std::size_t step, const SourceMap& sources) const {
  const std::vector<Reason>& reasons = program_.steps[step].reasons;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    std::vector<std::string> rules;
    for (const Cause& cause : causes(step, i)) {
      rules.push_back(to_text(program_, cause));
    }
    const std::string rule = joined(rules, " and ");
    const std::string place = sources.short_place(reasons[i].span);
    std::string part = to_text(program_, program_.steps[step], reasons[i]);
    part += rule.empty() ? "" : " by " + rule;
    part += place.empty() ? "" : " (" + place + ")";
    if (std::ranges::find(parts, part) == parts.end()) {
      parts.push_back(std::move(part));
    }
  }
  return joined(parts, "; ");
}

std::string outer_dims(const CarriedSum& carried) {
  return joined(carried.dims, " and ");
}

std::string carried_text(const CarriedSum& carried) {
  return "that sum is inside the one over " + outer_dims(carried) + ", of which a rank has " +
         std::to_string(carried.blocks) + " blocks";
}

// The order of the dims is that of the operands; where the outer ones are split as well, either
// order moves more.
std::string way_out(const SpmdProgram& program, const Step& step, const CarriedSum& carried) {
  const std::vector<std::string> inner = dims_of(program, Makers(program), step);
  if (carried.splits || inner.empty()) {
    return "sums in any order (--fast)";
  }
  return inner.front() + " before " + outer_dims(carried) + " in the operands, or --fast";
}

std::string loops_text(const SpmdProgram& program, const IterationSpace& space,
                       const std::vector<Axes>& loops) {
  std::string text;
  for (std::size_t l = 0; l < loops.size(); ++l) {
    if (!loops[l].empty()) {
      text += (text.empty() ? "" : ", ") + space.loops[l].name + " over " +
              to_string(program.mesh, loops[l]);
    }
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace mtf
