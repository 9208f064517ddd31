// A program with what layouts are written with inside the code: pins and a region.

#include <algorithm>
#include <utility>

#include "ir/builder.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"
#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

class Dresser {
 public:
  Dresser(const Program& program, const Layout& layout, std::mt19937_64& random)
      : program_(program), layout_(layout), random_(random), builder_(out_, op_table(), none_) {}

  Program run() {
    out_.name = program_.name;
    std::size_t begin = below(program_.values.size());
    std::size_t end = begin + below(program_.values.size());
    if (chance(2)) {
      out_.regions.push_back(random_layout({&program_, 1}, layout_.mesh, random_));
      out_.regions.back().name = "region";
    } else {
      end = begin;
    }
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const bool inside = begin <= i && i < end;
      copy(program_.values[i], inside ? 0 : -1);
    }
    for (const ValueId output : program_.outputs) {
      out_.outputs.push_back(moved_[static_cast<std::size_t>(output.index)]);
    }
    return std::move(out_);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }

  void copy(Value value, std::int32_t region) {
    for (ValueId& operand : value.operands) {
      operand = moved_[static_cast<std::size_t>(operand.index)];
    }
    value.region = region;
    const Shape shape = value.type.shape;
    out_.values.push_back(std::move(value));
    moved_.push_back(out_.last());
    if (shape.rank() > 0 && chance(5)) {
      OpArgs args;
      args.set("layout", pin_for(shape, region < 0 ? layout_ : out_.regions.front()));
      builder_.within(region);
      moved_.back() = builder_.emit("pin", {out_.last()}, args);
    }
  }

  // For each dim that it names less than its rule says, or more, or what no rule says.
  Pin pin_for(const Shape& shape, const Layout& layout) {
    Pin pin{.rules = {}, .open = chance(2)};
    Axes used;
    for (const Dim& dim : shape.dims()) {
      if (chance(3)) {
        continue;
      }
      const auto rule = std::ranges::find(layout.rules, dim.name, &Rule::dim);
      Axes axes = rule == layout.rules.end() ? Axes{} : rule->axes;
      if (chance(3)) {
        axes.resize(below(axes.size() + 1));
      }
      const auto more = static_cast<AxisId>(below(layout.mesh.axes.size()));
      const bool empties = !axes.empty() || rule == layout.rules.end();
      if (chance(2) && empties && !has(axes, more)) {
        axes.push_back(more);
      }
      const bool free = std::ranges::none_of(axes, [&](AxisId axis) { return has(used, axis); });
      if (!free || !layout.mesh.splits(dim.size, axes)) {
        axes.clear();
      }
      used.insert(used.end(), axes.begin(), axes.end());
      NamedRule& named = pin.rules.emplace_back(NamedRule{.dim = dim.name, .axes = {}, .span = {}});
      for (const AxisId axis : axes) {
        named.axes.push_back(layout.mesh.axes[axis].name);
      }
    }
    return pin;
  }

  const Program& program_;
  const Layout& layout_;
  std::mt19937_64& random_;
  Program out_;
  DiagSink none_;
  Builder builder_;
  std::vector<ValueId> moved_;  // per old value
};

}  // namespace

Program dressed(const Program& program, const Layout& layout, std::mt19937_64& random) {
  return Dresser(program, layout, random).run();
}

}  // namespace mtf::tests
