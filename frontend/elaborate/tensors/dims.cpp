// Dims, shapes and tensor types as they are written.

#include <algorithm>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/host/list.h"
#include "frontend/elaborate/host/results.h"
#include "ir/support/match.h"

namespace mtf::host {
namespace {

std::optional<Dim> dim_of(std::span<const Shape> operands, std::string_view name) {
  for (const Shape& shape : operands) {
    if (const Dim* dim = shape.find(name)) {
      return *dim;
    }
  }
  return std::nullopt;
}

// What is bound to a T.
template <typename T>
void add_names_of(const Names& names, std::vector<std::string>& list) {
  for (const Scope* scope = names.scope.get(); scope != nullptr; scope = scope->parent().get()) {
    for (const auto& [known, binding] : scope->names()) {
      if (binding.value.template is<T>()) {
        list.push_back(known);
      }
    }
  }
}

void unknown_dim(Reporter& report, const Names& names, std::string_view name, SourceSpan span,
                 std::span<const Shape> operands) {
  if (report.is_missing(name)) {
    report.fail();
    return;
  }
  std::vector<std::string> candidates;
  std::vector<std::string> seen;
  for (const Shape& shape : operands) {
    const std::string text = mtf::to_string(shape);
    if (std::ranges::find(seen, text) == seen.end()) {
      seen.push_back(text);
    }
    for (const Dim& dim : shape.dims()) {
      candidates.push_back(dim.name);
    }
  }
  add_names_of<Dim>(names, candidates);
  Suggestion suggestion = suggest(name, candidates);
  if (suggestion.text.empty()) {  // an operand may be meant
    candidates.clear();
    add_names_of<Tensor>(names, candidates);
    suggestion = suggest(name, candidates);
  }
  std::string where;
  for (const std::string& text : seen) {
    where += (where.empty() ? ", and it is not in " : " or ") + text;
  }
  report.error(DiagKind::kUnknownDim, span,
               "no dim `" + std::string(name) + "` is declared" + where + suggestion.text, {},
               suggestion.fix);
}

// A dim of an operand, a dim that is declared, or a new one; nullopt: the name has another value,
// as that of a dtype has, which is an argument at the wrong place rather than the name of a new
// dim.
std::optional<Dim> dim_or_new(Context& c, std::string_view name, std::span<const Shape> operands) {
  std::optional<Dim> known = find_dim(c.names, c.units, name);
  if (std::optional<Dim> dim = dim_of(operands, known ? known->name : name)) {
    return dim;
  }
  const bool is_new = !known && c.names.scope->find(name).binding == nullptr && !find_dtype(name);
  return is_new ? Dim{.name = std::string(name), .size = 0} : known;
}

// Not so a layout, say, of the name that a dim of an operand has.
bool may_be_dims(const Value& value) {
  return is_unknown(value) || value.is<List>() || as_shape(value).has_value();
}

Value element_value(Context& c, const ast::Expr& expr, std::span<const Shape> operands,
                    bool may_be_new) {
  const ast::NameRef* name = ast::as_name(expr);
  if (name != nullptr && may_be_new) {
    const std::optional<Dim> dim = dim_or_new(c, name->text, operands);
    return dim ? make(*dim) : evaluate(c, expr);
  }
  const auto* binding = name == nullptr ? nullptr : c.names.scope->find(name->text).binding;
  if (name == nullptr || operands.empty() || (binding != nullptr && may_be_dims(binding->value))) {
    return evaluate(c, expr);
  }
  if (const std::optional<Dim> dim = dim_of(operands, name->text)) {
    return make(*dim);
  }
  if (binding != nullptr || find_dtype(name->text)) {
    return evaluate(c, expr);
  }
  unknown_dim(c.report, c.names, name->text, expr.span, operands);
  return unknown();
}

void no_rest(Reporter& report, SourceSpan span) {
  report.error(DiagKind::kBadArgument, span,
               "`..` stands for the other dims of a type; here every dim must be named");
}

// Known from here on.
std::optional<Dim> inline_dim(Context& c, const ast::Sized& sized) {
  std::optional<Dim> dim = evaluate_sized(c, sized);
  if (dim) {
    declare_inline(c.names, *dim, sized.name.span);
  }
  return dim;
}

// One value per element; a `..` is an error here.
std::optional<Values> element_values(Context& c, const ast::Bracket& bracket,
                                     std::span<const Shape> operands, bool may_be_new) {
  Values values;
  bool known = true;
  for (const ast::Element& element : bracket.elements) {
    Value value = match(
        element.node,
        [&](const ast::Expr& expr) {
          return some_value(c, expr, element_value(c, expr, operands, may_be_new),
                            "that could stand in a list");
        },
        [&](const ast::Sized& sized) {
          const std::optional<Dim> dim = inline_dim(c, sized);
          return dim ? make(*dim) : unknown();
        },
        [&](const ast::Rest&) {
          no_rest(c.report, element.span);
          return unknown();
        });
    known = known && !value.is<Unknown>();
    values.push_back(std::move(value));
  }
  return known ? std::optional(std::move(values)) : std::nullopt;
}

std::optional<Shape> shape_of_dims(Reporter& report, const Values& dims,
                                   const ast::Bracket& bracket) {
  Shape shape;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::optional<Shape> part = as_shape(dims[i]);
    for (const Dim& dim : part->dims()) {
      if (shape.has(dim.name)) {
        report.error(DiagKind::kRepeatedDim, bracket.elements[i].span,
                     "`" + dim.name + "` is in this shape twice; rename one of the two");
        return std::nullopt;
      }
      shape = shape.with(dim);
    }
  }
  return shape;
}

}  // namespace

std::optional<std::int64_t> checked_size(Reporter& report, const Value& size, std::string_view what,
                                         SourceSpan span) {
  if (size.is<Unknown>()) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> number = as_int(size);
  if (!number) {
    report.error(
        DiagKind::kWrongType, span,
        "the size of " + std::string(what) + " is " + kind_of(size) + ", not an int" +
            (size.is<double>() ? "; `//` divides ints to one, and `int(…)` makes one" : ""));
    return std::nullopt;
  }
  if (*number < 1) {
    report.error(DiagKind::kBadArgument, span,
                 "the size of " + std::string(what) + " is " + std::to_string(*number) +
                     "; it must be at least 1");
    return std::nullopt;
  }
  return number;
}

std::optional<Dim> evaluate_sized(Context& c, const ast::Sized& sized) {
  const std::optional<std::int64_t> size = checked_size(
      c.report, evaluate(c, sized.size), "the dim `" + sized.name.text + "`", sized.size.span);
  if (!size) {
    return std::nullopt;
  }
  const Scope::Found found = c.names.scope->find(sized.name.text);
  if (found.binding != nullptr && found.binding->kind == NameKind::kDim) {
    const Dim* known = found.binding->value.get<Dim>();
    if (known != nullptr && known->name == sized.name.text && known->size != *size) {
      c.report.error(DiagKind::kDimSize, sized.name.span,
                     "`" + sized.name.text + "` is " + std::to_string(*size) + " here and " +
                         std::to_string(known->size) +
                         " where it is declared; a dim of another size has another name",
                     {{.span = found.binding->span, .text = "declared here"}});
      return std::nullopt;
    }
  }
  return Dim{.name = sized.name.text, .size = *size};
}

void declare_inline(Names& names, const Dim& dim, SourceSpan span) {
  names.dims.insert(dim.name);
  const auto* known = names.scope->find(dim.name).binding;
  const bool is_changed = known != nullptr && known->kind == NameKind::kInlineDim &&
                          known->value.is<Dim>() && !(*known->value.get<Dim>() == dim);
  if (known == nullptr || is_changed) {
    names.scope->declare(dim.name,
                         {.value = make(dim), .kind = NameKind::kInlineDim, .span = span});
  }
}

Value evaluate_bracket(Context& c, const ast::Bracket& bracket, SourceSpan span,
                       std::span<const Shape> operands, bool may_be_new) {
  std::optional<Values> values = element_values(c, bracket, operands, may_be_new);
  if (!values) {
    return unknown();
  }
  // Shapes beside dims are spliced, `[]` as a shape of none; shapes alone are a list of shapes.
  const auto is_dim = [](const Value& value) { return value.is<Dim>(); };
  const auto has_dims = [](const Value& value) { return as_shape(value).has_value(); };
  const bool is_shape =
      std::ranges::any_of(*values, is_dim) && std::ranges::all_of(*values, has_dims);
  if (!is_shape) {
    return bounded_list(c.report, *std::move(values), span);
  }
  std::optional<Shape> shape = shape_of_dims(c.report, *values, bracket);
  return shape ? make(std::move(*shape)) : unknown();
}

namespace {

// What is wrong with a list that should be a shape: of numbers, as other libraries write shapes, or
// with a dtype or a mesh among the dims.
std::string what_is_no_dim(const Value& value) {
  const auto* list = value.get<List>();
  if (list == nullptr) {
    return "";
  }
  for (const Value& item : *list->items) {
    if (item.is<std::int64_t>()) {
      const std::string size = to_string(item);
      return ", in which " + size + " has no name, as in [rows: " + size + "]";
    }
    if (item.is<DType>()) {
      return ", in which `" + to_string(item) + "` is a dtype";
    }
    if (!as_shape(item) && !item.is<List>()) {
      return ", with " + kind_of(item) + " in it, which is no dim";
    }
  }
  return "";
}

std::optional<Shape> shape_or_dim(Context& c, const ast::Expr& expr,
                                  std::span<const Shape> operands, std::string_view wanted,
                                  std::string_view otherwise, bool may_be_new = false) {
  const auto* bracket = std::get_if<ast::Bracket>(&expr.node);
  const Value value = bracket != nullptr
                          ? evaluate_bracket(c, *bracket, expr.span, operands, may_be_new)
                          : element_value(c, expr, operands, may_be_new);
  if (is_unknown(value)) {
    return std::nullopt;
  }
  std::optional<Shape> shape = dims_in(value);
  if (!shape) {
    c.report.error(DiagKind::kWrongType, expr.span,
                   std::string(wanted) + ", is needed; this is " + kind_of(value) +
                       what_is_no_dim(value) + std::string(value.is<List>() ? "" : otherwise));
  }
  return shape;
}

}  // namespace

std::optional<Shape> evaluate_shape(Context& c, const ast::Expr& expr,
                                    std::span<const Shape> operands, bool may_be_new,
                                    std::string_view otherwise) {
  return shape_or_dim(c, expr, operands, "a shape, as [batch, io]", otherwise, may_be_new);
}

namespace {

// Each of them, which may be new.
std::optional<std::vector<Dim>> new_dims(Context& c, const ast::Bracket& bracket,
                                         std::span<const Shape> operands) {
  std::vector<Dim> dims;
  bool known = true;
  for (const ast::Element& element : bracket.elements) {
    const auto part = match(
        element.node,
        [&](const ast::Expr& expr) {
          return evaluate_dims(c, expr, operands, /*may_be_new=*/true);
        },
        [&](const ast::Sized& sized) -> std::optional<std::vector<Dim>> {
          const std::optional<Dim> dim = inline_dim(c, sized);
          return dim ? std::optional(std::vector{*dim}) : std::nullopt;
        },
        [&](const ast::Rest&) -> std::optional<std::vector<Dim>> {
          no_rest(c.report, element.span);
          return std::nullopt;
        });
    known = known && part.has_value();
    if (part) {
      dims.insert(dims.end(), part->begin(), part->end());
    }
  }
  return known ? std::optional(std::move(dims)) : std::nullopt;
}

// The dim of that name: of an operand, one that is declared, or a new one. nullopt: the name has
// another value, or is unknown, which is recorded.
std::optional<Dim> named_dim(Context& c, const ast::NameRef& name, SourceSpan span,
                             std::span<const Shape> operands, bool may_be_new) {
  std::optional<Dim> known = find_dim(c.names, c.units, name.text);
  std::optional<Dim> operand = dim_of(operands, known ? known->name : name.text);
  if (operand && !may_be_new) {
    return operand;  // of the operand's size, as after x[batch: 0..8]
  }
  const Scope::Found found = c.names.scope->find(name.text);
  const bool is_free =
      found.binding == nullptr ? !find_dtype(name.text) : !found.binding->value.is<Unknown>();
  if (!known && may_be_new && is_free) {
    return Dim{.name = name.text, .size = 0};
  }
  if (!known && found.binding == nullptr && (is_free || !may_be_new)) {
    unknown_dim(c.report, c.names, name.text, span, operands);
  }
  return known;
}

}  // namespace

std::optional<std::vector<Dim>> evaluate_dims(Context& c, const ast::Expr& expr,
                                              std::span<const Shape> operands, bool may_be_new,
                                              std::string_view otherwise) {
  if (const ast::NameRef* name = ast::as_name(expr)) {
    if (const std::optional<Dim> dim = named_dim(c, *name, expr.span, operands, may_be_new)) {
      return std::vector{*dim};
    }
    const bool is_dtype = may_be_new && find_dtype(name->text);  // which has a value
    if (c.names.scope->find(name->text).binding == nullptr && !is_dtype) {
      return std::nullopt;
    }
  }
  if (const auto* bracket = std::get_if<ast::Bracket>(&expr.node); bracket && may_be_new) {
    return new_dims(c, *bracket, operands);
  }
  const std::optional<Shape> shape = shape_or_dim(
      c, expr, operands, may_be_new ? "a dim, as `io` or [io: 128]" : "a dim, as `io`", otherwise);
  if (!shape) {
    return std::nullopt;
  }
  std::vector<Dim> dims(shape->dims().begin(), shape->dims().end());
  for (Dim& dim : dims) {
    dim = may_be_new ? dim : dim_of(operands, dim.name).value_or(dim);
  }
  return dims;
}

}  // namespace mtf::host
