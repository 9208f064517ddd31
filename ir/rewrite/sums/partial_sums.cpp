#include "ir/rewrite/sums/partial_sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/rewrite/sums/join.h"

namespace mtf {
namespace {

class Parts {
 public:
  Parts(Builder& builder, const std::string& dim, std::int64_t ways)
      : builder_(builder.program(), builder.ops(), ignored_),
        dim_(dim),
        ways_(ways),
        span_(builder.span()),
        frame_(builder.frame()) {}

  // The parts of a value; nullopt: it is no sum over the dim.
  std::optional<ValueId> of(ValueId id) {
    if (const auto known = parts_.find(id.index); known != parts_.end()) {
      return known->second;
    }
    const Value value = program().at(id);  // a copy: the list grows
    std::optional<ValueId> parts;
    if (value.op != nullptr && !value.type.shape.has(dim_)) {
      parts = sums_over_dim(id) ? as_sum(value) : as_linear(value);
    }
    parts_.emplace(id.index, parts);
    return parts;
  }

  // Of one that is none.
  ValueId equal_parts(ValueId id) {
    const Shape shape = in_parts(builder_.type_of(id).shape);
    builder_.at(program().at(id));
    const ValueId whole = builder_.widened(id);
    const ValueId share =
        builder_.scalar(1.0 / static_cast<double>(ways_), builder_.type_of(whole).dtype);
    const ValueId part = builder_.emit(Algebra::kProduct, {whole, share});
    return builder_.emit(Algebra::kBroadcast, {part}, to_shape(shape));
  }

  // With the dim first.
  ValueId in_order(ValueId parts, const Shape& whole) {
    return builder_.ordered(parts, in_parts(whole));
  }

 private:
  [[nodiscard]] const Program& program() const { return builder_.program(); }

  [[nodiscard]] Shape in_parts(const Shape& shape) const {
    std::vector<Dim> dims = {{.name = dim_, .size = ways_}};
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    return Shape(std::move(dims));
  }

  // The blocks of the dim, and what is inside of one.
  [[nodiscard]] Shape cut_shape(const Shape& shape) const {
    std::vector<Dim> dims;
    for (const Dim& dim : shape.dims()) {
      if (dim.name != dim_) {
        dims.push_back(dim);
        continue;
      }
      dims.push_back({.name = dim_, .size = ways_});
      dims.push_back({.name = name_inside(dim_), .size = dim.size / ways_});
    }
    return Shape(std::move(dims));
  }

  // The operation on other operands; nullopt where its result has not the dims of `shape`.
  std::optional<ValueId> call(const Value& value, const std::vector<ValueId>& operands,
                              const Shape& shape) {
    OpArgs args = value.args;
    if (args.get<Shape>("to") != nullptr) {
      args.set("to", shape);
    }
    builder_.at(value);
    const std::optional<ValueId> made = builder_.call(*value.op, operands, std::move(args));
    const bool fits = made && builder_.type_of(*made).dtype == value.type.dtype &&
                      same_dims(builder_.type_of(*made).shape, shape);
    return fits ? made : std::nullopt;
  }

  // ---- the sum itself ------------------------------------------------------------------------

  // Whether the operation sums over the dim, which cuts each operand's into blocks of one size.
  [[nodiscard]] bool sums_over_dim(ValueId id) const {
    const Value& value = program().at(id);
    if (value.op->space == nullptr || value.args.get<Shape>("to") == nullptr) {
      return false;
    }
    const OpCall call = call_of(program(), id);
    const IterationSpace space = value.op->space(call);
    const auto loop = std::ranges::find(space.loops, dim_, &LoopDim::name);
    if (loop == space.loops.end() || loop->role != DimRole::kReduced ||
        space.combine != Combine::kSum || loop->size % ways_ != 0) {
      return false;
    }
    const auto number = static_cast<std::size_t>(loop - space.loops.begin());
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const std::optional<std::size_t> own = call.operands[i].shape.index_of(dim_);
      if (own && space.operands[i][*own] != std::vector{number}) {
        return false;
      }
    }
    return std::ranges::none_of(space.windows, [&](const WindowDim& window) {
      return call.operands[window.operand].shape[window.dim].name == dim_;
    });
  }

  std::optional<ValueId> as_sum(const Value& value) {
    std::vector<ValueId> operands = value.operands;
    for (ValueId& operand : operands) {
      operand = cut(operand);
    }
    return call(value, operands, in_parts(value.type.shape));
  }

  // The blocks of an operand, as a dim of its own. Products and what only repeats elements are cut
  // before, so that a sum of products stays one, and what is cut is small.
  ValueId cut(ValueId id) {
    if (!builder_.type_of(id).shape.has(dim_)) {
      return id;
    }
    if (const auto known = cut_.find(id.index); known != cut_.end()) {
      return known->second;
    }
    const Value value = program().at(id);
    const Shape shape = cut_shape(value.type.shape);
    std::optional<ValueId> made;
    if (may_cut_before(id)) {
      std::vector<ValueId> operands = value.operands;
      for (ValueId& operand : operands) {
        operand = cut(operand);
      }
      made = call(value, operands, shape);
    }
    if (!made) {
      builder_.at(value);
      builder_.at(span_, frame_);  // a layout that does not fit the blocks is about these
      made = builder_.emit(Primitive::kReshape, {id}, to_shape(shape));
    }
    cut_.emplace(id.index, *made);
    return *made;
  }

  [[nodiscard]] bool may_cut_before(ValueId id) const {
    const Value& value = program().at(id);
    if (value.op == nullptr || value.op->random || value.op->effect) {
      return false;
    }
    const auto is_smaller = [&](ValueId operand) {
      return program().at(operand).type.shape.volume() < value.type.shape.volume();
    };
    if (value.op->algebra == Algebra::kTranspose) {
      return true;
    }
    if (std::ranges::none_of(value.operands, is_smaller)) {
      return false;
    }
    return value.op->algebra == Algebra::kProduct || value.op->algebra == Algebra::kBroadcast ||
           (value.operands.size() == 1 && keeps_dim(id));
  }

  // Whether the one operand has the dim as the result has it.
  [[nodiscard]] bool keeps_dim(ValueId id) const {
    const Value& value = program().at(id);
    if (value.op->space == nullptr || !program().at(value.operands.front()).type.shape.has(dim_)) {
      return false;
    }
    const IterationSpace space = value.op->space(call_of(program(), id));
    const auto loop = std::ranges::find(space.loops, dim_, &LoopDim::name);
    return loop != space.loops.end() && loop->role == DimRole::kKept && space.windows.empty();
  }

  // ---- what is linear behind it --------------------------------------------------------------

  std::optional<ValueId> as_linear(const Value& value) {
    const OpDef& op = *value.op;
    if (op.primitive == Primitive::kCast) {
      return of_cast(value);
    }
    if (op.algebra == Algebra::kProduct || op.primitive == Primitive::kDivide ||
        (op.algebra == Algebra::kEinsum && value.args.find("terms") == nullptr)) {
      return of_one(value);
    }
    const bool is_linear = op.linear != Linear::kNo || op.primitive == Primitive::kNegate ||
                           op.algebra == Algebra::kSum;
    return is_linear ? of_all(value) : std::nullopt;
  }

  std::optional<ValueId> of_cast(const Value& value) {
    const std::optional<ValueId> wide = of(value.operands.front());
    if (!wide || !is_float(builder_.type_of(*wide).dtype)) {
      return std::nullopt;
    }
    builder_.at(value);
    return builder_.cast(*wide, wide_of(value.type.dtype));
  }

  // Linear in each operand.
  std::optional<ValueId> of_one(const Value& value) {
    const std::size_t count = value.op->primitive == Primitive::kDivide ? 1 : value.operands.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (const std::optional<ValueId> parts = of(value.operands[i])) {
        std::vector<ValueId> operands = value.operands;
        operands[i] = *parts;
        return call(value, operands, in_parts(value.type.shape));
      }
    }
    return std::nullopt;
  }

  // Linear in all of them together.
  std::optional<ValueId> of_all(const Value& value) {
    std::vector<std::optional<ValueId>> parts;
    for (const ValueId operand : value.operands) {
      // Without a sum over it, the dim went another way: into a reshape, or one index was taken.
      if (builder_.type_of(operand).shape.has(dim_)) {
        return std::nullopt;
      }
      parts.push_back(of(operand));
    }
    if (std::ranges::none_of(parts, [](const auto& part) { return part.has_value(); })) {
      return std::nullopt;
    }
    std::vector<ValueId> operands = value.operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Shape whole = builder_.type_of(operands[i]).shape;
      operands[i] = in_order(parts[i] ? *parts[i] : equal_parts(operands[i]), whole);
    }
    return call(value, operands, in_parts(value.type.shape));
  }

  DiagSink ignored_;
  Builder builder_;
  const std::string& dim_;
  std::int64_t ways_;
  SourceSpan span_;  // of the call
  std::int32_t frame_;
  std::map<std::int32_t, std::optional<ValueId>> parts_;  // by value
  std::map<std::int32_t, ValueId> cut_;
};

}  // namespace

PartialSums partial_sums(Builder& builder, const std::vector<ValueId>& sums, const std::string& dim,
                         std::int64_t ways) {
  Parts parts(builder, dim, ways);
  PartialSums result;
  for (const ValueId sum : sums) {
    const Shape whole = builder.type_of(sum).shape;
    const std::optional<ValueId> own = parts.of(sum);
    result.any = result.any || own;
    result.parts.push_back(parts.in_order(own ? *own : parts.equal_parts(sum), whole));
  }
  return result;
}

}  // namespace mtf
