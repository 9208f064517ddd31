#include "frontend/driver/repl/commands/commands.h"

#include <algorithm>
#include <array>

#include "frontend/driver/doc/pages.h"
#include "frontend/driver/repl/repl.h"
#include "ir/support/text/parse_number.h"
#include "ir/support/text/trimmed.h"

namespace mtf {
namespace {

// Why a word means no command.
bool refuse_command(Repl& repl, const std::string& word,
                    const std::vector<std::string>& candidates) {
  std::string which;
  for (const std::string& name : candidates) {
    which += (which.empty() ? "; it may be `:" : "`, `:") + name;
  }
  if (!which.empty()) {
    return repl.refuse(DiagKind::kUnknownName,
                       "`:" + word + "` is short for several" + which + "`");
  }
  std::vector<std::string> names;
  names.reserve(repl_commands().size());
  for (const ReplCommand& command : repl_commands()) {
    names.push_back(":" + std::string(command.name));
  }
  return repl.refuse(
      DiagKind::kUnknownName,
      "no command `:" + word + "`" +
          (word == "exit" ? "; did you mean `:quit`?"
                          : did_you_mean(":" + word, names, "; `:help` lists them")));
}

bool help(Repl& repl, const std::string& rest) {
  if (rest.empty()) {
    repl.tell(repl_help(), {{"commands", names_of(repl_commands())}, {"help", repl_help()}});
    return true;
  }
  const std::string word = rest.starts_with(':') ? rest.substr(1) : rest;
  std::vector<std::string> candidates;
  const ReplCommand* command = meant_command(word, candidates);
  if (command == nullptr) {
    const std::string page = candidates.empty() ? page_command(rest) : "";
    return page.empty() ? refuse_command(repl, word, candidates)
                        : repl.refuse(DiagKind::kUnknownName,
                                      "no command `:" + word + "`; `:" + page + "` explains it");
  }
  const std::string name(command->name);
  const std::string takes(command->takes);
  const std::string says(command->says);
  repl.tell(":" + name + " " + takes + "   " + says + "\n",
            {{"command", name}, {"takes", takes}, {"says", says}});
  return true;
}

bool json(Repl& repl, const std::string& rest) {
  if (rest != "on" && rest != "off") {
    return repl.refuse(DiagKind::kBadArgument, "`:json` is `on` or `off`");
  }
  repl.set_json(rest == "on");
  repl.tell("", {{"json", std::string(rest)}});
  return true;
}

bool quit(Repl& repl, const std::string& /*rest*/) {
  repl.end();
  return true;
}

// `before`: the statements that there were. `files`: that those wrote that are there no more.
void tell_taken_back(Repl& repl, const std::vector<Statement>& before,
                     const std::vector<std::string>& files) {
  const std::vector<Statement>& now = repl.script().inputs();
  for (const Statement& statement : before) {
    if (std::ranges::find(now, statement.span, &Statement::span) == now.end()) {
      const std::string text = text_of(statement, repl.sources());
      const std::string line = text.substr(0, text.find('\n'));
      repl.tell("taken back: `" + line + "`\n", {{"taken_back", line}});
    }
  }
  if (!files.empty()) {
    repl.tell("what was written stays: " + joined(files, ", ") + "\n", {{"stays", files}});
  }
}

bool undo(Repl& repl, const std::string& rest) {
  const std::size_t count = rest.empty() ? 1 : parse_number<std::size_t>(rest).value_or(0);
  if (count < 1 || count > kMostUndone) {
    return repl.refuse(DiagKind::kBadArgument, "`:undo` takes back one statement, or `:undo 3`");
  }
  if (const std::size_t there = repl.undoable(); there > 0 && count > there) {
    const std::string number = std::to_string(there);
    return repl.refuse(DiagKind::kBadArgument,
                       there == 1 ? "one statement is left to take back: `:undo`"
                                  : number + " statements are left to take back: `:undo " + number +
                                        "` takes back all of them");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<Statement> before = repl.script().inputs();
    const std::vector<std::string> files = repl.files_of_last();
    if (!repl.undo()) {
      return false;
    }
    tell_taken_back(repl, before, files);
  }
  return true;
}

constexpr std::array kReplCommands = std::to_array<ReplCommand>({
    {"check", "[--lint]", "errors and warnings of the whole session, under every layout",
     repl_check},
    {"cost", "[ENTRY] [--hardware NAME]", "the layouts side by side", repl_cost},
    {"diff", "A B [ENTRY]", "what changes from one layout to another; `none` is one rank",
     repl_diff},
    {"doc", "NAME", "an operation, a function, a module's member, or a word of the language",
     repl_doc},
    {"expect", "[CLAUSES]", "whether every `expect` holds, and `net { all_gather = 0 }` besides",
     repl_expect},
    {"help", "[COMMAND]", "this page", help},
    {"json", "on|off", "answers as JSON, one object a line", json},
    {"layout", "[NAME | RULES]",
     "the layouts; or use one, `none` for one rank, or these rules: batch -> rows", repl_layout},
    {"load", "FILE", "the statements of a file, as if they were typed", repl_load},
    {"mesh", "[SIZES]", "the meshes; or other sizes: rows=4,cols=2", repl_mesh},
    {"ops", "[NAME]", "the operations, or one of them", repl_ops},
    {"plan", "[ENTRY] [--rank N]", "what one rank does, step by step", repl_plan},
    {"quit", "", "the end; so does Ctrl-D", quit},
    {"ranks", "[N | off]", "runs on N MPI processes, which take over what is held", repl_ranks},
    {"reload", "", "reads changed files again, and says what changed", repl_reload},
    {"save", "FILE", "the session as a program that `mtf run` runs", repl_save},
    {"search", "[ENTRY] [OPTIONS]", "the layout that costs least, for `:layout found`; or --write",
     repl_search},
    {"show", "EXPRESSION [--rank N] [--ascii]", "draws which ranks hold which blocks", repl_show},
    {"time", "STATEMENT", "does it, and says how long it took", repl_time},
    {"type", "EXPRESSION", "its type, layout and bytes; nothing runs", repl_type},
    {"undo", "[N]", "takes back the last statement, or the last N", undo},
    {"vars", "", "what is bound, and the params and states", repl_vars},
    {"verify", "[--fast]", "runs the session under every layout, and compares", repl_verify},
    {"what-if", "RULES", "only what these rules would change now: batch -> cols", repl_what_if},
    {"why", "VALUE [ENTRY]", "why a value lies as it does, a collective is there, or `memory`",
     repl_why},
});

std::string stripped(std::string_view text) {
  return std::string(trimmed(text, " \t\r\n"));
}

const ReplCommand* repl_command(std::string_view name) {
  const auto* const found = std::ranges::find(kReplCommands, name, &ReplCommand::name);
  return found == kReplCommands.end() ? nullptr : found;
}

}  // namespace

std::span<const ReplCommand> repl_commands() {
  return kReplCommands;
}

const ReplCommand* meant_command(std::string_view word, std::vector<std::string>& candidates) {
  const ReplCommand* found = nullptr;
  for (const ReplCommand& command : kReplCommands) {
    if (command.name == word) {
      return &command;
    }
    if (!word.empty() && command.name.starts_with(word)) {
      candidates.emplace_back(command.name);
      found = &command;
    }
  }
  return candidates.size() == 1 ? found : nullptr;
}

std::string repl_help() {
  std::vector<std::string> left;
  std::size_t width = 0;
  for (const ReplCommand& command : kReplCommands) {
    left.push_back(":" + std::string(command.name) + " " + std::string(command.takes));
    width = std::max(width, left.back().size());
  }
  std::string text =
      "A statement of the language is done and answered; an expression answers with its value.\n\n";
  for (std::size_t i = 0; i < left.size(); ++i) {
    text += "  " + left[i] + std::string(width + 2 - left[i].size(), ' ') +
            std::string(kReplCommands[i].says) + "\n";
  }
  return text +
         "\nA command may be shortened, as `:p` for `:plan`, and takes the options of `mtf "
         "plan`, `cost`, `why`, `diff`, `search`.\nCtrl-C takes back what runs, after the step in "
         "progress; a second one ends the session, or its `:ranks`, at once.\n";
}

bool run_repl_command(Repl& repl, const std::string& text) {
  const std::string line = stripped(text);
  const std::size_t blank = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string word = line.substr(0, blank);
  std::vector<std::string> candidates;
  if (const ReplCommand* command = meant_command(word, candidates)) {
    return command->run(repl, stripped(std::string_view(line).substr(blank)));
  }
  return refuse_command(repl, word, candidates);
}

std::string word_without_colon(std::string_view text) {
  std::string word = stripped(text);
  if (word.ends_with("()")) {
    word.resize(word.size() - 2);
  }
  return word == "exit" || repl_command(word) != nullptr ? word : "";
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  bool quoted = false;
  bool inside = false;
  for (const char letter : text) {
    const bool is_blank = letter == ' ' || letter == '\t' || letter == '\n' || letter == '\r';
    if (letter == '"') {
      quoted = !quoted;
    }
    if ((is_blank && !quoted) || letter == '"') {
      inside = inside && letter == '"';
      if (letter == '"' && quoted) {
        words.emplace_back();
        inside = true;
      }
      continue;
    }
    if (!inside) {
      words.emplace_back();
      inside = true;
    }
    words.back() += letter;
  }
  return words;
}

}  // namespace mtf
