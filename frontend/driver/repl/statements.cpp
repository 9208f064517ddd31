// How a session takes a statement: at its end, or, where an earlier one changes, all of them anew.

#include <algorithm>
#include <filesystem>
#include <utility>

#include "frontend/driver/repl/answer.h"
#include "frontend/driver/repl/commands/program.h"
#include "frontend/driver/repl/repl.h"
#include "frontend/driver/repl/script/left_out.h"
#include "runtime/ranks/interruption.h"

namespace mtf {
namespace {

constexpr std::size_t kMostKept = 200'000;  // statements, in all that can be undone

// What need not run before somebody looks at its value.
bool may_wait(const ast::Stmt& statement) {
  return std::holds_alternative<ast::Dims>(statement.node) ||
         std::holds_alternative<ast::Fn>(statement.node) ||
         std::holds_alternative<ast::Import>(statement.node) ||
         std::holds_alternative<ast::Binding>(statement.node) ||
         std::holds_alternative<ast::Assign>(statement.node) ||
         std::holds_alternative<ast::Variable>(statement.node) ||
         std::holds_alternative<ast::Expect>(statement.node);
}

std::vector<std::string> names_bound(const ast::Stmt& statement, const Statement& input) {
  std::vector<std::string> names = input.names;
  if (const auto* assign = std::get_if<ast::Assign>(&statement.node)) {
    for (const ast::Name& name : assign->names) {
      names.push_back(name.text);
    }
  }
  return names;
}

}  // namespace

// The value of an expression, which is shown; nullopt: it is not, or ranks must compute it.
std::optional<std::string> Repl::evaluated(ast::File file, Script& next, Statement& input) {
  const host::Value value = planned_->evaluate(std::move(file));
  input.form = value.is<host::Nothing>() ? StatementForm::kAsTyped : StatementForm::kPrinted;
  next.set_form(input.form);
  const bool is_known = input.form == StatementForm::kPrinted && !host::is_unknown(value) &&
                        !host::has_tensor(value) && !value.is<host::Results>();
  return is_known && !planned_->device().take_runs() ? std::optional(host::to_string(value))
                                                     : std::nullopt;
}

ast::File Repl::tree_of(const Together& inputs) {
  ast::File file = trees_.take(inputs.front(), sources_);
  for (const Statement& input : std::span(inputs).subspan(1)) {
    file.statements.push_back(std::move(trees_.take(input, sources_).statements.front()));
  }
  return file;
}

// The last statements of `next`, planned; nullopt after a mistake.
std::optional<Repl::Taken> Repl::plan(Script& next, Together& inputs) {
  const std::size_t said = planned_->diags().diags().size();
  const std::size_t errors = planned_->diags().errors();
  ast::File file = tree_of(inputs);
  const ast::Stmt& statement = file.statements.front();
  Taken taken{.names = {},
              .waits = std::ranges::all_of(file.statements, may_wait),
              .known = {},
              .written = {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<std::string> names = names_bound(file.statements[i], inputs[i]);
    taken.names.insert(taken.names.end(), names.begin(), names.end());
  }
  const bool is_expectation = std::holds_alternative<ast::Expect>(statement.node);
  static_cast<void>(planned_->device().take_effects());
  static_cast<void>(planned_->device().take_written());
  static_cast<void>(planned_->device().take_runs());
  if (std::holds_alternative<ast::Evaluate>(statement.node)) {
    taken.known = evaluated(std::move(file), next, inputs.front());
  } else {
    static_cast<void>(planned_->run(std::move(file)));
  }
  if (!show(planned_->diags().diags().subspan(said)) || planned_->diags().errors() > errors) {
    return std::nullopt;
  }
  const bool is_unknown = std::ranges::any_of(taken.names, [&](const std::string& name) {
    const host::Value* value = planned_->value(name);
    return value != nullptr && host::is_unknown(*value);
  });
  if (is_expectation && !expectations_hold(*this, next.inputs())) {
    return std::nullopt;
  }
  if (computes(inputs.front().kind)) {  // a function that is declared is planned, and not run
    taken.written = planned_->device().take_written();
  }
  taken.waits = taken.waits && !planned_->device().take_effects() && !is_unknown;
  return taken;
}

// Shows what it has to show, by running it if need be. False after a mistake.
bool Repl::run_if_needed(const Taken& taken, const Together& inputs) {
  if (taken.known) {
    say_value(*taken.known);
    return true;
  }
  waiting_.push_back(inputs);
  return taken.waits || run_waiting();
}

bool Repl::extend(Script next, Together inputs) {
  const host::Restore<const Script*> tried(tried_, &next);
  const PlannedState state = planned_->save();
  const bool is_laid_out = planned_->session().layout() != nullptr;
  const auto take_back = [&] {
    planned_->restore(state);
    if (!waiting_.empty() && waiting_.back().front().span == inputs.front().span) {
      waiting_.pop_back();
    }
    return false;
  };
  try {
    const std::optional<Taken> taken = plan(next, inputs);
    const bool comes_into_use = !is_laid_out && planned_->session().layout() != nullptr;
    if (comes_into_use) {
      running_.reset();  // it has computed nothing yet, and begins under the layout
    }
    if (!taken || !run_if_needed(*taken, inputs)) {
      return take_back();
    }
    before_.push_back({.script = std::exchange(script_, std::move(next)),
                       .asked = asked_,
                       .written = taken->written});
    ++steps_;
    const std::size_t most = std::min(kMostUndone, kMostKept / script_.inputs().size());
    while (before_.size() > std::max<std::size_t>(most, 1)) {
      before_.erase(before_.begin());
    }
    if (comes_into_use && !quiet_) {
      tell_in_use();
    }
    answer_names(taken->names);
    return true;
  } catch (...) {
    take_back();
    throw;
  }
}

namespace {

// Warnings that planning told are not told again when the statement runs.
std::vector<Diag> without_told(std::span<const Diag> found, std::span<const Diag> told) {
  std::vector<Diag> rest;
  std::ranges::copy_if(found, std::back_inserter(rest), [&](const Diag& diag) {
    return std::ranges::none_of(told, [&](const Diag& other) {
      return other.kind == diag.kind && other.span == diag.span && other.text == diag.text;
    });
  });
  return rest;
}

}  // namespace

bool Repl::run_waiting() {
  const std::unique_ptr<OthersRun> ranks =
      workers_ == nullptr ? nullptr : std::make_unique<OthersRun>();
  if (running_ == nullptr) {
    auto running = std::make_unique<RunningSession>(
        options_for(script_.inputs()), sources_,
        [this](const Layout& layout, DiagSink& /*diags*/) { return found_by_plan(layout); },
        [this](std::string_view line) { say_value(line); }, workers_.get());
    DiagSink known;
    ast::File before = program_of(replayed_, sources_, known);
    before.id = before.id.valid() ? before.id : FileId{0};
    if (!running->replay(std::move(before))) {
      return show(running->diags().diags());
    }
    running_ = std::move(running);
  }
  while (!waiting_.empty()) {
    const std::size_t said = running_->diags().diags().size();
    const bool ran = running_->run(tree_of(waiting_.front()));
    show(without_told(running_->diags().diags().subspan(said), planned_->diags().diags()));
    if (!ran) {
      return false;
    }
    replayed_.insert(replayed_.end(), waiting_.front().begin(), waiting_.front().end());
    waiting_.erase(waiting_.begin());
  }
  return true;
}

// All statements of `next`, without those that fail because of what has changed. Null after another
// error.
std::unique_ptr<PlannedSession> Repl::planned_anew(Script& next, std::span<const Statement> changed,
                                                   const Asked& asked, LeftOut& out) {
  while (true) {
    auto planned = std::make_unique<PlannedSession>(options_for(next.inputs(), asked), sources_,
                                                    auto_layouts());
    DiagSink known;
    ast::File file = program_of(next.inputs(), sources_, known);
    file.id = file.id.valid() ? file.id : FileId{0};
    if (planned->run(std::move(file))) {
      return planned;
    }
    const std::vector<Diag> errors = errors_of(planned->diags());
    const std::optional<std::size_t> place =
        changed.empty() ? std::nullopt : culprit(errors, next.inputs(), changed);
    if (!place) {
      show(errors);
      return nullptr;
    }
    add_causes(errors, out.statements.empty(), out.causes);
    out.statements.push_back(next.inputs()[*place]);
    next.drop(*place);
  }
}

bool Repl::rebuild(Script next, std::span<const Statement> changed, const Asked& asked) {
  const host::Restore<const Script*> tried(tried_, &next);
  LeftOut out;
  std::unique_ptr<PlannedSession> planned = planned_anew(next, changed, asked, out);
  if (planned == nullptr) {
    return false;
  }
  if (leaves_none_out_ && !out.statements.empty()) {
    return show(out.causes);
  }
  const std::string was_in_use = in_use();
  before_.push_back(
      {.script = std::exchange(script_, std::move(next)), .asked = std::exchange(asked_, asked)});
  ++steps_;
  const auto is_of = [changed](StatementKind kind) {
    return !changed.empty() && changed.front().kind == kind;
  };
  const bool is_layout = is_of(StatementKind::kUse) || is_of(StatementKind::kLayout);
  follow(std::move(planned), is_layout && out.statements.empty());
  tell_left_out(out);
  tell_changed(changed, was_in_use);
  return out.statements.empty();
}

void Repl::tell_left_out(const LeftOut& out) const {
  show(out.causes);
  if (!out.statements.empty() && json_) {
    tell("", {{"left_out", first_lines(out.statements, sources_)}});
  } else if (!out.statements.empty()) {
    output_.mistake(left_out_text(out.statements, sources_));
  }
}

void Repl::tell_changed(std::span<const Statement> changed, const std::string& was_in_use) {
  std::vector<std::string> names;
  for (const Statement& input : changed) {
    names.insert(names.end(), input.names.begin(), input.names.end());
  }
  answer_names(names);
  const Layout* layout = planned_->session().layout();
  const bool says_so = layout != nullptr && std::ranges::find(names, layout->name) != names.end();
  if (in_use() != was_in_use && !says_so && !quiet_) {
    tell_in_use();
  }
}

// Both sessions begin anew: the one that plans has done so, the one that runs will when it must.
// Where only the layout has changed, what it holds can go on from where it is.
void Repl::follow(std::unique_ptr<PlannedSession> planned, bool may_switch) {
  planned_ = std::move(planned);
  if (may_switch && running_ != nullptr && running_->switch_to(*planned_)) {
    return;
  }
  begin_anew();
}

void Repl::begin_anew() {
  running_.reset();
  replayed_ = script_.inputs();
  waiting_.clear();
}

std::vector<std::string> Repl::files_of_last() const {
  std::vector<std::string> files;
  std::error_code problem;
  if (!before_.empty()) {
    std::ranges::copy_if(
        before_.back().written, std::back_inserter(files),
        [&](const std::string& path) { return std::filesystem::exists(path, problem); });
  }
  return files;
}

bool Repl::undo() {
  if (before_.empty()) {
    return refuse(DiagKind::kBadArgument, "there is nothing to undo");
  }
  std::vector<Before> kept = before_;
  const Before before = kept.back();
  if (!rebuild(before.script, {}, before.asked)) {
    return false;
  }
  kept.pop_back();
  before_ = std::move(kept);
  return true;
}

}  // namespace mtf
