#include "frontend/driver/repl/repl.h"

#include <algorithm>
#include <new>
#include <utility>

#include "frontend/driver/progress.h"
#include "frontend/driver/repl/answer.h"
#include "frontend/driver/repl/commands/commands.h"
#include "frontend/driver/repl/commands/program.h"
#include "frontend/parse/parse.h"
#include "runtime/ranks/interruption.h"

namespace mtf {
namespace {

constexpr std::size_t kMostAtOnce = 10'000;  // statements of one file, or of one line
// A piece of text has as many empty lines above it as stood there, so that its places are those of
// the whole; behind so many lines they are counted anew.
constexpr std::size_t kMostAbove = 2000;

}  // namespace

Repl::Repl(Options options, ReplOutput output)
    : options_(std::move(options)),
      output_(std::move(output)),
      asked_{.layout = options_.layout, .mesh = options_.mesh, .rules = options_.rules},
      json_(options_.json) {
  sources_.add({.name = "session", .path = "", .text = ""});  // of an empty script
  search_ = automatic_in_session(options_,
                                 {.open =
                                      [this](Workspace& workspace) {
                                        workspace.sources = sources_;
                                        workspace.in_session = true;
                                        workspace.program = [this, &workspace](DiagSink& diags) {
                                          return program_of(with_rest(), workspace.sources, diags);
                                        };
                                      },
                                  .tell =
                                      [this](const std::string& line) {
                                        end_progress();
                                        tell(line, {{"found", line.substr(0, line.size() - 1)}});
                                      }});
  planned_ = std::make_unique<PlannedSession>(options_for({}), sources_, auto_layouts());
}

const std::vector<Statement>& Repl::in_question() const {
  return tried_ == nullptr ? script_.inputs() : tried_->inputs();
}

// A file begins with its layouts, and is searched as a whole, as where it runs.
std::vector<Statement> Repl::with_rest() const {
  Script script = tried_ == nullptr ? script_ : *tried_;
  DiagSink told_in_its_turn;
  for (const Together& inputs : rest_) {
    for (const Statement& input : inputs) {
      static_cast<void>(script.accept(input, sources_, told_in_its_turn));
    }
  }
  return script.inputs();
}

std::optional<Layout> Repl::searched(const Layout& layout, DiagSink& diags) {
  const std::vector<Statement> program = with_rest();
  std::optional<Layout> answer = found_layouts_.find(layout, program);
  if (!answer) {
    answer = search_(layout, diags);
    if (answer) {
      found_layouts_.add(layout, program, *answer);
    }
  }
  return answer;
}

// Until something computes, more functions may come. A layout that is typed when there are some is
// for those, and what was found for it before holds at once.
AutoLayouts Repl::auto_layouts() {
  const auto puts_off = [this](const Layout& layout) {
    const std::vector<Statement>& inputs = in_question();
    const bool is_typed_now = tried_ != nullptr && tried_->place() < inputs.size() &&
                              contains(inputs[tried_->place()], layout.span);
    const bool has_functions =
        std::ranges::find(inputs, StatementKind::kFunction, &Statement::kind) != inputs.end();
    return !(is_typed_now && has_functions) && !found_layouts_.find(layout, with_rest());
  };
  return {.search = layout_finder(), .puts_off = puts_off};
}

std::optional<Layout> Repl::found_by_plan(const Layout& layout) {
  const Session& session = planned_->session();
  if (session.layout() != nullptr && session.layout()->name == layout.name) {
    return *session.layout();
  }
  const auto in_region = std::ranges::find(session.layouts(), layout.name, &Layout::name);
  return in_region == session.layouts().end() || in_region->automatic ? std::nullopt
                                                                      : std::optional(*in_region);
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
    if (text[begin] == ':') {
      return run_repl_command(*this, text.substr(begin + 1));
    }
    const std::string word = word_without_colon(text);
    if (!word.empty() && planned_->value(word) == nullptr &&
        find_op(planned_->context().units.ops, word) == nullptr) {
      return refuse(DiagKind::kUnknownName,
                    "a command begins with a colon: `:" + (word == "exit" ? "quit" : word) + "`");
    }
    return statements(add_source(name, line, std::move(text)));
  });
  end_progress();
  return is_right;
}

bool Repl::say(const std::string& name, const std::string& text, bool quiet) {
  const host::Restore restore(quiet_, quiet_ || quiet);
  const std::size_t steps = before_.size();
  const bool done = statements(add_source(name, 1, text));
  while (before_.size() > steps + 1) {  // `:undo` takes back the command
    before_[steps].written.merge(before_.back().written);
    before_.pop_back();
  }
  return done;
}

bool Repl::say_or_refuse(const std::string& name, const std::string& text) {
  const host::Restore whole(leaves_none_out_, true);
  const host::Restore restore(quiet_, true);
  const std::size_t steps = steps_;
  if (say(name, text)) {
    return true;
  }
  if (steps_ > steps) {  // the first of them were taken
    undo();
  }
  return false;
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
    Diag diag = failure.diag;
    if (diag.kind == DiagKind::kMemory) {
      diag.notes.push_back({.text = "the session is as it was before"});
    }
    show({&diag, 1});
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
  std::vector<Together> all = in_order(*tree, sources_);
  const host::Restore<std::span<const Together>> rest(rest_, all);
  return std::ranges::all_of(all, [this](Together& inputs) {
    rest_ = rest_.subspan(1);
    return take_together(std::move(inputs));
  });
}

bool Repl::take_together(Together inputs) {
  Script next = script_;
  DiagSink diags;
  bool is_appended = true;
  for (const Statement& input : inputs) {
    if (!next.accept(input, sources_, diags)) {
      return show(diags.diags());
    }
    // What is on one rank goes where a layout has it that could not be searched before.
    const bool is_awaited =
        input.kind == StatementKind::kFunction && planned_->context().layouts.waits;
    is_appended = is_appended && next.is_appended() && !is_awaited;
  }
  if (is_appended) {
    return extend(std::move(next), std::move(inputs));
  }
  return rebuild(std::move(next), inputs, asked_behind(inputs));
}

std::string Repl::in_use() {
  const Layout* layout = planned_->session().layout();
  if (layout != nullptr) {
    return layout->name + " on " + to_string(layout->mesh);
  }
  if (const Layout* awaited = host::awaited_layout(planned_->context().layouts)) {
    const std::string name = "`" + awaited->name + "`";
    return planned_->context().layouts.waits
               ? "one rank, until there is a function to search " + name + " for"
               : "one rank, until something computes: " + name + " is searched then";
  }
  std::string names = joined(names_of(planned_->session().layouts()), ", ");
  return names.empty() ? "one rank" : "one rank; `:layout` takes " + names;
}

void Repl::tell_in_use() {
  tell("in use: " + in_use() + "\n", {{"in_use", in_use()}});
}

bool Repl::look_at(const std::string& text, const std::function<bool(const host::Value&)>& look) {
  if (text.empty()) {
    return refuse(DiagKind::kMissingArgument, "of what? an expression, as `x` or `sum(x)`");
  }
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
