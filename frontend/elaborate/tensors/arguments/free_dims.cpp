// Dims that no declaration has made, but an operation, as `rename` does: where tensors of a call
// have them, the call may name them.

#include <algorithm>

#include "frontend/elaborate/evaluate.h"
#include "frontend/elaborate/host/builtin.h"

namespace mtf::host {
namespace {

bool is_free_name(const Context& c, const std::string& name) {
  return c.names.scope->find(name).binding == nullptr && find_op(c.units.ops, name) == nullptr &&
         find_host_fn(name) == nullptr && !find_dtype(name) && !c.report.is_declared_twice(name);
}

// That of a tensor here which no argument is.
std::optional<Dim> dim_elsewhere(const Names& names, std::string_view name) {
  for (const Scope* scope = names.scope.get(); scope != nullptr; scope = scope->parent().get()) {
    for (const auto& [known, binding] : scope->names()) {
      const auto* tensor = binding.value.get<Tensor>();
      const Dim* dim = tensor == nullptr ? nullptr : tensor->type.shape.find(name);
      if (dim != nullptr) {
        return *dim;
      }
    }
  }
  return std::nullopt;
}

Value free_dim(Context& c, const ast::NameRef& name, SourceSpan span,
               std::span<const Shape> operands) {
  for (const Shape& shape : operands) {
    if (const Dim* dim = shape.find(name.text)) {
      return make(*dim);
    }
  }
  const std::optional<Dim> dim = dim_elsewhere(c.names, name.text);
  if (!dim) {
    return lookup(c.names, c.units, name.text, span);
  }
  c.report.error(DiagKind::kUnknownDim, span,
                 "`" + name.text + "` is no dim of a tensor that this call is given; `dim " +
                     name.text + " = " + std::to_string(dim->size) + "` declares it");
  return unknown();
}

}  // namespace

std::vector<Shape> shapes_in(std::span<const Value> values) {
  std::vector<Shape> shapes;
  for (const Value& value : values) {
    static_cast<void>(
        map_tensors(value, [&](Tensor& tensor) { shapes.push_back(tensor.type.shape); }));
  }
  return shapes;
}

bool names_free_dim(const Context& c, const ast::Expr& expr) {
  if (const auto* list = std::get_if<ast::Bracket>(&expr.node)) {
    return std::ranges::any_of(list->elements, [&c](const ast::Element& element) {
      const auto* part = std::get_if<ast::Expr>(&element.node);
      return part != nullptr && names_free_dim(c, *part);
    });
  }
  const ast::NameRef* name = ast::as_name(expr);
  return name != nullptr && is_free_name(c, name->text);
}

Value evaluate_free_dims(Context& c, const ast::Expr& expr, std::span<const Shape> operands) {
  const auto* list = std::get_if<ast::Bracket>(&expr.node);
  const ast::NameRef* name = ast::as_name(expr);
  if (name != nullptr) {
    return free_dim(c, *name, expr.span, operands);
  }
  return list == nullptr ? evaluate(c, expr) : evaluate_bracket(c, *list, expr.span, operands);
}

}  // namespace mtf::host
