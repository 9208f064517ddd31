// A session of `mtf repl`: takes what is typed, statement by statement, and answers.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostics.h"
#include "frontend/driver/repl/answer.h"
#include "frontend/driver/repl/script/found_layouts.h"
#include "frontend/driver/repl/script/order.h"
#include "frontend/driver/repl/script/script.h"
#include "frontend/driver/repl/sessions.h"
#include "frontend/driver/workspace.h"

namespace mtf {

inline constexpr int kCtrlC = 130;                // the status of what it ends
inline constexpr std::size_t kMostUndone = 1000;  // statements

struct ReplOutput {
  std::function<void(std::string_view)> answer;   // whole lines
  std::function<void(std::string_view)> mistake;  // diagnostics
};

class Repl {
 public:
  Repl(Options options, ReplOutput output);

  // Whole statements, or a command. `name`, `line`: where they come from. False: a mistake, of
  // which the session has kept nothing.
  bool take(const std::string& name, std::size_t line, std::string text);

  [[nodiscard]] bool is_over() const { return over_; }
  // The status of what was interrupted last; 0: nothing was.
  [[nodiscard]] int interrupted() const { return interrupted_; }
  // Bindings are not answered: of a file that is read.
  void set_quiet(bool quiet) { quiet_ = quiet; }
  void set_color(ColorMode color) { color_ = color; }

  // ---- for the commands ----
  [[nodiscard]] Options options_for(std::span<const Statement> statements) const;
  // Whether the program that was read has what `--layout`, `--mesh`, `--rules` and its options
  // behind `--` name; else an error, as of `mtf run`.
  [[nodiscard]] bool holds_what_is_asked();
  // At the end: what was given by `--set`, and nothing has asked for.
  void tell_unused_settings() const;
  [[nodiscard]] const SourceMap& sources() const { return sources_; }
  [[nodiscard]] const Script& script() const { return script_; }
  [[nodiscard]] PlannedSession& planned() { return *planned_; }
  [[nodiscard]] bool is_json() const { return json_; }
  void set_json(bool json) { json_ = json; }
  void end() { over_ = true; }
  void answer(std::string_view lines) const { output_.answer(lines); }
  // Whole lines, or an object with these fields.
  void tell(std::string_view lines, const Fields& fields) const;
  void mistake(std::string_view lines) const { output_.mistake(lines); }
  // What they return is the caller's answer, or nobody's. NOLINTBEGIN(modernize-use-nodiscard)
  bool refuse(DiagKind kind, std::string text) const;  // false
  bool misused(const std::string& usage) const;        // false: words that a command does not take
  bool show(std::span<const Diag> told) const;         // whether none is an error
  // NOLINTEND(modernize-use-nodiscard)
  // The session as it was before the last statement; false if there was none, or it fails now.
  bool undo();
  // So many times in a row.
  [[nodiscard]] std::size_t undoable() const { return before_.size(); }
  // Files that the last statement has written, which are there whatever is undone.
  [[nodiscard]] std::vector<std::string> files_of_last() const;
  // Statements that a command stands for.
  bool say(const std::string& name, const std::string& text, bool quiet = false);
  // The same, but refused where statements of before would be left out; nothing of it stays then.
  bool say_or_refuse(const std::string& name, const std::string& text);
  // Statements that are only looked at; nullopt after an error.
  std::optional<std::vector<Statement>> read_aside(const std::string& text);
  // The statements of a file; and once more, those that have changed (commands/load.cpp).
  bool load(const std::string& path);
  bool reload();
  // What `auto` layouts are, to whoever looks at the program.
  [[nodiscard]] FindLayout layout_finder() {
    return [this](const Layout& layout, DiagSink& diags) { return searched(layout, diags); };
  }
  // Does something with the value of an expression, of which nothing stays.
  bool look_at(const std::string& text, const std::function<bool(const host::Value&)>& look);
  // What the last `:search` found, as statements: `layout found on grid { … }`.
  void set_found(std::string name, std::string text) {
    found_ = {std::move(name), std::move(text)};
  }
  [[nodiscard]] const std::pair<std::string, std::string>& found() const { return found_; }
  // Files that `:save` has written.
  [[nodiscard]] std::set<std::string>& saved() { return saved_; }
  // What was priced since the statements changed last.
  [[nodiscard]] KnownCosts& known_costs() { return known_costs_; }
  [[nodiscard]] std::string in_use();  // "both on grid[rows: 2, cols: 2]"
  void tell_in_use();
  // Runs on so many ranks of their own from here on; 1: in this process (ranks/ranks.cpp).
  bool set_ranks(std::int64_t ranks);
  [[nodiscard]] std::int64_t ranks() const { return workers_ == nullptr ? 1 : workers_->ranks(); }

 private:
  [[nodiscard]] DiagSink told_of_given() const;
  struct Loaded {
    std::string path;
    FileId file;
  };

  // Of the command line, until something else is typed.
  struct Asked {
    std::string layout;
    std::string mesh;
    std::string rules;
  };
  struct Before {
    Script script;
    Asked asked;
    std::set<std::string> written = {};  // files, by what came then
  };

  [[nodiscard]] Options options_for(std::span<const Statement> statements,
                                    const Asked& asked) const;
  // Behind these statements.
  [[nodiscard]] Asked asked_behind(std::span<const Statement> changed);
  // The statements that are planned now: the script, or what it may become; and with all that
  // stands behind them in the text that they are of.
  [[nodiscard]] const std::vector<Statement>& in_question() const;
  [[nodiscard]] std::vector<Statement> with_rest() const;
  // The rules of a layout that is `auto`, by a search or as they are known; nullopt after an error,
  // or where there is nothing to search for.
  std::optional<Layout> searched(const Layout& layout, DiagSink& diags);
  [[nodiscard]] AutoLayouts auto_layouts();
  // As the session that plans has them.
  [[nodiscard]] std::optional<Layout> found_by_plan(const Layout& layout);
  FileId add_source(const std::string& name, std::size_t line, std::string text);
  bool statements(FileId file);
  bool take_together(Together inputs);
  // Statements that were planned.
  struct Taken {
    std::vector<std::string> names;    // that it binds
    bool waits = false;                // it need not run before somebody looks
    std::optional<std::string> known;  // a value that needs no ranks
    std::set<std::string> written;     // files
  };
  // What fails because an earlier statement has changed, and why.
  struct LeftOut {
    std::vector<Statement> statements;
    std::vector<Diag> causes;
  };

  ast::File tree_of(const Together& inputs);
  bool extend(Script next, Together inputs);
  std::optional<std::string> evaluated(ast::File file, Script& next, Statement& input);
  std::optional<Taken> plan(Script& next, Together& inputs);
  bool run_if_needed(const Taken& taken, const Together& inputs);
  std::unique_ptr<PlannedSession> planned_anew(Script& next, std::span<const Statement> changed,
                                               const Asked& asked, LeftOut& out);
  void tell_left_out(const LeftOut& out) const;
  [[nodiscard]] std::vector<Diag> with_ways_back(std::span<const Diag> diags) const;
  void tell_changed(std::span<const Statement> changed, const std::string& was_in_use);
  // From the first statement on. `changed`: what fails because of it is left out.
  bool rebuild(Script next, std::span<const Statement> changed, const Asked& asked);
  void follow(std::unique_ptr<PlannedSession> planned, bool may_switch);
  bool run_waiting();
  bool guarded(const std::function<bool()>& body);
  void begin_anew();
  void lose_ranks(const RanksLost& lost);
  void say_value(std::string_view text) const;
  void answer_names(const std::vector<std::string>& names);

  Options options_;
  ReplOutput output_;
  SourceMap sources_;
  Script script_;
  Trees trees_;
  Asked asked_;
  std::vector<Before> before_;  // what it was, for `:undo`
  std::vector<Loaded> loaded_;
  const Script* tried_ = nullptr;   // what it may become
  std::span<const Together> rest_;  // of the text that is taken, what comes next
  FindLayout search_;
  FoundLayouts found_layouts_;
  std::unique_ptr<PlannedSession> planned_;
  std::unique_ptr<Workers> workers_;  // null: what runs, runs in this process
  std::unique_ptr<RunningSession> running_;
  std::vector<Statement> replayed_;  // what `running_` starts with
  std::vector<Together> waiting_;    // and what it has not run yet
  KnownCosts known_costs_;
  std::set<std::string> saved_;
  std::pair<std::string, std::string> found_;  // a layout's name, and its text
  ColorMode color_ = ColorMode::kPlain;
  bool quiet_ = false;
  bool leaves_none_out_ = false;
  std::size_t steps_ = 0;  // ever taken, those that were undone, too
  bool loading_ = false;
  bool json_ = false;
  bool over_ = false;
  int interrupted_ = 0;
};

}  // namespace mtf
