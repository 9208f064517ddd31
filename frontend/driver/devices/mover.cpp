#include "frontend/driver/devices/mover.h"

#include <algorithm>

#include "ir/builder.h"

namespace mtf {
namespace {

// The `@` that asks for a layout.
Pin pin_of(const Shape& shape, const ValueLayout& layout, const Mesh& mesh) {
  Pin pin;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    const Axes& axes = layout.dims[d];
    NamedRule& rule = pin.rules.emplace_back();
    rule.dim = shape[d].name;
    for (const AxisId axis : axes) {
      rule.axes.push_back(mesh.axes[axis].name);
    }
    for (const Condition& condition : layout.where) {
      const bool is_here =
          condition.same ? std::ranges::find(axes, *condition.same) != axes.end() : d == 0;
      if (is_here) {
        rule.where.push_back(named(condition, mesh));
      }
    }
  }
  return pin;
}

}  // namespace

std::optional<SpmdProgram> mover_of(const TensorType& type, const ValueLayout& from,
                                    const ValueLayout& to, const Layout& layout, OpTable ops,
                                    DiagSink& diags, bool exact) {
  const std::string name = "tensor";
  Program program;
  Builder builder(program, ops, diags);
  const ValueId input = builder.input(InputKind::kState, name, type);
  OpArgs args;
  args.set("layout", pin_of(type.shape, to, layout.mesh));
  program.outputs = {builder.emit(Primitive::kPin, {input}, std::move(args))};
  const Layout anywhere{.name = layout.name, .mesh = layout.mesh, .rules = {}, .span = {}};
  return lower(program, anywhere, ops, diags, exact, {{name, from}});
}

}  // namespace mtf
