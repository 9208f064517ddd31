// Types as they are written, and values against them.

#include "frontend/elaborate/call.h"
#include "frontend/elaborate/precision/precision.h"

namespace mtf::host {
namespace {

// A dim, or a shape to splice, of a type.
std::optional<Shape> type_part(Context& c, const ast::Element& element) {
  if (const auto* sized = std::get_if<ast::Sized>(&element.node)) {
    const std::optional<Dim> dim = evaluate_sized(c, *sized);
    if (!dim) {
      return std::nullopt;
    }
    declare_inline(c.names, *dim, sized->name.span);
    return Shape({*dim});
  }
  const auto& expr = std::get<ast::Expr>(element.node);
  const Value value = evaluate(c, expr);
  if (is_unknown(value)) {
    return std::nullopt;
  }
  std::optional<Shape> shape = dims_in(value);
  if (!shape) {
    const std::string size = value.is<std::int64_t>() ? to_string(value) : "";
    c.report.error(
        DiagKind::kWrongType, expr.span,
        "a type is made of dims; this is " + kind_of(value) +
            (size.empty() ? "" : ", and " + size + " has no name, as in [rows: " + size + "]"));
  }
  return shape;
}

// The shape with the dims of one more part of a type; nullopt: it has one of them.
std::optional<Shape> joined(Context& c, Shape shape, const Shape& part, SourceSpan span) {
  for (const Dim& dim : part.dims()) {
    if (shape.has(dim.name)) {
      c.report.error(DiagKind::kRepeatedDim, span, "`" + dim.name + "` is in this shape twice");
      return std::nullopt;
    }
    shape = shape.with(dim);
  }
  return shape;
}

}  // namespace

std::optional<DeclaredType> evaluate_type(Context& c, const ast::TypeExpr& type) {
  DeclaredType declared{.type = {.dtype = find_dtype(type.name.text).value(), .shape = {}}};
  bool known = true;
  for (std::size_t i = 0; type.dims && i < type.dims->elements.size(); ++i) {
    const ast::Element& element = type.dims->elements[i];
    if (std::holds_alternative<ast::Rest>(element.node)) {
      declared.open = true;
      continue;
    }
    const std::optional<Shape> part = type_part(c, element);
    known = known && part.has_value();
    std::optional<Shape> shape =
        joined(c, declared.type.shape, part.value_or(Shape()), element.span);
    if (!shape) {
      return std::nullopt;
    }
    declared.type.shape = *std::move(shape);
  }
  if (!known) {
    return std::nullopt;
  }
  constexpr std::size_t kMostDims = 256;  // as of a result: stdlib/ops/rules.cpp
  if (declared.type.shape.dims().size() > kMostDims) {
    c.report.error(DiagKind::kOverflow, type.span,
                   std::to_string(declared.type.shape.dims().size()) + " dims; a tensor has " +
                       std::to_string(kMostDims) + " at most");
    return std::nullopt;
  }
  if (!declared.type.shape.checked_volume()) {
    c.report.error(DiagKind::kOverflow, type.span,
                   mtf::to_string(declared.type.shape) + " has more than 2^62 elements");
    return std::nullopt;
  }
  return declared;
}

namespace {

struct Checked {
  Context& c;
  const Operand& operand;
  const ast::TypeExpr& type;
  std::string_view what;
  std::vector<Misfit>* misfits = nullptr;

  [[nodiscard]] Value wrong(DiagKind kind, std::string text) const {
    text = std::string(what) + " " + std::move(text);
    if (misfits != nullptr) {
      misfits->push_back(
          {.kind = kind, .span = operand.span, .text = std::move(text), .declared = type.span});
    } else {
      c.report.error(kind, operand.span, std::move(text),
                     {{.span = type.span, .text = "declared here"}});
    }
    return unknown();
  }
};

Checked with_operand(const Checked& checked, const Operand& operand) {
  return {.c = checked.c,
          .operand = operand,
          .type = checked.type,
          .what = checked.what,
          .misfits = checked.misfits};
}

bool is_callable(const Value& value) {
  return value.is<Function>() || value.is<const OpDef*>() || value.is<const HostFn*>();
}

// What makes a number fit where dims are declared.
std::string way_out(const Value& value, const std::string& word, std::string_view what) {
  const auto* size = value.get<std::int64_t>();
  if ((word != "dim" && word != "dims") || size == nullptr || *size <= 0) {
    return "";
  }
  const std::string name =
      what.starts_with('`') ? std::string(what.substr(1, what.size() - 2)) : "rows";
  return "; `dim " + name + " = " + std::to_string(*size) + "` makes one";
}

// What a value of another kind stands for where the word is declared.
std::optional<Value> standing_for(const Value& value, const std::string& word) {
  const auto* shape = value.get<Shape>();
  if (word == "dim" && shape != nullptr && shape->rank() == 1) {  // [found: 10], which declares it
    return make(shape->dims().front());
  }
  if (word == "list" && shape != nullptr) {  // [h, w], which is a shape wherever it is written
    return make_list(dim_values(*shape));
  }
  if (word == "int" && value.is<Dim>()) {
    return make(value.get<Dim>()->size);
  }
  const std::optional<double> number = word == "float" ? as_real(value) : std::nullopt;
  return number ? std::optional(make(*number)) : std::nullopt;
}

Value checked_word(const Checked& checked, const std::string& word) {
  const Value& value = checked.operand.value;
  const bool fits =
      (word == "dim" && value.is<Dim>()) || (word == "bool" && value.is<bool>()) ||
      (word == "int" && value.is<std::int64_t>()) || (word == "float" && value.is<double>()) ||
      (word == "string" && value.is<std::string>()) || (word == "fn" && is_callable(value)) ||
      (word == "tensor" && value.is<Tensor>()) || (word == "list" && value.is<List>()) ||
      (word == "dims" && dims_in(value));
  if (fits) {
    return value;
  }
  if (const std::optional<Value> other = standing_for(value, word)) {
    return *other;
  }
  return checked.wrong(
      DiagKind::kWrongType,
      "is " + kind_of(value) + "; `" + word + "` is declared" + way_out(value, word, checked.what));
}

Value checked_dims(const Checked& checked, const Tensor& tensor, const DeclaredType& declared) {
  const Shape& shape = tensor.type.shape;
  const std::string seen = mtf::to_string(tensor.type);
  for (const Dim& dim : declared.type.shape.dims()) {
    const Dim* own = shape.find(dim.name);
    if (own == nullptr) {
      return checked.wrong(DiagKind::kDimMissing, "is " + seen + ", without the dim `" + dim.name +
                                                      "` of size " + std::to_string(dim.size));
    }
    if (own->size != dim.size) {
      return checked.wrong(DiagKind::kDimSize, "has " + dim.name + " " + std::to_string(own->size) +
                                                   " where " + dim.name + " " +
                                                   std::to_string(dim.size) + " is declared");
    }
  }
  for (const Dim& dim : shape.dims()) {
    if (!declared.open && !declared.type.shape.has(dim.name)) {
      return checked.wrong(DiagKind::kUnknownDim, "is " + seen + "; `" + dim.name + "` is not in " +
                                                      mtf::to_string(declared.type.shape));
    }
  }
  return checked.operand.value;
}

bool takes_whole(DType dtype) {
  return dtype == DType::kI32 || dtype == DType::kI64;
}

// "f32[batch 8, ..]"
std::string declared_text(const DeclaredType& declared) {
  std::string text = mtf::to_string(declared.type);
  if (declared.open) {
    text.insert(text.size() - 1, declared.type.shape.rank() == 0 ? ".." : ", ..");
  }
  return text;
}

Value checked_tensor(const Checked& checked) {
  Context& c = checked.c;
  if (!find_dtype(checked.type.name.text)) {
    return unknown();  // the resolver has said so
  }
  const std::optional<DeclaredType> declared = evaluate_type(c, checked.type);
  if (!declared) {
    return unknown();
  }
  if (wants_scalar(checked.type, checked.operand.value)) {
    const std::optional<ValueId> id = lift(c.units, checked.operand, declared->type.dtype);
    c.units.take_diags();
    return id ? recorded(c.units, *id) : unknown();
  }
  const auto* tensor = checked.operand.value.get<Tensor>();
  if (tensor == nullptr) {
    return checked.wrong(DiagKind::kWrongType, "is " + kind_of(checked.operand.value) +
                                                   "; a tensor " + declared_text(*declared) +
                                                   " is declared");
  }
  if (tensor->whole && takes_whole(declared->type.dtype)) {
    const std::optional<ValueId> id = record(c.units, *tensor, checked.operand.span);
    c.units.take_diags();
    if (!id) {
      return unknown();
    }
    const Operand cast{.value = recorded(c.units, as_dtype(c.units, *id, declared->type.dtype)),
                       .span = checked.operand.span};
    return checked_dims(with_operand(checked, cast), *cast.value.get<Tensor>(), *declared);
  }
  const Operand settled{.value = as_declared(c.units, checked.operand.value, declared->type.dtype,
                                             checked.operand.span),
                        .span = checked.operand.span};
  tensor = settled.value.get<Tensor>();
  if (tensor->type.dtype != declared->type.dtype) {
    return checked.wrong(DiagKind::kDtypeMismatch,
                         "is " + mtf::to_string(tensor->type) + "; " +
                             std::string(mtf::to_string(declared->type.dtype)) +
                             " is declared, which `cast` can make of it");
  }
  return checked_dims(with_operand(checked, settled), *tensor, *declared);
}

}  // namespace

bool wants_scalar(const ast::TypeExpr& type, const Value& value) {
  const auto is_rest = [](const ast::Element& element) {
    return std::holds_alternative<ast::Rest>(element.node);
  };
  return type.dims && std::ranges::all_of(type.dims->elements, is_rest) &&
         find_dtype(type.name.text) && is_number(value);
}

Value checked_value(Context& c, const Operand& operand, const ast::TypeExpr& type,
                    std::string_view what, std::vector<Misfit>* misfits) {
  if (is_unknown(operand.value)) {
    return unknown();
  }
  const Checked checked{.c = c, .operand = operand, .type = type, .what = what, .misfits = misfits};
  return type.dims ? checked_tensor(checked) : checked_word(checked, type.name.text);
}

}  // namespace mtf::host
