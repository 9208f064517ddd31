#include "runtime/execute/finite/finite_watch.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/execute/executor_program.h"
#include "runtime/execute/finite/expected.h"
#include "runtime/kernels/finite.h"

namespace mtf {
namespace {

std::string number_text(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

// "[batch 3, io 2]"; nothing of a scalar.
std::string place_text(const Shape& shape, const std::vector<std::int64_t>& place) {
  std::string text;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    text += (d == 0 ? "[" : ", ") + shape[d].name + " " + std::to_string(place[d]);
  }
  return text.empty() ? "" : text + "]";
}

// As in the source.
std::string_view written(const OpDef& op) {
  const std::size_t sign = op.symbol.rfind(' ');  // of "unary -"
  return op.symbol.empty() ? op.name
                           : op.symbol.substr(sign == std::string_view::npos ? 0 : sign + 1);
}

// A cast is known by what it is to: of a precision nobody wrote it.
std::string operation_text(const Value& value) {
  const std::string name = in_backticks(written(*value.op));
  const bool is_cast = value.op->primitive == Primitive::kCast;
  return is_cast ? name + " to " + std::string(to_string(value.type.dtype)) : name;
}

// Where ranks hold parts of what is scanned or selected from, what they exchange is no tensor of
// the program.
bool makes_a_tensor(const LocalCall& call) {
  return call.op().tile != nullptr || call.part == CallPart::kAll || call.part == CallPart::kRest;
}

bool is_sum(const Step& step) {
  return (step.kind == StepKind::kAllReduce || step.kind == StepKind::kReduceScatter ||
          step.kind == StepKind::kReduce) &&
         step.combine == Combine::kSum;
}

bool makes_a_tensor(const Step& step) {
  return step.kind != StepKind::kExclusiveScan && step.kind != StepKind::kSortExchange;
}

}  // namespace

FiniteWatch::Found FiniteWatch::first_in(DType dtype, const void* data, std::int64_t count) {
  Found found;
  if (all_finite(dtype, data, count)) {
    return found;
  }
  found.is_nan = !all_numbers(dtype, data, count);
  with_stored(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto* numbers = static_cast<const T*>(data);
    const auto* first = std::find_if(numbers, numbers + count, [&found](T number) {
      const auto value = static_cast<double>(number);
      return found.is_nan ? std::isnan(value) : std::isinf(value);
    });
    found.place = first - numbers;
    found.value = static_cast<double>(*first);
  });
  return found;
}

void FiniteWatch::begin(const PreparedProgram& prepared) {
  prepared_ = &prepared;
  const SpmdProgram& program = *prepared.program;
  expected_ = expected_to_overflow(program.source);
  seen_.assign(hosts_.size(), std::vector<Seen>(program.values.size(), Seen::kFinite));
  for (const SpmdId input : program.inputs) {
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      seen(rank, input) = Seen::kUnknown;
    }
  }
  for (const WorkingCopy& copy : program.copies) {
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      seen(rank, copy.value) = Seen::kUnknown;
    }
  }
}

// Looks at those of which nothing is known; none of them has been written over.
FiniteWatch::Seen FiniteWatch::worst_of(std::size_t rank, std::span<const SpmdId> ids) {
  Seen worst = Seen::kFinite;
  for (const SpmdId id : ids) {
    if (seen(rank, id) == Seen::kUnknown) {
      look_at_slice({.rank = rank, .id = id, .excused = true});
    }
    worst = std::max(worst, seen(rank, id));
  }
  return worst;
}

void FiniteWatch::done(const PreparedProgram& prepared, std::size_t step) {
  const Step& what = prepared.program->steps[step];
  const PreparedStep& ready = prepared.steps[step];
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    if (const auto* loop = std::get_if<LoopStep>(&ready.body)) {
      if (loop->what == Primitive::kNext) {
        seen(rank, loop->to) = seen(rank, loop->from);
      }
    } else if (std::holds_alternative<MoveStep>(ready.body)) {
      look_at_move(rank, what);
    } else if (std::holds_alternative<BucketStep>(ready.body)) {
      look_at_message(rank, step);
    } else if (std::holds_alternative<KernelStep>(ready.body) ||
               std::holds_alternative<StreamStep>(ready.body)) {
      const LocalCall& call = what.calls.front();
      if (call.result.valid() && makes_a_tensor(call)) {
        look_at_slice({.rank = rank,
                       .call = &call,
                       .id = call.result,
                       .of = call.operands,
                       .excused = call.operands.empty()});
      }
    }
  }
}

void FiniteWatch::look_at_move(std::size_t rank, const Step& step) {
  if (is_sum(step)) {
    const bool is_gone = seen(rank, step.from) == Seen::kUnknown &&
                         prepared_->at(rank, step.from) == prepared_->at(rank, step.to);
    look_at_slice({.rank = rank, .id = step.to, .of = {&step.from, is_gone ? 0U : 1U}});
  } else if (makes_a_tensor(step)) {
    seen(rank, step.to) = Seen::kUnknown;
  }
}

// Its sums are there when all of it is.
void FiniteWatch::look_at_message(std::size_t rank, std::size_t last) {
  const std::vector<Step>& steps = prepared_->program->steps;
  const StepRange message = message_of(*prepared_->program, last);
  for (std::size_t s = message.begin; s < message.end && !steps[last].with_next; ++s) {
    look_at_move(rank, steps[s]);
  }
}

void FiniteWatch::starts(std::size_t rank, std::span<const LocalCall* const> calls) {
  for (const LocalCall* call : calls) {
    seen(rank, call->result) = Seen::kFinite;
  }
}

void FiniteWatch::made(std::size_t rank, const LocalCall& call, const PartOfBand& part) {
  look({.rank = rank,
        .call = &call,
        .id = call.result,
        .of = call.operands,
        .excused = call.operands.empty()},
       part);
}

void FiniteWatch::look_at_slice(const Made& made) {
  const SpmdProgram& program = *prepared_->program;
  const SpmdValue& value = program.at(made.id);
  const std::int64_t number = communicator_.local_ranks()[made.rank];
  const void* data = prepared_->at(made.rank, made.id);
  seen(made.rank, made.id) = Seen::kFinite;
  if (data == nullptr || value.pieces > 1 || !holds(value.layout, program.mesh, number)) {
    return;
  }
  const Slice slice = slice_of(value.type.shape, value.layout, program.mesh, number);
  const Shape shape = shape_of(value.type.shape, slice);
  look(made, {.data = data, .count = shape.volume(), .of = shape});
}

bool FiniteWatch::is_of_nothing(const Made& made) const {
  const SpmdProgram& program = *prepared_->program;
  const std::int64_t number = communicator_.local_ranks()[made.rank];
  return !made.of.empty() && std::ranges::all_of(made.of, [&](SpmdId id) {
    const SpmdValue& value = program.at(id);
    return volume_of(slice_of(value.type.shape, value.layout, program.mesh, number)) == 0;
  });
}

// What it is made of comes first where that is wrong already.
void FiniteWatch::look(const Made& made, const PartOfBand& part) {
  const SpmdValue& value = prepared_->program->at(made.id);
  if (!is_float(value.type.dtype)) {
    return;
  }
  const Found found = first_in(value.type.dtype, part.data, part.count);
  if (found.place < 0 || is_of_nothing(made)) {
    return;
  }
  const Seen of = worst_of(made.rank, made.of);
  if (of == Seen::kExpected || expected_[static_cast<std::size_t>(value.origin.index)]) {
    seen(made.rank, made.id) = Seen::kExpected;
    return;
  }
  seen(made.rank, made.id) = Seen::kInfinite;
  if (found.is_nan || (of == Seen::kFinite && !made.excused)) {
    report(made, found, part);
  }
}

void FiniteWatch::report(const Made& made, const Found& found, const PartOfBand& part) {
  const SpmdProgram& program = *prepared_->program;
  const SpmdValue& value = program.at(made.id);
  const Slice slice = slice_of(value.type.shape, value.layout, program.mesh,
                               communicator_.local_ranks()[made.rank]);
  std::vector<std::int64_t> place(part.of.rank());
  std::int64_t element = 0;  // of the whole value
  std::int64_t rest = part.begin + found.place;
  for (std::size_t d = part.of.rank(); d-- > 0;) {
    const std::int64_t size = part.of[d].size;
    place[d] = rest % size + slice.offset[d] + (d < part.at.size() ? part.at[d] : 0);
    rest /= size;
  }
  for (std::size_t d = 0; d < place.size(); ++d) {
    element = element * value.type.shape[d].size + place[d];
  }
  const ValueId origin = made.call != nullptr ? made.call->origin : value.origin;
  const Value& source = program.source.at(origin);
  const std::string where = place_text(value.type.shape, place);
  Diag diag;
  diag.kind = DiagKind::kNotANumber;
  diag.severity = Severity::kError;
  diag.span = source.span;
  diag.notes = notes_of(program.source, origin);
  diag.text = source.op == nullptr
                  ? describe(program.source, origin) + " holds " + number_text(found.value) +
                        (where.empty() ? "" : " in " + where) + " before anything is computed"
                  : operation_text(source) + (source.backward ? ", in a gradient," : "") +
                        " gives " + number_text(found.value) +
                        (source.name.empty() ? where.empty() ? "" : " in "
                                             : " in " + in_backticks(source.name)) +
                        where + ", the first value that is not finite";
  hosts_[made.rank].fail(std::move(diag), made.id.index, element);
}

}  // namespace mtf
