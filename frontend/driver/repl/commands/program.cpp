// The commands of the command line, with the session as their program.

#include "frontend/driver/repl/commands/program.h"

#include <algorithm>
#include <cstdio>
#include <variant>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "frontend/driver/repl/commands/commands.h"
#include "frontend/driver/repl/repl.h"

namespace mtf {

namespace {

// What the top level is called where it is looked at as an entry of its own.
constexpr std::string_view kTopLevel = "session";

// Names at top level that stand for tensors.
std::vector<std::string> tensors_of(Repl& repl) {
  std::vector<std::string> names;
  for (const Statement& statement : repl.script().inputs()) {
    for (const std::string& name : statement.names) {
      const host::Value* value = repl.planned().value(name);
      if (value != nullptr && value->is<host::Tensor>() &&
          statement.form != StatementForm::kAssigned) {
        names.push_back(name);
      }
    }
  }
  return names;
}

bool is_declaration(const ast::Stmt& statement) {
  return std::holds_alternative<ast::Dims>(statement.node) ||
         std::holds_alternative<ast::Mesh>(statement.node) ||
         std::holds_alternative<ast::Layout>(statement.node) ||
         std::holds_alternative<ast::UseLayout>(statement.node) ||
         std::holds_alternative<ast::Fn>(statement.node) ||
         std::holds_alternative<ast::Import>(statement.node) ||
         std::holds_alternative<ast::Expect>(statement.node);
}

// A session may have no function yet. What its top level computes becomes one, `session`, which
// returns all that is bound; what it prints is left out. Where it does more than bind, as in a
// loop, there is none.
void make_entry(ast::File& file, const std::vector<std::string>& results) {
  const bool binds_only = std::ranges::all_of(file.statements, [](const ast::Stmt& statement) {
    return is_declaration(statement) || std::holds_alternative<ast::Binding>(statement.node) ||
           std::holds_alternative<ast::Assign>(statement.node) ||
           std::holds_alternative<ast::Print>(statement.node);
  });
  if (!binds_only) {
    return;
  }
  ast::Fn entry;
  std::vector<ast::Stmt> rest;
  for (ast::Stmt& statement : file.statements) {
    if (is_declaration(statement)) {
      rest.push_back(std::move(statement));
    } else if (!std::holds_alternative<ast::Print>(statement.node)) {
      entry.name.span = statement.span;
      entry.body.statements.push_back(std::move(statement));
    }
  }
  entry.name.text = kTopLevel;
  entry.is_top_level = true;
  entry.body.span = entry.name.span;
  ast::Return end;
  for (const std::string& name : results) {
    end.values.push_back({.span = entry.name.span, .node = ast::NameRef{.text = name}});
  }
  entry.body.statements.push_back({.span = entry.name.span, .node = std::move(end)});
  const SourceSpan span = entry.name.span;
  rest.push_back({.span = span, .node = std::move(entry)});
  file.statements = std::move(rest);
}

// Whatever a cost depends on but the layout and the entry.
std::string priced_as(const Script& script, const Options& options) {
  std::string text = options.mesh + "\n" + options.rules + "\n" + options.precision + "\n" +
                     options.hardware + (options.fast ? "\nfast" : "");
  for (const std::string& setting : options.settings) {
    text += "\n" + std::to_string(setting.size()) + " " + setting;
  }
  for (const Statement& input : script.inputs()) {
    text += "\n" + std::to_string(input.file.index) + " " + std::to_string(input.span.begin) + " " +
            std::to_string(static_cast<int>(input.form));
  }
  return text;
}

}  // namespace

bool about_program(Repl& repl, const std::vector<Statement>& inputs, Options options,
                   const std::function<Outcome(Workspace&)>& body, const std::string& aside) {
  const Options session = repl.options_for(inputs);
  const auto inherit = [](auto& own, const auto& from) { own = own.empty() ? from : own; };
  inherit(options.layout, session.layout);
  inherit(options.mesh, session.mesh);
  inherit(options.rules, session.rules);
  inherit(options.settings, session.settings);
  inherit(options.precision, session.precision);
  inherit(options.hardware, session.hardware);
  options.fast = options.fast || session.fast;
  options.seed = session.seed;
  options.json = options.json || repl.is_json();
  options.color = session.color;
  Session& now = repl.planned().session();
  const bool by_itself =
      options.command != Command::kVerify && (now.entries().empty() || options.name == kTopLevel);
  const std::vector<std::string> results =
      by_itself ? tensors_of(repl) : std::vector<std::string>();
  Workspace workspace(std::move(options));
  workspace.sources = repl.sources();
  workspace.program = [&](DiagSink& diags) {
    ast::File file = program_of(inputs, workspace.sources, diags);
    file.id = file.id.valid() ? file.id : FileId{0};
    if (!results.empty()) {
      make_entry(file, results);
    }
    return std::optional(std::move(file));
  };
  workspace.find_layout = repl.layout_finder();
  KnownCosts& known = repl.known_costs();
  if (std::string now_priced = priced_as(repl.script(), workspace.options);
      known.program != now_priced) {
    known = {.program = std::move(now_priced), .costs = {}};
  }
  workspace.known_costs = &known;
  workspace.in_session = true;
  workspace.unknown = aside;
  std::fflush(stdout);
  Outcome outcome = guarded(workspace, [&] { return body(workspace); });
  show_json(workspace, outcome);
  std::fflush(stdout);
  if (!outcome.message.empty()) {
    repl.mistake(outcome.message);
  }
  return outcome.status == kDone;
}

std::string without_braces(const std::string& words) {
  return words.starts_with('{') && words.ends_with('}') ? words.substr(1, words.size() - 2) : words;
}

namespace {

// "it is used as `mtf why FILE VALUE`" as a session has it.
std::string in_session(std::string text, const std::string& command) {
  const std::string used = "`mtf " + command + " FILE";
  const std::size_t at = text.find(used);
  return at == std::string::npos ? text : text.replace(at, used.size(), "`:" + command);
}

// The words of the command line, where the session stands for the file.
bool run_words(Repl& repl, const std::string& command, const std::string& rest,
               const std::function<Outcome(Workspace&)>& body) {
  std::vector<std::string> words = words_in(rest);
  words.insert(words.begin(), {command, "session"});
  const std::variant<Options, Answer> parsed = parse_options(words);
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    if (answer->status != kDone) {
      return repl.misused(in_session(answer->text, command));
    }
    repl.tell(answer->text, {{"help", answer->text}});
    return true;
  }
  return about_program(repl, repl.script().inputs(), std::get<Options>(parsed), body);
}

// Only what `expect` says.
Outcome expect_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  const CheckedLayouts checked = file ? check_layouts(workspace, *file) : CheckedLayouts();
  if (!checked.programs.empty()) {
    check_contracts(workspace, *checked.programs.front(), checked.layouts, workspace.diags);
  }
  // A layout that is not in use need not fit what there is by now.
  DiagSink broken;
  for (const Diag& diag : workspace.diags.diags()) {
    if (!is_of_layout(diag.kind)) {
      broken.add(diag);
    }
  }
  return outcome_of(workspace, broken);
}

}  // namespace

bool repl_plan(Repl& repl, const std::string& rest) {
  return run_words(repl, "plan", rest, plan_outcome);
}

bool repl_cost(Repl& repl, const std::string& rest) {
  return run_words(repl, "cost", rest, cost_outcome);
}

bool repl_why(Repl& repl, const std::string& rest) {
  return run_words(repl, "why", rest, why_outcome);
}

bool repl_show_path(Repl& repl, const std::string& rest) {
  return run_words(repl, "show", rest, show_outcome);
}

bool repl_diff(Repl& repl, const std::string& rest) {
  return run_words(repl, "diff", rest, diff_outcome);
}

bool repl_check(Repl& repl, const std::string& rest) {
  return run_words(repl, "check", rest, check_outcome);
}

bool repl_verify(Repl& repl, const std::string& rest) {
  return run_words(repl, "verify", rest, verify_outcome);
}

bool repl_search(Repl& repl, const std::string& rest) {
  bool is_to_be_used = false;
  const bool done = run_words(repl, "search", rest, [&](Workspace& workspace) {
    return search_outcome(workspace, [&](const std::string& name, const std::string& text) {
      repl.set_found(name, text);
      is_to_be_used = workspace.options.search.write;
    });
  });
  return done && (!is_to_be_used || use_found(repl));
}

namespace {

// As the command line answers it, whatever the session has.
bool answered_by(const std::string& command, Repl& repl, const std::string& rest) {
  std::vector<std::string> words = words_in(rest);
  words.insert(words.begin(), command);
  if (repl.is_json()) {
    words.emplace_back("--json");
  }
  std::fflush(stdout);
  return command_line(words) == kDone;
}

}  // namespace

bool repl_ops(Repl& repl, const std::string& rest) {
  return answered_by("ops", repl, rest);
}

bool repl_library(Repl& repl, const std::string& rest) {
  return answered_by("doc", repl, rest);
}

bool expectations_hold(Repl& repl, const std::vector<Statement>& inputs) {
  return about_program(repl, inputs, Options(), expect_outcome);
}

bool repl_expect(Repl& repl, const std::string& rest) {
  std::vector<Statement> inputs = repl.script().inputs();
  if (!rest.empty()) {
    const std::optional<std::vector<Statement>> more = repl.read_aside("expect " + rest);
    if (!more) {
      return false;
    }
    inputs.insert(inputs.end(), more->begin(), more->end());
  }
  const bool holds = expectations_hold(repl, inputs);
  if (holds && !repl.is_json()) {
    repl.answer("every `expect` holds\n");
  }
  return holds;
}

}  // namespace mtf
