#include "frontend/elaborate/tensors/arguments/whole_numbers.h"

#include <algorithm>

namespace mtf::host {
namespace {

// What is wrong with operands of these types; nullopt: nothing.
std::optional<DiagKind> complaint(const OpDef& op, const OpArgs& args,
                                  std::vector<TensorType> operands) {
  OpCall call{.op = &op,
              .operands = std::move(operands),
              .args = args,
              .result = {},
              .span = {},
              .operand_spans = {}};
  DiagSink diags;
  if (op.type(call, diags)) {
    return std::nullopt;
  }
  const auto error = std::ranges::find(diags.diags(), Severity::kError, &Diag::severity);
  return error == diags.diags().end() ? DiagKind::kWrongType : error->kind;
}

bool takes(const OpDef& op, const OpArgs& args, const std::vector<TensorType>& operands) {
  return !complaint(op, args, operands);
}

bool is_whole(const Operand& operand) {
  const auto* tensor = operand.value.get<Tensor>();
  return tensor != nullptr ? tensor->whole : as_int(operand.value).has_value();
}

// The types with those of whole numbers as the dtype.
std::vector<TensorType> whole_as(DType dtype, std::span<const Operand> operands,
                                 std::vector<TensorType> types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    types[i].dtype = is_whole(operands[i]) ? dtype : types[i].dtype;
  }
  return types;
}

// As what the operation takes whole numbers; nullopt: it does not. Where something else is wrong,
// that is to be told, and not the dtype.
std::optional<DType> whole_dtype(const OpDef& op, const OpArgs& args,
                                 std::span<const Operand> operands,
                                 const std::vector<TensorType>& types) {
  for (const DType dtype : {DType::kI32, DType::kI64}) {
    if (takes(op, args, whole_as(dtype, operands, types))) {
      return dtype;
    }
  }
  const bool is_as_written =
      complaint(op, args, types) != DiagKind::kDtypeMismatch ||
      complaint(op, args, whole_as(DType::kI32, operands, types)) == DiagKind::kDtypeMismatch;
  return is_as_written ? std::nullopt : std::optional(DType::kI32);
}

}  // namespace

void fit_whole_numbers(Units& units, const OpDef& op, std::span<const Operand> operands,
                       const OpArgs& args, std::vector<ValueId>& ids) {
  std::vector<TensorType> types;
  types.reserve(ids.size());
  for (const ValueId id : ids) {
    types.push_back(units.recording().builder.type_of(id));
  }
  if (op.type == nullptr || std::ranges::none_of(operands, is_whole) || takes(op, args, types)) {
    return;
  }
  const std::optional<DType> dtype = whole_dtype(op, args, operands, types);
  std::vector<TensorType> cast = dtype ? whole_as(*dtype, operands, types) : types;
  for (std::size_t i = 0; dtype && i < ids.size(); ++i) {
    std::swap(cast[i], types[i]);  // as written, if the operation takes it so
    if (is_whole(operands[i]) && !takes(op, args, cast)) {
      std::swap(cast[i], types[i]);
      ids[i] = as_dtype(units, ids[i], *dtype);
    }
  }
}

bool refuses_whole_start(Units& units, const OpDef& op, const OpArgs& args,
                         std::span<const Operand> operands, SourceSpan span) {
  const auto begun = std::ranges::find_if(operands, [](const Operand& operand) {
    const auto* tensor = operand.value.get<Tensor>();
    return tensor != nullptr && tensor->whole_since.file.valid();
  });
  if (begun == operands.end() || op.type == nullptr) {
    return false;
  }
  std::vector<TensorType> types;
  std::vector<TensorType> floats;
  for (const Operand& operand : operands) {
    const auto* tensor = operand.value.get<Tensor>();
    const DType number = operand.value.is<double>() ? DType::kF32 : DType::kI32;
    types.push_back(tensor != nullptr ? tensor->type : TensorType{.dtype = number});
    floats.push_back(types.back());
    if (tensor == nullptr || tensor->whole_since.file.valid()) {
      floats.back().dtype = DType::kF32;
    }
  }
  if (complaint(op, args, types) != DiagKind::kDtypeMismatch || !takes(op, args, floats)) {
    return false;
  }
  const auto& tensor = *begun->value.get<Tensor>();
  const std::string word(op.symbol.empty() ? op.name : op.symbol);
  units.report.error(DiagKind::kDtypeMismatch, span,
                     "`" + tensor.name + "` begins as an int, so the loop hands it on as i32, " +
                         "which `" + word + "` does not take here; begin with a float, as `0.0`, " +
                         "or `cast` it here",
                     {begins_here(tensor, tensor.name)});
  return true;
}

Note begins_here(const Tensor& tensor, const std::string& name) {
  return {.span = tensor.whole_since, .text = "`" + name + "` begins here"};
}

}  // namespace mtf::host
