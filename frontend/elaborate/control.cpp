// for, while and if. They run on the host; a check that cannot know a condition takes every way
// once.

#include <algorithm>

#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/units.h"
#include "ir/support/match.h"

namespace mtf::host {
namespace {

enum class Truth : std::uint8_t { kFalse, kTrue, kUnknown };

Truth tensor_truth(Context& c, const Tensor& tensor, SourceSpan span) {
  if (tensor.type.shape.rank() > 0) {
    c.error(DiagKind::kWrongType, span,
            "the condition is " + mtf::to_string(tensor.type) +
                "; `all(…)` or `any(…)` makes one bool of it");
    return Truth::kUnknown;
  }
  if (!c.at_top_level()) {
    c.error(DiagKind::kWrongType, span,
            "the condition is a tensor, whose value is not known while a function is built; "
            "`where(condition, a, b)` chooses between tensors");
    return Truth::kUnknown;
  }
  const std::optional<double> value = device_scalar(c, tensor);
  return !value ? Truth::kUnknown : *value != 0 ? Truth::kTrue : Truth::kFalse;
}

Truth truth_of(Context& c, const ast::Expr& condition) {
  const Value value = evaluate(c, condition);
  if (const bool* flag = value.get<bool>()) {
    return *flag ? Truth::kTrue : Truth::kFalse;
  }
  if (const auto* tensor = value.get<Tensor>()) {
    return tensor_truth(c, *tensor, condition.span);
  }
  if (!is_unknown(value)) {
    c.error(DiagKind::kWrongType, condition.span,
            "the condition is " + kind_of(value) + ", not a bool");
  }
  return Truth::kUnknown;
}

void collect_assigned(const ast::Block& block, std::vector<std::string>& names);

void collect_assigned(const ast::Stmt& statement, std::vector<std::string>& names) {
  if (const auto* assign = std::get_if<ast::Assign>(&statement.node)) {
    for (const ast::Name& name : assign->names) {
      names.push_back(name.text);
    }
  } else if (const auto* loop = std::get_if<ast::For>(&statement.node)) {
    collect_assigned(loop->body, names);
  } else if (const auto* repeat = std::get_if<ast::While>(&statement.node)) {
    collect_assigned(repeat->body, names);
  } else if (const auto* choice = std::get_if<ast::If>(&statement.node)) {
    for (const ast::Branch& branch : choice->branches) {
      collect_assigned(branch.body, names);
    }
    if (choice->otherwise) {
      collect_assigned(*choice->otherwise, names);
    }
  }
}

void collect_assigned(const ast::Block& block, std::vector<std::string>& names) {
  for (const ast::Stmt& statement : block.statements) {
    collect_assigned(statement, names);
  }
}

// Runs blocks of which nobody knows whether they run, and forgets what they may have changed.
class Uncertain {
 public:
  explicit Uncertain(Context& context) : c_(context) {}

  void run(const ast::Block& block) {
    std::vector<std::string> names;
    collect_assigned(block, names);
    for (const std::string& name : names) {
      if (Binding* binding = c_.scope->find(name).binding) {
        before_.emplace_back(binding, binding->value);
      }
    }
    flow_ = std::max(flow_, run_block(c_, block));
  }

  Flow finish() {
    for (auto& [binding, value] : before_) {
      const auto* old_tensor = value.get<Tensor>();
      const auto* tensor = binding->value.get<Tensor>();
      const bool same_type =
          old_tensor != nullptr && tensor != nullptr && old_tensor->type == tensor->type;
      if (!same_type && !equal(value, binding->value)) {
        binding->value = unknown();
      }
    }
    if (flow_ == Flow::kReturn) {
      c_.result = unknown();
    }
    return flow_ == Flow::kEnd ? Flow::kEnd : Flow::kNext;
  }

 private:
  Context& c_;
  std::vector<std::pair<Binding*, Value>> before_;
  Flow flow_ = Flow::kNext;
};

Flow run_turn(Context& c, const ast::For& loop, Value value) {
  if (!c.may_go_on(loop.over.span)) {
    return Flow::kEnd;
  }
  const std::uint64_t unit = c.at_top_level() ? 0 : c.recording().serial;
  const Restore scope(c.scope, std::make_shared<Scope>(c.scope, unit));
  c.scope->declare(
      loop.variable.text,
      {.value = std::move(value), .kind = NameKind::kLoop, .span = loop.variable.span});
  return run_statements(c, loop.body.statements);
}

Flow run_unknown_turn(Context& c, const ast::For& loop) {
  const Restore scope(
      c.scope, std::make_shared<Scope>(c.scope, c.at_top_level() ? 0 : c.recording().serial));
  c.scope->declare(loop.variable.text,
                   {.value = unknown(), .kind = NameKind::kLoop, .span = loop.variable.span});
  Uncertain uncertain(c);
  uncertain.run(loop.body);
  return uncertain.finish();
}

std::optional<Values> loop_items(Context& c, const Value& over, SourceSpan span) {
  if (const auto* list = over.get<List>()) {
    return *list->items;
  }
  if (const auto* shape = over.get<Shape>()) {
    Values dims;
    for (const Dim& dim : shape->dims()) {
      dims.push_back(make(dim));
    }
    return dims;
  }
  if (!is_unknown(over)) {
    c.error(DiagKind::kWrongType, span,
            "`for` runs over a range, a list or a shape; this is " + kind_of(over));
  }
  return std::nullopt;
}

}  // namespace

Flow run_for(Context& c, const ast::For& loop) {
  const Value over = evaluate(c, loop.over);
  if (const auto* range = over.get<Range>()) {
    for (std::int64_t i = range->begin; i < range->end; ++i) {
      if (const Flow flow = run_turn(c, loop, make(i)); flow != Flow::kNext) {
        return flow;
      }
    }
    return Flow::kNext;
  }
  const std::optional<Values> items = loop_items(c, over, loop.over.span);
  if (!items) {
    return run_unknown_turn(c, loop);
  }
  for (const Value& item : *items) {
    if (const Flow flow = run_turn(c, loop, item); flow != Flow::kNext) {
      return flow;
    }
  }
  return Flow::kNext;
}

Flow run_while(Context& c, const ast::While& loop) {
  while (true) {
    if (!c.may_go_on(loop.condition.span)) {
      return Flow::kEnd;
    }
    const Truth truth = truth_of(c, loop.condition);
    if (truth == Truth::kFalse) {
      return Flow::kNext;
    }
    if (truth == Truth::kUnknown) {
      Uncertain uncertain(c);
      uncertain.run(loop.body);
      return uncertain.finish();
    }
    if (const Flow flow = run_block(c, loop.body); flow != Flow::kNext) {
      return flow;
    }
  }
}

Flow run_if(Context& c, const ast::If& choice) {
  Uncertain uncertain(c);
  for (const ast::Branch& branch : choice.branches) {
    const Truth truth = truth_of(c, branch.condition);
    if (truth == Truth::kUnknown) {
      uncertain.run(branch.body);
    } else if (truth == Truth::kTrue) {
      const Flow flow = run_block(c, branch.body);
      const Flow before = uncertain.finish();
      return before == Flow::kEnd ? before : flow;
    }
  }
  const Flow flow = choice.otherwise ? run_block(c, *choice.otherwise) : Flow::kNext;
  const Flow before = uncertain.finish();
  return before == Flow::kEnd ? before : flow;
}

}  // namespace mtf::host
