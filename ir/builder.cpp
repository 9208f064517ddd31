// Every value enters a program here, checked by the rule of its operation.

#include "ir/builder.h"

#include <cassert>
#include <utility>

namespace mtf {
namespace {

// A tile is widened piece by piece, without a trace in the program.
bool casts_around(const OpCall& call) {
  return call.op->tile == nullptr && is_widened(call);
}

}  // namespace

ValueId Builder::input(InputKind kind, std::string name, TensorType type) {
  program_.values.push_back({.op = nullptr,
                             .operands = {},
                             .args = {},
                             .type = std::move(type),
                             .span = span_,
                             .frame = frame_,
                             .name = name,
                             .internal = false,
                             .backward = false,
                             .region = -1,
                             .variable = {}});
  program_.inputs.push_back({.value = program_.last(), .kind = kind, .name = std::move(name)});
  return program_.last();
}

std::optional<ValueId> Builder::call(const OpDef& op, std::span<const ValueId> operands,
                                     OpArgs args, std::span<const SourceSpan> spans) {
  OpCall call{.op = &op,
              .operands = {},
              .args = std::move(args),
              .result = {},
              .span = span_,
              .operand_spans = {spans.begin(), spans.end()}};
  call.operands.reserve(operands.size());
  for (const ValueId operand : operands) {
    call.operands.push_back(type_of(operand));
  }
  if (op.type != nullptr) {
    std::optional<TensorType> type = op.type(call, diags_);
    if (!type) {
      return std::nullopt;
    }
    call.result = std::move(*type);
  }
  if (op.expand != nullptr || casts_around(call)) {
    const std::optional<ValueId> expanded = expand(call, operands);
    if (!expanded || expanded->valid()) {
      return expanded;
    }
  }
  program_.values.push_back({.op = &op,
                             .operands = {operands.begin(), operands.end()},
                             .args = std::move(call.args),
                             .type = std::move(call.result),
                             .span = span_,
                             .frame = frame_,
                             .name = {},
                             .internal = internal_ || backward_ || expanding_ > 0,
                             .backward = backward_,
                             .region = region_,
                             .variable = {},
                             .recompute = recompute_});
  return program_.last();
}

// What the definition is made of nobody wrote; its result is what was called.
std::optional<ValueId> Builder::expand(const OpCall& call, std::span<const ValueId> operands) {
  const auto first = static_cast<std::int32_t>(program_.values.size());
  const auto known = static_cast<std::ptrdiff_t>(through_.size());
  ++expanding_;
  const std::optional<ValueId> result =
      casts_around(call) ? call_widened(call, operands) : call.op->expand(*this, call, operands);
  --expanding_;
  if (result && result->index >= first) {
    program_.at(*result).internal = internal_ || backward_ || expanding_ > 0;
    program_.at(*result).written = call.op;
  }
  if (const auto own = through_.begin() + known; own != through_.end()) {
    if (result && result->index >= first) {
      whole_calls_.push_back({.result = *result,
                              .op = call.op,
                              .operands = {operands.begin(), operands.end()},
                              .args = call.args,
                              .through = {own, through_.end()}});
    }
    through_.erase(own, through_.end());
  }
  return result;
}

// The call with its narrow operands widened, and its result as the rule said: rounded once, and
// what ranks exchange of a sum before that is wide.
std::optional<ValueId> Builder::call_widened(const OpCall& call,
                                             std::span<const ValueId> operands) {
  std::vector<ValueId> wide;
  wide.reserve(operands.size());
  for (const ValueId operand : operands) {
    wide.push_back(widened(operand));
  }
  OpArgs args = call.args;
  for (const auto& [name, value] : call.args.entries()) {
    if (const auto* dtype = std::get_if<DType>(&value)) {
      args.set(name, wide_of(*dtype));
    }
  }
  const std::optional<ValueId> result =
      this->call(*call.op, wide, std::move(args), call.operand_spans);
  return result && !call.op->effect ? cast(*result, call.result.dtype) : result;
}

void Builder::add(OwnGradient own) {
  for (const ValueId result : own.results) {
    own_results_.insert_or_assign(result.index, own_gradients_.size());
  }
  own_gradients_.push_back(std::move(own));
}

void Builder::forget_since(ValueId first) {
  program_.values.erase(program_.values.begin() + first.index, program_.values.end());
  std::erase_if(own_results_, [&](const auto& one) { return one.first >= first.index; });
  std::erase_if(opaque_, [&](std::int32_t one) { return one >= first.index; });
  std::erase_if(whole_calls_, [&](const WholeCall& one) { return one.result >= first; });
}

const OwnGradient* Builder::own_gradient_of(ValueId result) const {
  const auto found = own_results_.find(result.index);
  return found == own_results_.end() ? nullptr : &own_gradients_[found->second];
}

ValueId Builder::emit(std::string_view op, std::vector<ValueId> operands, OpArgs args) {
  const OpDef* definition = find_op(ops_, op);
  assert(definition != nullptr);
  return emit(*definition, std::move(operands), std::move(args));
}

ValueId Builder::emit(Algebra op, std::vector<ValueId> operands, OpArgs args) {
  return emit(op_of(ops_, op), std::move(operands), std::move(args));
}

ValueId Builder::emit(Primitive op, std::vector<ValueId> operands, OpArgs args) {
  return emit(op_of(ops_, op), std::move(operands), std::move(args));
}

ValueId Builder::emit(const OpDef& op, std::vector<ValueId> operands, OpArgs args) {
  const std::optional<ValueId> value = call(op, operands, std::move(args));
  if (!value) {  // not so right after all: its rule has said why
    throw Failure{.diag = diags_.diags().back()};
  }
  return *value;
}

ValueId widened_from(const Program& program, ValueId x, DType dtype) {
  const Value& wide = program.at(x);
  if (wide.op == nullptr || wide.op->primitive != Primitive::kCast) {
    return {};
  }
  const ValueId before = wide.operands.front();
  const bool is_exact = program.at(before).type.dtype == dtype && wide_of(dtype) == wide.type.dtype;
  return is_exact ? before : ValueId();
}

ValueId Builder::cast(ValueId x, DType dtype) {
  const Value& value = program_.at(x);
  if (value.type.dtype == dtype) {
    return x;
  }
  // A cast with a name stays, as gradients by it may be asked for.
  const ValueId before = value.name.empty() ? widened_from(program_, x, dtype) : ValueId();
  if (before.valid()) {
    return before;
  }
  OpArgs args;
  args.set("dtype", dtype);
  return emit(Primitive::kCast, {x}, std::move(args));
}

ValueId Builder::ordered(ValueId x, const Shape& to) {
  return type_of(x).shape == to ? x : emit(Algebra::kTranspose, {x}, to_shape(to));
}

ValueId Builder::opaque(ValueId x) {
  const ValueId same = emit(Algebra::kTranspose, {x}, to_shape(type_of(x).shape));
  opaque_.insert(same.index);
  return same;
}

ValueId Builder::scalar(double value, DType dtype) {
  OpArgs args;
  args.set("shape", Shape{});
  args.set("value", value);
  args.set("dtype", dtype);
  return emit(Primitive::kFill, {}, std::move(args));
}

}  // namespace mtf
