#include "lowering/layout/targets.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/layout/pin_conflict.h"
#include "ir/loops/loop.h"
#include "ir/rewrite/sums/join.h"
#include "lowering/known/numbered.h"
#include "lowering/layout/infer.h"
#include "lowering/layout/rule_sources.h"

namespace mtf {
namespace {

bool is_prefix(const Axes& a, const Axes& b) {
  return a.size() <= b.size() && std::equal(a.begin(), a.end(), b.begin());
}

class Targets {
 public:
  Targets(const Program& program, const Layout& layout, const HeldLayouts& held, DiagSink& diags)
      : program_(program),
        layout_(layout),
        held_(held),
        diags_(diags),
        rule_sources_(program, layout),
        placed_(program.values.size(), std::make_shared<const Placed>()) {}

  std::optional<std::vector<SharedTarget>> run() {
    if (!sizes_fit(layout_) || !std::ranges::all_of(program_.regions, [this](const Layout& region) {
          return region.mesh.axes != layout_.mesh.axes || sizes_fit(region);
        })) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      const ValueId id{static_cast<std::int32_t>(i)};
      const Value& value = program_.at(id);
      if (value.op == nullptr || !value.op->effect) {
        place(id);
      }
      if (is(value, Primitive::kCarry)) {  // all ranks go through the trips
        Placed everywhere = *placed_[i];
        everywhere.target.layout.where.clear();
        set(id, std::move(everywhere));
      }
    }
    if (!ok_) {
      return std::nullopt;
    }
    move_pins_up();
    return layout_.infer ? inferred() : shared();
  }

 private:
  // Where a value is, and which of its dims `infer` may still split.
  struct Placed {
    Target target;
    std::vector<bool> open;
  };

  void set(ValueId id, Placed placed) {
    placed_[at(id)] = std::make_shared<const Placed>(std::move(placed));
  }

  [[nodiscard]] std::vector<SharedTarget> shared() const {
    std::vector<SharedTarget> targets;
    targets.reserve(placed_.size());
    for (const std::shared_ptr<const Placed>& placed : placed_) {
      targets.emplace_back(placed, &placed->target);
    }
    return targets;
  }

  [[nodiscard]] std::vector<SharedTarget> inferred() const {
    std::vector<Target> targets;
    std::vector<std::vector<bool>> open;
    for (const std::shared_ptr<const Placed>& placed : placed_) {
      targets.push_back(placed->target);
      open.push_back(placed->open);
    }
    infer(program_, layout_, open, targets);
    std::vector<SharedTarget> result(targets.size());
    std::ranges::transform(targets, result.begin(), [](Target& target) {
      return std::make_shared<const Target>(std::move(target));
    });
    return result;
  }

  // ---- conditions ---------------------------------------------------------------------------

  bool fits(const Rule& rule, const std::string& problem) {
    if (!problem.empty()) {
      diags_.error(DiagKind::kLayoutConflict, rule.span, problem);
    }
    return problem.empty();
  }

  // Whether the mesh has the ranks that the conditions name.
  bool sizes_fit(const Rule& rule) {
    return fits(rule, problem_of_sizes(rule.where, layout_.mesh));
  }

  bool sizes_fit(const Layout& layout) {
    bool fit = true;
    const auto check = [&](const Rule& rule) { fit = sizes_fit(rule) && fit; };
    std::ranges::for_each(layout.rules, check);
    for (const VariableRules& block : layout.variables) {
      std::ranges::for_each(block.rules, check);
    }
    return fit;
  }

  bool check_conditions(const Pin& pin, const std::vector<Rule>& rules) {
    bool fit = true;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      const OrientedConditions where =
          oriented(layout_.mesh, rules[i].dim, rules[i].axes, pin.rules[i].where);
      fit = fits(rules[i], where.problem) && sizes_fit(rules[i]) && fit;
    }
    ok_ = ok_ && fit;
    return fit;
  }

  // ---- rules --------------------------------------------------------------------------------

  void place(ValueId id) {
    const Value& value = program_.at(id);
    const auto [source, variable, pin, blocks] = rule_sources_.of(id);
    const Layout& layout = *source;
    if (const auto kept = variable == nullptr ? held_.end() : held_.find(*variable);
        kept != held_.end() && (value.op == nullptr || value.variable == *variable)) {
      const std::string what = describe(program_, id);
      set(id, {.target = held(value, query_of(value, layout, layout.rules_for(*variable), what),
                              kept->second),
               .open = std::vector<bool>(value.type.shape.rank())});
      return;
    }
    const bool is_own = blocks != nullptr || (variable != nullptr && !layout.variables.empty());
    if (pin == nullptr && !is_own) {
      place_plain(id, layout);
      return;
    }
    Layout::Rules rules = blocks != nullptr     ? layout.rules_for(*blocks)
                          : variable != nullptr ? layout.rules_for(*variable)
                                                : layout.rules_for("");
    if (pin != nullptr) {
      place_pinned(id, *pin, std::move(rules), layout);
    } else {
      place_known(known_[key_of(value, rules)], id, layout, rules);
    }
  }

  // By the layout's rules alone, as most values are.
  void place_plain(ValueId id, const Layout& layout) {
    const Value& value = program_.at(id);
    PlainRules& plain = plain_[&layout];
    if (!plain.rules) {
      plain.rules = layout.rules_for("");
    }
    const std::size_t key =
        std::size_t{2} * shape_number(value.type.shape) + (value.internal ? 1 : 0);
    place_known(plain.known[key], id, layout, *plain.rules);
  }

  // `known`: of values that are placed alike, once one is.
  void place_known(std::shared_ptr<const Placed>& known, ValueId id, const Layout& layout,
                   const Layout::Rules& rules) {
    if (known != nullptr) {
      placed_[at(id)] = known;
      return;
    }
    const std::string what = describe(program_, id);
    if (place_by(query_of(program_.at(id), layout, rules, what), id, layout, nullptr)) {
      known = placed_[at(id)];
    }
  }

  // Shapes that share their dims are known by where those are.
  Number shape_number(const Shape& shape) {
    const auto [found, is_new] = shape_numbers_.try_emplace(shape.dims().data(), Number{0});
    if (is_new) {
      ContentHash hash;
      add_shape(shape, hash);
      found->second = shapes_.number(hash.value(), shape);
    }
    return found->second;
  }

  [[nodiscard]] LayoutQuery query_of(const Value& value, const Layout& layout, Layout::Rules rules,
                                     std::string_view what) const {
    return {layout_.mesh, layout.name, std::move(rules), value.span, what};
  }

  // What the layout of a value without a pin follows from.
  std::vector<std::uint64_t> key_of(const Value& value, const Layout::Rules& rules) {
    std::vector<std::uint64_t> key = {shape_number(value.type.shape), value.internal ? 1U : 0U,
                                      rules.firm};
    for (const Rule* rule : rules.list) {
      key.push_back(reinterpret_cast<std::uintptr_t>(rule));
    }
    return key;
  }

  void place_pinned(ValueId id, const Pin& pin, Layout::Rules rules, const Layout& layout) {
    const Value& value = program_.at(id);
    const std::string what = describe(program_, id);
    const std::vector<Rule> pinned = rules_of(pin, layout_.mesh);
    if (!check_conditions(pin, pinned)) {
      return;
    }
    agrees(value, pinned, rules, layout);
    Layout::Rules both{.list = {}, .firm = pinned.size()};
    std::ranges::transform(pinned, std::back_inserter(both.list),
                           [](const Rule& rule) { return &rule; });
    if (pin.open) {
      std::ranges::copy(rules.list, std::back_inserter(both.list));
    }
    LayoutQuery query = query_of(value, layout, std::move(both), what);
    query.pinned = true;
    (void)place_by(query, id, layout, &pin);
  }

  // False after an error.
  bool place_by(const LayoutQuery& query, ValueId id, const Layout& layout, const Pin* pin) {
    const Value& value = program_.at(id);
    std::vector<bool> open = open_dims(value.type.shape, query.rules, pin);
    if (value.internal) {
      set(id, {.target = layout_that_fits(value.type.shape, query), .open = std::move(open)});
      return true;
    }
    DiagSink found;
    if (std::optional<Target> target = layout_by_rules(value.type.shape, query, found)) {
      set(id, {.target = *std::move(target), .open = std::move(open)});
      return true;
    }
    ok_ = false;
    report(id, layout, found);
    return false;
  }

  // A pin may split further than a rule, or gather; it may not split otherwise.
  void agrees(const Value& value, const std::vector<Rule>& pinned, const Layout::Rules& rules,
              const Layout& layout) {
    for (const Rule& pin : pinned) {
      const auto rule =
          std::ranges::find(rules.list, pin.dim, [](const Rule* r) { return r->dim; });
      if (rule == rules.list.end() || pin.axes.empty() || is_prefix((*rule)->axes, pin.axes) ||
          is_prefix(pin.axes, (*rule)->axes)) {
        continue;
      }
      ok_ = false;
      const std::string was = to_string(**rule, layout_.mesh);
      const std::string is = to_string(pin, layout_.mesh);
      if (reported_.emplace(DiagKind::kLayoutConflict, std::vector{was, is}).second) {
        diags_.add(pin_conflict(pin, **rule, layout, value.span));
      }
    }
  }

  static Target held(const Value& value, const LayoutQuery& query, const ValueLayout& layout) {
    const Shape& shape = value.type.shape;
    Target target = layout_that_fits(shape, query);
    if (target.layout != layout) {
      target = unsplit(shape);
      target.layout = layout;
      for (std::size_t d = 0; d < shape.rank(); ++d) {
        target.firm[d] = layout.dims[d].size();
        target.causes[d].resize(layout.dims[d].size(),
                                {.kind = CauseKind::kVariable, .span = value.span});
      }
      if (!layout.where.empty()) {
        std::ranges::fill(target.firm, std::size_t{0});
      }
    }
    return target;
  }

  // Which dims `infer` may still split: those that a rule could name and none does.
  [[nodiscard]] static std::vector<bool> open_dims(const Shape& shape, const Layout::Rules& rules,
                                                   const Pin* pin) {
    std::vector<bool> open;
    for (const Dim& dim : shape.dims()) {
      const bool named = std::ranges::find(rules.list, dim.name, [](const Rule* rule) {
                           return rule->dim;
                         }) != rules.list.end();
      open.push_back(!named && may_be_split(dim.name) && (pin == nullptr || pin->open));
    }
    return open;
  }

  void report(ValueId id, const Layout& layout, const DiagSink& found) {
    const Value& value = program_.at(id);
    for (Diag diag : found.diags()) {
      std::vector<std::string> dims;
      for (const Rule* rule : layout.rules_for("").list) {
        if (const Dim* dim = value.type.shape.find(rule->dim); dim != nullptr) {
          dims.push_back(dim->name + " " + std::to_string(dim->size));
        }
      }
      if (reported_.emplace(diag.kind, dims).second) {
        std::ranges::move(notes_of(program_, id), std::back_inserter(diag.notes));
        diags_.add(std::move(diag));
      }
    }
  }

  // ---- pins ---------------------------------------------------------------------------------

  // What the user has only a pin read is made in its layout; and so is what is computed element by
  // element for it and was not written by the user: the gradient of what lies between two pins.
  void move_pins_up() {
    if (std::ranges::none_of(program_.values, [this](const Value& value) {
          return pin_on(value, layout_.mesh) != nullptr;
        })) {
      return;
    }
    find_readers();
    std::vector<char> follows(program_.values.size(), 0);  // what is made in the layout of a pin
    for (std::size_t i = program_.values.size(); i-- > 0;) {
      const RuleSource source = rule_sources_.of({static_cast<std::int32_t>(i)});
      const Value& value = program_.values[i];
      if (source.pin != nullptr) {
        follows[i] = 1;
        continue;
      }
      const bool is_free = value.op != nullptr && source.is_plain();
      const std::vector<ValueId> readers = value.internal ? readers_[i] : written(readers_[i]);
      if (is_free && !readers.empty() && may_follow(value, readers, follows)) {
        placed_[i] = placed_[at(readers.front())];
        follows[i] = 1;
      }
    }
  }

  // The operations that read each value; none where it leaves the program, which is no such.
  void find_readers() {
    readers_.resize(program_.values.size());
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      for (const ValueId operand : program_.values[i].operands) {
        readers_[at(operand)].push_back({static_cast<std::int32_t>(i)});
      }
    }
    std::ranges::for_each(program_.outputs, [this](ValueId id) { readers_[at(id)].clear(); });
    std::ranges::for_each(program_.updates,
                          [this](const Update& update) { readers_[at(update.value)].clear(); });
  }

  // Gradients read what they need of what the user wrote, which is as the user pinned it.
  [[nodiscard]] std::vector<ValueId> written(std::vector<ValueId> readers) const {
    std::erase_if(readers, [this](ValueId reader) { return program_.at(reader).internal; });
    return readers;
  }

  [[nodiscard]] bool may_follow(const Value& value, const std::vector<ValueId>& readers,
                                const std::vector<char>& follows) const {
    const ValueLayout& layout = placed_[at(readers.front())]->target.layout;
    return std::ranges::all_of(readers, [&](ValueId reader) {
      const Value& by = program_.at(reader);
      return follows[at(reader)] != 0 && placed_[at(reader)]->target.layout == layout &&
             (by.op->alias  // a pin
                  ? value.internal || readers.size() == 1
                  : value.internal && by.op->tile != nullptr && by.type.shape == value.type.shape);
    });
  }

  const Program& program_;
  const Layout& layout_;
  const HeldLayouts& held_;
  DiagSink& diags_;
  RuleSources rule_sources_;
  std::vector<std::shared_ptr<const Placed>> placed_;  // per value
  std::vector<std::vector<ValueId>> readers_;          // per value, unless it leaves the program
  std::set<std::pair<DiagKind, std::vector<std::string>>> reported_;
  bool ok_ = true;

  // Of values without a pin, by what they follow from: layers repeat each other's shapes.
  struct PlainRules {
    std::optional<Layout::Rules> rules;
    std::unordered_map<std::size_t, std::shared_ptr<const Placed>> known;
  };
  std::map<const Layout*, PlainRules> plain_;
  std::map<std::vector<std::uint64_t>, std::shared_ptr<const Placed>> known_;
  Numbered<Shape> shapes_;
  std::unordered_map<const Dim*, Number> shape_numbers_;
};

}  // namespace

std::optional<std::vector<SharedTarget>> targets_of(const Program& program, const Layout& layout,
                                                    const HeldLayouts& held, DiagSink& diags) {
  return Targets(program, layout, held, diags).run();
}

}  // namespace mtf
