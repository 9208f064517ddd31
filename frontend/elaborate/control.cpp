// for, while, if, break and continue. They run on the host; a check that cannot know a condition
// takes every way once.

#include <algorithm>

#include "frontend/elaborate/loops/loops.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/match.h"
#include "ir/support/stop.h"

namespace mtf::host {
namespace {

enum class Truth : std::uint8_t { kFalse, kTrue, kUnknown };

Truth tensor_truth(Units& units, const Tensor& tensor, SourceSpan span) {
  if (tensor.type.shape.rank() > 0) {
    units.report.error(DiagKind::kWrongType, span,
                       "the condition is " + mtf::to_string(tensor.type) +
                           "; `all(…)` or `any(…)` makes one bool of it");
    return Truth::kUnknown;
  }
  if (!units.at_top_level()) {
    units.report.error(
        DiagKind::kWrongType, span,
        "the condition is a tensor, whose value is not known while a function is built; "
        "`where(condition, a, b)` chooses between tensors, and `while c and not done` ends a loop");
    return Truth::kUnknown;
  }
  const std::optional<double> value = units.execution.scalar(tensor.handle);
  return !value ? Truth::kUnknown : *value != 0 ? Truth::kTrue : Truth::kFalse;
}

Truth truth_of(Context& c, const Value& value, const ast::Expr& condition) {
  if (const bool* flag = value.get<bool>()) {
    return *flag ? Truth::kTrue : Truth::kFalse;
  }
  if (const auto* tensor = value.get<Tensor>()) {
    return tensor_truth(c.units, *tensor, condition.span);
  }
  if (!is_unknown(value)) {
    c.report.error(DiagKind::kWrongType, condition.span,
                   "the condition is " + kind_of(value) + ", not a bool" + bool_of_it(value));
  }
  return Truth::kUnknown;
}

// What the assignments in blocks may have changed, of which nobody knows whether they ran.
class Changes {
 public:
  explicit Changes(Names& names) : names_(names) {}

  // Before it runs.
  void watch(const ast::Block& block) {
    for (const ast::Name& name : assigned_in(block)) {
      if (Binding* binding = names_.scope->find(name.text).binding) {
        before_.emplace_back(binding, binding->value);
      }
    }
  }

  void forget() {
    for (auto& [binding, value] : before_) {
      const auto* old_tensor = value.get<Tensor>();
      const auto* tensor = binding->value.get<Tensor>();
      const bool same_type =
          old_tensor != nullptr && tensor != nullptr && old_tensor->type == tensor->type;
      if (!same_type && !equal(value, binding->value)) {
        binding->value = unknown();
      }
    }
  }

 private:
  Names& names_;
  std::vector<std::pair<Binding*, Value>> before_;
};

// Runs blocks of which nobody knows whether they run.
class Uncertain {
 public:
  explicit Uncertain(Context& context) : c_(context), changes_(context.names) {}

  void run(const ast::Block& block) {
    changes_.watch(block);
    flow_ = std::max(flow_, run_block(c_, block));
  }

  Flow finish() {
    changes_.forget();
    if (flow_ == Flow::kReturn) {
      c_.control.result = unknown();
    }
    c_.control.may_leave =
        c_.control.may_leave || flow_ == Flow::kBreak || flow_ == Flow::kContinue;
    return flow_ == Flow::kEnd ? Flow::kEnd : Flow::kNext;
  }

 private:
  Context& c_;
  Changes changes_;
  Flow flow_ = Flow::kNext;
};

// The turns of a loop, and what a `break` or `continue` in one of them means.
class Turns {
 public:
  // `what`: is counted, if nobody knows of how many it is 0.
  Turns(Context& context, const ast::Block& body, std::string_view what, std::int64_t of)
      : c_(context),
        may_leave_(context.control.may_leave, false),
        changes_(context.names),
        what_(what),
        of_(of),
        is_told_(context.units.at_top_level() && !context.execution.checks_only()) {
    if (c_.execution.checks_only()) {
      changes_.watch(body);
    }
    if (is_told_) {
      tell_turn(what_, done_, of_);
      saved_before_ = c_.execution.expect_save(has_place_to_save(c_, body));
    }
  }
  ~Turns() {
    if (is_told_) {
      c_.execution.expect_save(saved_before_);
      tell_turn(what_, 1, 1);
    }
  }
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  Turns(Turns&&) = delete;
  Turns& operator=(Turns&&) = delete;

  // Whether there is another turn after one that ended so.
  bool go_on(Flow flow) {
    if (c_.control.may_leave) {
      changes_.forget();
    }
    result_ = flow == Flow::kReturn || flow == Flow::kEnd ? flow : Flow::kNext;
    ++done_;
    if (is_told_) {
      tell_turn(what_, done_, of_);
    }
    return flow == Flow::kNext || flow == Flow::kContinue;
  }

  [[nodiscard]] Flow result() const { return result_; }

 private:
  Context& c_;
  Restore<bool> may_leave_;
  Changes changes_;
  Flow result_ = Flow::kNext;
  std::string_view what_;
  std::int64_t done_ = 0;
  std::int64_t of_;
  bool is_told_;
  bool saved_before_ = false;
};

// How often a loop turns over a range.
std::int64_t turns_of(const Range& range, std::int64_t step) {
  __extension__ using Wide = __int128;
  const Wide length = step > 0 ? Wide{range.end} - range.begin : Wide{range.begin} - range.end;
  const Wide stride = step > 0 ? Wide{step} : -Wide{step};
  return static_cast<std::int64_t>(length <= 0 ? 0 : (length + stride - 1) / stride);
}

// Whether no turn is the last one but for what stands in the loop's head.
bool runs_to_its_end(const ast::Block& body) {
  return std::ranges::all_of(body.statements, [](const ast::Stmt& statement) {
    return std::visit(
        []<typename T>(const T& /*node*/) {
          return std::is_same_v<T, ast::Binding> || std::is_same_v<T, ast::Assign> ||
                 std::is_same_v<T, ast::Update> || std::is_same_v<T, ast::Assert> ||
                 std::is_same_v<T, ast::Evaluate>;
        },
        statement.node);
  });
}

// The body, if the turn is one; `alive`: of the turns so far whose conditions are tensors.
Flow run_if_wanted(Context& c, const ast::For& loop, ValueId& alive) {
  if (!loop.condition) {
    return run_statements(c, loop.body.statements);
  }
  const Value condition = evaluate(c, *loop.condition);
  if (!is_unknown(condition) && (is_on_device(c, condition) || alive.valid())) {
    return run_bounded_turn(c, loop, condition, alive);
  }
  switch (truth_of(c, condition, *loop.condition)) {
    case Truth::kTrue:
      return run_statements(c, loop.body.statements);
    case Truth::kFalse:
      return Flow::kBreak;
    case Truth::kUnknown:
      break;
  }
  Uncertain uncertain(c);
  uncertain.run(loop.body);
  return std::max(uncertain.finish(), Flow::kBreak);
}

Flow run_turn(Context& c, const ast::For& loop, Value value, ValueId& alive) {
  if (!may_go_on(c.limits, c.units, loop.over.span)) {
    return Flow::kEnd;
  }
  const std::uint64_t unit = c.units.serial();
  const Restore scope(c.names.scope, std::make_shared<Scope>(c.names.scope, unit));
  c.names.scope->declare(
      loop.variable.text,
      {.value = std::move(value), .kind = NameKind::kLoop, .span = loop.variable.span});
  return run_if_wanted(c, loop, alive);
}

Flow run_unknown_turn(Context& c, const ast::For& loop) {
  const Restore scope(c.names.scope, std::make_shared<Scope>(c.names.scope, c.units.serial()));
  c.names.scope->declare(loop.variable.text,
                         {.value = unknown(), .kind = NameKind::kLoop, .span = loop.variable.span});
  Uncertain uncertain(c);
  uncertain.run(loop.body);
  return uncertain.finish();
}

std::optional<Values> loop_items(Reporter& report, const Value& over, SourceSpan span) {
  if (const auto* list = over.get<List>()) {
    return *list->items;
  }
  if (const auto* shape = over.get<Shape>()) {
    return dim_values(*shape);
  }
  if (!is_unknown(over)) {
    report.error(DiagKind::kWrongType, span,
                 "`for` runs over a range `0..n`, a list or a shape; this is " + kind_of(over));
  }
  return std::nullopt;
}

// What the variable of a loop grows by; nullopt after an error.
std::optional<std::int64_t> step_of(Context& c, const ast::For& loop, const Value& over) {
  if (!loop.step) {
    return 1;
  }
  const Value value = evaluate(c, *loop.step);
  const auto* number = value.get<std::int64_t>();
  if (number != nullptr && *number != 0 && over.is<Range>()) {
    return *number;
  }
  if (!is_unknown(value) && !is_unknown(over)) {
    c.report.error(
        DiagKind::kBadArgument, loop.step->span,
        over.is<Range>()
            ? "a step is an integer other than 0; this is " +
                  (number != nullptr ? "0" : kind_of(value))
            : "a step goes with a range, as `0..10 step 2`; this loop runs over " + kind_of(over));
  }
  return std::nullopt;
}

Flow run_over_range(Context& c, const ast::For& loop, const Range& range, std::int64_t step) {
  const std::int64_t count = turns_of(range, step);
  Turns turns(c, loop.body, loop.variable.text, count);
  ValueId alive;
  std::int64_t i = range.begin;
  while (step > 0 ? i < range.end : i > range.end) {
    const bool was_bounded = alive.valid();
    if (!turns.go_on(run_turn(c, loop, make(i), alive)) || __builtin_add_overflow(i, step, &i)) {
      break;
    }
    // All turns of a bounded loop are steps of its program: too many are so from the first on.
    const auto all = static_cast<std::size_t>(count);
    if (alive.valid() && !was_bounded && all > c.limits.max_unit_statements &&
        runs_to_its_end(loop.body) && !may_go_on(c.limits, c.units, loop.over.span, all)) {
      return Flow::kEnd;
    }
  }
  return turns.result();
}

}  // namespace

Flow run_for(Context& c, const ast::For& loop) {
  const Value over = evaluate(c, loop.over);
  const std::optional<std::int64_t> step = step_of(c, loop, over);
  const auto* range = over.get<Range>();
  const std::optional<Values> items =
      range != nullptr ? std::nullopt : loop_items(c.report, over, loop.over.span);
  if (!step || (!items && range == nullptr)) {
    const Turns one(c, loop.body, loop.variable.text, 1);
    return run_unknown_turn(c, loop);
  }
  if (range != nullptr) {
    return run_over_range(c, loop, *range, *step);
  }
  Turns turns(c, loop.body, loop.variable.text, static_cast<std::int64_t>(items->size()));
  ValueId alive;
  for (const Value& item : *items) {
    if (!turns.go_on(run_turn(c, loop, item, alive))) {
      break;
    }
  }
  return turns.result();
}

Flow run_while(Context& c, const ast::While& loop, SourceSpan span) {
  Turns turns(c, loop.body, "turn", 0);
  while (true) {
    if (!may_go_on(c.limits, c.units, span)) {
      return Flow::kEnd;
    }
    // What a turn with a mistake leaves undone may be what the condition waits for.
    const std::size_t failures = c.report.failures();
    const Declared declared = declared_so_far(c);
    const Value condition = evaluate(c, loop.condition);
    if (is_on_device(c, condition)) {
      return run_device_loop(c, loop, condition, declared);
    }
    const Truth truth = truth_of(c, condition, loop.condition);
    if (truth == Truth::kUnknown) {
      Uncertain uncertain(c);
      uncertain.run(loop.body);
      return uncertain.finish();
    }
    // One turn that may have been the last is enough for a check.
    if (truth == Truth::kFalse || !turns.go_on(run_block(c, loop.body)) || c.control.may_leave ||
        c.report.failures() > failures) {
      return turns.result();
    }
  }
}

// A block in a block is part of the outer one; at top level no gradient spans two statements.
Flow run_recompute(Context& c, const ast::Recompute& region) {
  if (c.units.at_top_level()) {
    return run_block(c, region.body);
  }
  Builder& builder = c.units.recording().builder;
  const Recomputation outer = builder.recompute();
  if (outer.block < 0) {
    builder.recompute({.block = builder.new_block(), .again = outer.again, .of = {}});
  }
  const Flow flow = run_block(c, region.body);
  builder.recompute(outer);
  return flow;
}

Flow run_if(Context& c, const ast::If& choice) {
  Uncertain uncertain(c);
  for (const ast::Branch& branch : choice.branches) {
    const Truth truth = truth_of(c, evaluate(c, branch.condition), branch.condition);
    if (truth == Truth::kUnknown) {
      uncertain.run(branch.body);
    } else if (truth == Truth::kTrue) {
      const Flow flow = run_block(c, branch.body);
      const Flow before = uncertain.finish();
      return before == Flow::kEnd ? before : flow;
    }
  }
  if (c.units.at_top_level() && c.execution.wants_save()) {
    run_saves(c, choice);
  }
  const Flow flow = choice.otherwise ? run_block(c, *choice.otherwise) : Flow::kNext;
  const Flow before = uncertain.finish();
  return before == Flow::kEnd ? before : flow;
}

}  // namespace mtf::host
