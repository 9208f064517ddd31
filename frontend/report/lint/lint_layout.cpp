#include <algorithm>
#include <set>
#include <string>

#include "frontend/report/lint/lint.h"
#include "frontend/report/quantity.h"

namespace mtf {
namespace {

constexpr double kLightShare = 0.1;  // of the flops; below it an axis splits no heavy work
constexpr double kHeavyWork = 1e3;   // flops of a file that are worth a word

class LayoutLint {
 public:
  LayoutLint(std::span<const UsedProgram> uses, const Layout& layout, DiagSink& found)
      : uses_(uses), layout_(layout), found_(found) {}

  void run() {
    unmatched_rules();
    for (std::size_t a = 0; a < layout_.mesh.axes.size(); ++a) {
      light_axis(static_cast<AxisId>(a));
    }
    repeated_moves();
  }

 private:
  // ---- rules --------------------------------------------------------------------------------

  template <typename Visit>
  [[nodiscard]] bool any_tensor(const Visit& visit) const {
    return std::ranges::any_of(uses_, [&](const UsedProgram& use) {
      return std::ranges::any_of(use.program->source.values,
                                 [&](const Value& value) { return visit(value.type.shape); });
    });
  }

  // Whether any that the block names is such a tensor.
  template <typename Visit>
  [[nodiscard]] bool any_named(const VariableRules& block, const Visit& visit) const {
    return std::ranges::any_of(uses_, [&](const UsedProgram& use) {
      const Program& source = use.program->source;
      const auto is_input = [&](const Input& input) {
        return input.is_variable() && block.names(input.name) && visit(source.at(input.value));
      };
      const auto is_let = [&](const Let& let) {
        return block.names_let(let.path) && visit(source.at(let.value));
      };
      return std::ranges::any_of(source.inputs, is_input) ||
             std::ranges::any_of(source.lets, is_let);
    });
  }

  // A glob that names no variable has been reported by every check.
  [[nodiscard]] bool is_known(const VariableRules& block) const {
    return block.glob.empty() || any_named(block, [](const Value&) { return true; });
  }

  // What a `let` named may be computed inside another operation, and then lies nowhere.
  void unused_block(const VariableRules& block) {
    if (block.lets && !is_known(block)) {
      found_.warning(
          DiagKind::kUnusedRule, block.span,
          in_backticks(title_of(block)) +
              " says nothing: no tensor of that name is kept apart from the operation that reads "
              "it; leave it out, or name what that operation gives");
    }
  }

  void unmatched_rules_of(const VariableRules& block) {
    unused_block(block);
    const std::string called = block.glob.empty() ? "" : "called " + in_backticks(block.glob) + " ";
    for (const Rule& rule : block.rules) {
      const auto has_dim = [&rule](const Value& value) { return value.type.shape.has(rule.dim); };
      if (is_known(block) && !any_named(block, has_dim)) {
        found_.warning(DiagKind::kUnusedRule, rule.span,
                       in_backticks(to_string(rule, layout_.mesh)) + " matches nothing: no " +
                           (block.lets ? "tensor " : "variable ") + called + "has a dim " +
                           in_backticks(rule.dim) + "; leave it out, or correct the name");
      }
    }
  }

  void unmatched_rules() {
    for (const Rule& rule : layout_.rules) {
      if (!any_tensor([&](const Shape& shape) { return shape.has(rule.dim); })) {
        found_.warning(DiagKind::kUnusedRule, rule.span,
                       in_backticks(to_string(rule, layout_.mesh)) +
                           " matches nothing: no tensor has a dim " + in_backticks(rule.dim) +
                           "; leave it out, or correct the name");
      }
    }
    std::ranges::for_each(layout_.variables,
                          [this](const VariableRules& block) { unmatched_rules_of(block); });
  }

  // ---- axes ---------------------------------------------------------------------------------

  // Whether the layout says anything of the axis: otherwise its ranks repeat the work on purpose.
  [[nodiscard]] const Rule* rule_with(AxisId axis) const {
    const auto names = [axis](const Rule& rule) { return has(rule.axes, axis); };
    const auto found = std::ranges::find_if(layout_.rules, names);
    if (found != layout_.rules.end()) {
      return &*found;
    }
    for (const VariableRules& block : layout_.variables) {
      const auto in_block = std::ranges::find_if(block.rules, names);
      if (in_block != block.rules.end()) {
        return &*in_block;
      }
    }
    return nullptr;
  }

  static bool splits(const Step& step, AxisId axis) {
    return std::ranges::any_of(step.calls, [axis](const LocalCall& call) {
      return std::ranges::any_of(call.split->loops,
                                 [axis](const Axes& axes) { return has(axes, axis); });
    });
  }

  void light_axis(AxisId axis) {
    const Rule* rule = rule_with(axis);
    const MeshAxis& of = layout_.mesh.axes[axis];
    if (rule == nullptr || of.size == 1) {
      return;
    }
    double all = 0;
    double split = 0;
    for (const UsedProgram& use : uses_) {
      for (const Step& step : use.program->steps) {
        all += step.flops;
        split += splits(step, axis) ? step.flops : 0;
      }
    }
    if (all >= kHeavyWork && split < kLightShare * all) {
      const auto percent = static_cast<std::int64_t>(100 * split / all);
      found_.warning(DiagKind::kIdleAxis, rule->span,
                     "axis " + in_backticks(of.name) + " of " + std::to_string(of.size) +
                         " splits " + std::to_string(percent) + " % of the " + flops_text(all) +
                         " that a rank computes under " + in_backticks(layout_.name) +
                         "; the rest is repeated " + std::to_string(of.size) +
                         " times; split a dim of the products over it");
    }
  }

  // ---- calls --------------------------------------------------------------------------------

  void repeated_moves() {
    std::set<std::string> changed;
    for (const UsedProgram& use : uses_) {
      for (const SpmdUpdate& update : use.program->updates) {
        changed.insert(use.program->source.inputs[update.input].name);
      }
    }
    for (const UsedProgram& use : uses_) {
      for (const Step& step : use.program->steps) {
        if (use.calls > 1 && step.kind != StepKind::kKernel && step.bytes > 0) {
          repeated_move(use, step, changed);
        }
      }
    }
  }

  void repeated_move(const UsedProgram& use, const Step& step,
                     const std::set<std::string>& changed) {
    const SpmdProgram& program = *use.program;
    const ValueId origin = program.at(step.from).origin;
    const auto input = std::ranges::find(program.source.inputs, origin, &Input::value);
    if (input == program.source.inputs.end() || !input->is_variable() ||
        changed.contains(input->name)) {
      return;
    }
    found_.warning(
        DiagKind::kRepeatedReshard, step.reasons.front().span,
        in_backticks(input->name) + " " + to_string(program.at(step.from).type) +
            " never changes, and " + std::string(to_string(step.kind)) + " moves it at each of " +
            std::to_string(use.calls) + " calls of " + in_backticks(program.source.name) +
            " under " + in_backticks(layout_.name) + ", " + bytes_text(step.bytes) + " a time",
        {{.span = {},
          .text = "rules under `at \"" + input->name + "\"` could keep it as it is used"}});
  }

  std::span<const UsedProgram> uses_;
  const Layout& layout_;
  DiagSink& found_;
};

}  // namespace

void lint_layout(std::span<const UsedProgram> uses, const Layout& layout, DiagSink& found) {
  LayoutLint(uses, layout, found).run();
  for (const UsedProgram& use : uses) {
    lint_program(*use.program, found);
  }
}

}  // namespace mtf
