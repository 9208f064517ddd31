#include "frontend/driver/repl/repl.h"

#include <algorithm>
#include <new>
#include <utility>

#include "frontend/driver/progress.h"
#include "frontend/driver/repl/answer.h"
#include "frontend/driver/repl/commands/commands.h"
#include "frontend/driver/repl/commands/program.h"
#include "frontend/driver/repl/left_out.h"
#include "frontend/parse/parse.h"
#include "runtime/ranks/interruption.h"

namespace mtf {
namespace {

constexpr std::size_t kMostKept = 200'000;   // statements, in all that can be undone
constexpr std::size_t kMostAtOnce = 10'000;  // statements of one file, or of one line
// A piece of text has as many empty lines above it as stood there, so that its places are those of
// the whole; behind so many lines they are counted anew.
constexpr std::size_t kMostAbove = 2000;

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

Repl::Repl(Options options, ReplOutput output)
    : options_(std::move(options)), output_(std::move(output)), json_(options_.json) {
  sources_.add({.name = "session", .path = "", .text = ""});  // of an empty script
  planned_ = std::make_unique<PlannedSession>(options_for({}), sources_);
}

// `--layout`, `--mesh` and `--rules` hold from where they can: they may name what is not there yet.
Options Repl::options_for(std::span<const Statement> statements) const {
  Options options = options_;
  const auto declares = [&](StatementKind kind, std::string_view name) {
    return std::ranges::any_of(statements, [&](const Statement& statement) {
      return statement.kind == kind && (name.empty() || statement.names.front() == name);
    });
  };
  if (!declares(StatementKind::kLayout, options.layout)) {
    options.layout.clear();
  }
  if (!declares(StatementKind::kMesh, "")) {
    options.mesh.clear();
    options.rules.clear();
  }
  return options;
}

FileId Repl::add_source(const std::string& name, std::size_t line, std::string text) {
  const std::size_t first = (line - 1) / kMostAbove * kMostAbove;
  const std::string shown =
      first == 0 ? name : name + ", counted from line " + std::to_string(first + 1);
  const bool is_file = name.find('.') != std::string::npos;
  return sources_.add({.name = shown,
                       .path = is_file ? name : "",
                       .text = std::string(line - 1 - first, '\n') + std::move(text)});
}

bool Repl::take(const std::string& name, std::size_t line, std::string text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) {
    return true;
  }
  const bool is_right = guarded([&] {
    return text[begin] == ':' ? run_repl_command(*this, text.substr(begin + 1))
                              : statements(add_source(name, line, std::move(text)));
  });
  end_progress();
  return is_right;
}

bool Repl::say(const std::string& name, const std::string& text, bool quiet) {
  const host::Restore restore(quiet_, quiet_ || quiet);
  const std::size_t steps = before_.size();
  const bool done = statements(add_source(name, 1, text));
  if (before_.size() > steps + 1) {  // `:undo` takes back the command
    before_.resize(steps + 1);
  }
  return done;
}

bool Repl::guarded(const std::function<bool()>& body) {
  try {
    return body();
  } catch (const Interrupted& stop) {
    forget_interruptions();
    interrupted_ = stop.status;
    over_ = stop.status != kCtrlC;
    constexpr std::string_view kSaid = "interrupted; the session is as it was before\n";
    if (json_) {
      tell(kSaid, {{"interrupted", std::int64_t{stop.status}}});
    } else {
      output_.mistake(kSaid);
    }
  } catch (const RanksLost& lost) {
    forget_interruptions();
    lose_ranks(lost);
  } catch (const Failure& failure) {
    show({&failure.diag, 1});
  } catch (const std::bad_alloc&) {
    refuse(DiagKind::kMemory, "there is not enough memory; the session is as it was before");
  }
  return false;
}

bool Repl::statements(FileId file) {
  DiagSink diags;
  const std::optional<ast::File> tree = parse(file, sources_, diags);
  if (!show(diags.diags()) || !tree) {
    return false;
  }
  if (tree->statements.size() > kMostAtOnce) {
    return refuse(DiagKind::kBadArgument, "these are " + std::to_string(tree->statements.size()) +
                                              " statements; a session takes " +
                                              std::to_string(kMostAtOnce) + " at once");
  }
  for (const Statement& input : Script::inputs_of(*tree)) {
    if (!statement(input)) {
      return false;
    }
  }
  return true;
}

bool Repl::statement(const Statement& input) {
  Script next = script_;
  DiagSink diags;
  if (!next.accept(input, sources_, diags)) {
    return show(diags.diags());
  }
  if (next.is_appended()) {
    return extend(std::move(next), input);
  }
  return rebuild(std::move(next), &input);
}

bool Repl::extend(Script next, Statement input) {
  const PlannedState state = planned_->save();
  const std::size_t said = planned_->diags().diags().size();
  const auto take_back = [&] {
    planned_->restore(state);
    if (!waiting_.empty() && waiting_.back().span == input.span) {
      waiting_.pop_back();
    }
    return false;
  };
  try {
    ast::File file = trees_.take(input, sources_);
    const ast::Stmt& statement = file.statements.front();
    bool waits = may_wait(statement);
    const bool is_expectation = std::holds_alternative<ast::Expect>(statement.node);
    const std::vector<std::string> names = names_bound(statement, input);
    static_cast<void>(planned_->device().take_effects());
    static_cast<void>(planned_->device().take_runs());
    std::optional<std::string> known;  // a value that needs no ranks
    const std::size_t errors = planned_->diags().errors();
    if (std::holds_alternative<ast::Evaluate>(statement.node)) {
      const host::Value value = planned_->evaluate(std::move(file));
      input.form = value.is<host::Nothing>() ? Form::kAsTyped : Form::kPrinted;
      next.set_form(input.form);
      const bool is_known = input.form == Form::kPrinted && !host::is_unknown(value) &&
                            !host::has_tensor(value) && !value.is<host::Results>();
      if (is_known && !planned_->device().take_runs()) {
        known = host::to_string(value);
      }
    } else {
      static_cast<void>(planned_->run(std::move(file)));
    }
    if (!show(planned_->diags().diags().subspan(said)) || planned_->diags().errors() > errors) {
      return take_back();
    }
    const bool is_unknown = std::ranges::any_of(names, [&](const std::string& name) {
      const host::Value* value = planned_->value(name);
      return value != nullptr && host::is_unknown(*value);
    });
    if (is_expectation && !expectations_hold(*this, next.inputs())) {
      return take_back();
    }
    waits = waits && !planned_->device().take_effects() && !is_unknown;
    if (known) {
      say_value(*known);
    } else {
      waiting_.push_back(input);
    }
    if (!known && !waits && !run_waiting()) {
      return take_back();
    }
    before_.push_back(std::exchange(script_, std::move(next)));
    const std::size_t most = std::min(kMostUndone, kMostKept / script_.inputs().size());
    while (before_.size() > std::max<std::size_t>(most, 1)) {
      before_.erase(before_.begin());
    }
    answer_names(names);
    return true;
  } catch (...) {
    take_back();
    throw;
  }
}

bool Repl::run_waiting() {
  const std::unique_ptr<OthersRun> ranks =
      workers_ == nullptr ? nullptr : std::make_unique<OthersRun>();
  if (running_ == nullptr) {
    auto running = std::make_unique<RunningSession>(
        options_for(script_.inputs()), sources_, [this](std::string_view line) { say_value(line); },
        workers_.get());
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
    const bool ran = running_->run(trees_.take(waiting_.front(), sources_));
    show(running_->diags().diags().subspan(said));
    if (!ran) {
      return false;
    }
    replayed_.push_back(waiting_.front());
    waiting_.erase(waiting_.begin());
  }
  return true;
}

std::string Repl::in_use() {
  const Layout* layout = planned_->session().layout();
  if (layout != nullptr) {
    return layout->name + " on " + to_string(layout->mesh);
  }
  std::string names = joined(names_of(planned_->session().layouts()), ", ");
  return names.empty() ? "one rank" : "one rank; `:layout` takes " + names;
}

bool Repl::rebuild(Script next, const Statement* changed) {
  std::vector<Diag> illegal;
  std::vector<Statement> left_out;
  std::unique_ptr<PlannedSession> planned;
  while (true) {
    planned = std::make_unique<PlannedSession>(options_for(next.inputs()), sources_);
    DiagSink known;
    ast::File file = program_of(next.inputs(), sources_, known);
    file.id = file.id.valid() ? file.id : FileId{0};
    if (planned->run(std::move(file))) {
      break;
    }
    const std::vector<Diag> errors = errors_of(planned->diags());
    const std::optional<std::size_t> place =
        changed == nullptr ? std::nullopt : culprit(errors, next.inputs(), *changed);
    if (!place) {
      return show(errors);
    }
    add_causes(errors, left_out.empty(), illegal);
    left_out.push_back(next.inputs()[*place]);
    next.drop(*place);
  }
  const std::string was_in_use = in_use();
  before_.push_back(std::exchange(script_, std::move(next)));
  if (changed != nullptr && changed->kind == StatementKind::kUse && !loading_) {
    options_.layout.clear();  // what is typed comes behind the command line
  }
  const bool is_layout = changed != nullptr && (changed->kind == StatementKind::kUse ||
                                                changed->kind == StatementKind::kLayout);
  follow(std::move(planned), is_layout && left_out.empty());
  show(illegal);
  if (!left_out.empty() && json_) {
    tell("", {{"left_out", first_lines(left_out, sources_)}});
  } else if (!left_out.empty()) {
    output_.mistake(left_out_text(left_out, sources_));
  }
  if (changed != nullptr) {
    answer_names(changed->names);
  }
  const Layout* layout = planned_->session().layout();
  const bool says_so = changed != nullptr && layout != nullptr &&
                       std::ranges::find(changed->names, layout->name) != changed->names.end();
  if (in_use() != was_in_use && !says_so && !quiet_) {
    tell("in use: " + in_use() + "\n", {{"in_use", in_use()}});
  }
  return left_out.empty();
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

bool Repl::undo() {
  if (before_.empty()) {
    return refuse(DiagKind::kBadArgument, "there is nothing to undo");
  }
  std::vector<Script> kept = before_;
  const Script before = kept.back();
  if (!rebuild(before, nullptr)) {
    return false;
  }
  kept.pop_back();
  before_ = std::move(kept);
  return true;
}

bool Repl::look_at(const std::string& text, const std::function<bool(const host::Value&)>& look) {
  const FileId file = add_source("session", 1, text);
  DiagSink diags;
  std::optional<ast::File> tree = parse(file, sources_, diags);
  const bool is_one = tree && tree->statements.size() == 1 &&
                      std::holds_alternative<ast::Evaluate>(tree->statements.front().node);
  if (!show(diags.diags()) || !is_one) {
    return diags.ok() && refuse(DiagKind::kSyntax, "`" + text + "` is not an expression");
  }
  const PlannedState state = planned_->save();
  const std::size_t said = planned_->diags().diags().size();
  const host::Value value = planned_->evaluate(*std::move(tree));
  const bool fits = show(planned_->diags().diags().subspan(said));
  const bool done = fits && look(value);
  planned_->restore(state);
  return done;
}

std::optional<std::vector<Statement>> Repl::read_aside(const std::string& text) {
  const FileId file = add_source("session", 1, text);
  DiagSink diags;
  const std::optional<ast::File> tree = parse(file, sources_, diags);
  return show(diags.diags()) && tree ? std::optional(Script::inputs_of(*tree)) : std::nullopt;
}

}  // namespace mtf
