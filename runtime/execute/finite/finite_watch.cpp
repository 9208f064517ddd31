#include "runtime/execute/finite/finite_watch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "runtime/execute/executor_program.h"

namespace mtf {
namespace {

std::string number_text(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

// Whether all have another exponent than what is not finite, which is quickly told of f32.
bool are_finite(DType dtype, const void* data, std::int64_t count) {
  constexpr std::uint32_t kExponent = 0x7F80'0000;
  if (dtype != DType::kF32) {
    return false;
  }
  const auto* numbers = static_cast<const float*>(data);
  std::uint32_t found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto exponent = std::bit_cast<std::uint32_t>(numbers[i]) & kExponent;
    found |= static_cast<std::uint32_t>(exponent == kExponent);
  }
  return found == 0;
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

// Where ranks hold parts of what is scanned or selected from, what they exchange is no tensor of
// the program.
bool makes_a_tensor(const LocalCall& call) {
  return call.call.op->tile != nullptr || call.part == CallPart::kAll ||
         call.part == CallPart::kRest;
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
  if (are_finite(dtype, data, count)) {
    return found;
  }
  with_stored(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto* numbers = static_cast<const T*>(data);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto number = static_cast<double>(numbers[i]);
      if (std::isfinite(number)) {
        continue;
      }
      found.has_infinity = true;
      const bool is_nan = std::isnan(number);
      if (found.place < 0 || (is_nan && !found.is_nan)) {
        found.place = i;
        found.is_nan = is_nan;
        found.value = number;
      }
      if (is_nan) {
        return;
      }
    }
  });
  return found;
}

void FiniteWatch::begin(const PreparedProgram& prepared) {
  prepared_ = &prepared;
  const SpmdProgram& program = *prepared.program;
  infinite_.assign(hosts_.size(), std::vector<bool>(program.values.size(), false));
  for (const SpmdId input : program.inputs) {
    for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
      look_at_slice(rank, nullptr, input, /*excused=*/true);
    }
  }
}

bool FiniteWatch::had_infinity(std::size_t rank, std::span<const SpmdId> ids) const {
  return std::ranges::any_of(
      ids, [&](SpmdId id) { return infinite_[rank][static_cast<std::size_t>(id.index)]; });
}

void FiniteWatch::done(const PreparedProgram& prepared, std::size_t step) {
  const Step& what = prepared.program->steps[step];
  const PreparedStep& ready = prepared.steps[step];
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    if (const auto* loop = std::get_if<LoopStep>(&ready.body)) {
      if (loop->what == Primitive::kNext) {
        infinite_[rank][static_cast<std::size_t>(loop->to.index)] =
            had_infinity(rank, {&loop->from, 1});
      }
    } else if (std::holds_alternative<MoveStep>(ready.body)) {
      look_at_move(rank, what);
    } else if (std::holds_alternative<BucketStep>(ready.body)) {
      look_at_message(rank, step);
    } else if (std::holds_alternative<KernelStep>(ready.body) ||
               std::holds_alternative<StreamStep>(ready.body)) {
      const LocalCall& call = what.calls.front();
      if (call.result.valid() && makes_a_tensor(call)) {
        look_at_slice(rank, &call, call.result,
                      call.operands.empty() || had_infinity(rank, call.operands));
      }
    }
  }
}

void FiniteWatch::look_at_move(std::size_t rank, const Step& step) {
  if (makes_a_tensor(step)) {
    const bool excused = !is_sum(step) || had_infinity(rank, {&step.from, 1});
    look_at_slice(rank, nullptr, step.to, excused);
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

void FiniteWatch::made(std::size_t rank, const LocalCall& call, const void* data,
                       const Shape& shape, std::span<const std::int64_t> at) {
  const bool excused = call.operands.empty() || had_infinity(rank, call.operands);
  look(rank, &call, call.result, excused, data, shape, at);
}

void FiniteWatch::look_at_slice(std::size_t rank, const LocalCall* call, SpmdId id, bool excused) {
  const SpmdProgram& program = *prepared_->program;
  const SpmdValue& value = program.at(id);
  const std::int64_t number = communicator_.local_ranks()[rank];
  const void* data = prepared_->at(rank, id);
  if (data == nullptr || value.pieces > 1 || !holds(value.layout, program.mesh, number)) {
    return;
  }
  const Slice slice = slice_of(value.type.shape, value.layout, program.mesh, number);
  look(rank, call, id, excused, data, shape_of(value.type.shape, slice), {});
}

void FiniteWatch::look(std::size_t rank, const LocalCall* call, SpmdId id, bool excused,
                       const void* data, const Shape& shape, std::span<const std::int64_t> at) {
  const SpmdValue& value = prepared_->program->at(id);
  if (!is_float(value.type.dtype)) {
    return;
  }
  const Found found = first_in(value.type.dtype, data, shape.volume());
  if (found.place < 0) {
    if (at.empty()) {
      infinite_[rank][static_cast<std::size_t>(id.index)] = false;
    }
    return;
  }
  infinite_[rank][static_cast<std::size_t>(id.index)] = true;
  if (found.is_nan || !excused) {
    report(rank, call, id, found, shape, at);
  }
}

void FiniteWatch::report(std::size_t rank, const LocalCall* call, SpmdId id, const Found& found,
                         const Shape& shape, std::span<const std::int64_t> at) {
  const SpmdProgram& program = *prepared_->program;
  const SpmdValue& value = program.at(id);
  const Slice slice =
      slice_of(value.type.shape, value.layout, program.mesh, communicator_.local_ranks()[rank]);
  std::vector<std::int64_t> place(shape.rank());
  std::int64_t rest = found.place;
  for (std::size_t d = shape.rank(); d-- > 0;) {
    place[d] = rest % shape[d].size + slice.offset[d] + (d < at.size() ? at[d] : 0);
    rest /= shape[d].size;
  }
  const ValueId origin = call != nullptr ? call->origin : value.origin;
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
                  : in_backticks(written(*source.op)) +
                        (source.backward ? ", in a gradient," : "") + " gives " +
                        number_text(found.value) +
                        (source.name.empty() ? where.empty() ? "" : " in "
                                             : " in " + in_backticks(source.name)) +
                        where + ", the first value that is not finite";
  hosts_[rank].fail(std::move(diag));
}

}  // namespace mtf
