// Files in a session: read once, and again when they have changed.

#include <algorithm>
#include <set>

#include "frontend/driver/repl/repl.h"
#include "frontend/driver/workspace.h"
#include "frontend/elaborate/context.h"
#include "frontend/parse/parse.h"
#include "frontend/report/quantity.h"

namespace mtf {
namespace {

// nullopt after an error, which is shown.
std::optional<std::string> text_of_file(const Repl& repl, const std::string& path) {
  Options options;
  options.file = path;
  Workspace workspace(std::move(options));
  const std::optional<FileId> file = read_program(workspace);
  if (!file) {
    repl.show(workspace.diags.diags());
    return std::nullopt;
  }
  return workspace.sources.file(*file).text;
}

std::string names_text(const Statement& input, const SourceMap& sources) {
  const std::string text = text_of(input, sources);
  return input.names.empty() ? "`" + text.substr(0, text.find('\n')) + "`"
                             : joined(input.names, ", ");
}

// Of the statements of one list that are not in the other.
std::vector<std::string> only_in(const std::vector<Statement>& list,
                                 const std::vector<Statement>& other, const SourceMap& sources) {
  std::set<std::string> texts;
  for (const Statement& input : other) {
    texts.insert(text_of(input, sources));
  }
  std::vector<std::string> result;
  for (const Statement& input : list) {
    if (!texts.contains(text_of(input, sources))) {
      result.push_back(names_text(input, sources));
    }
  }
  return result;
}

std::vector<Statement> statements_of(const Script& script, FileId file) {
  std::vector<Statement> result;
  std::ranges::copy_if(script.inputs(), std::back_inserter(result),
                       [file](const Statement& input) { return input.file == file; });
  return result;
}

// Puts statements in the place of those of a file; false after an error.
bool replace(Script& script, FileId file, const std::vector<Statement>& now,
             const SourceMap& sources, DiagSink& diags) {
  Script next;
  bool is_first = true;
  for (const Statement& input : script.inputs()) {
    std::vector<Statement> ones;
    if (!(input.file == file)) {
      ones.push_back(input);
    } else if (std::exchange(is_first, false)) {
      ones = now;
    }
    for (const Statement& one : ones) {
      if (!next.accept(one, sources, diags)) {
        return false;
      }
    }
  }
  script = std::move(next);
  return true;
}

std::string change_text(const std::string& path, const std::vector<Statement>& old,
                        const std::vector<Statement>& now, const SourceMap& sources) {
  const std::string gone = joined(only_in(old, now, sources), ", ");
  const std::string added = joined(only_in(now, old, sources), ", ");
  return path + ":" + (gone.empty() ? "" : " was " + gone) +
         (added.empty() ? "" : (gone.empty() ? " now " : "; now ") + added) + "\n";
}

}  // namespace

bool Repl::load(const std::string& path) {
  const std::optional<std::string> text = text_of_file(*this, path);
  if (!text) {
    return false;
  }
  const FileId file = sources_.add({.name = path, .path = path, .text = *text});
  loaded_.push_back({.path = path, .file = file});
  bool done = false;
  {
    const host::Restore quiet(quiet_, true);
    const host::Restore loading(loading_, true);
    done = statements(file);
  }
  const auto count = std::ranges::count(script_.inputs(), file, &Statement::file);
  if (!quiet_) {
    tell(path + ": " + count_text(count, "statement") + "; in use: " + in_use() + "\n",
         {{"loaded", path}, {"statements", std::int64_t{count}}, {"in_use", in_use()}});
  }
  return done;
}

bool Repl::reload() {
  Script next = script_;
  std::string said;
  std::vector<std::string> files;
  for (Loaded& loaded : loaded_) {
    const std::optional<std::string> text = text_of_file(*this, loaded.path);
    if (!text) {
      return false;
    }
    if (*text == sources_.file(loaded.file).text) {
      continue;
    }
    const FileId file = sources_.add({.name = loaded.path, .path = loaded.path, .text = *text});
    DiagSink diags;
    const std::optional<ast::File> tree = parse(file, sources_, diags);
    if (!show(diags.diags()) || !tree) {
      return false;
    }
    const std::vector<Statement> old = statements_of(next, loaded.file);
    const std::vector<Statement> now = Script::inputs_of(*tree);
    if (!replace(next, loaded.file, now, sources_, diags)) {
      return show(diags.diags());
    }
    files.push_back(loaded.path);
    said += change_text(loaded.path, old, now, sources_);
    loaded.file = file;
  }
  if (said.empty()) {
    tell("no file has changed\n", {{"changed", files}});
    return true;
  }
  if (!rebuild(std::move(next), {}, asked_)) {
    return false;
  }
  tell(said, {{"changed", files}, {"says", said}});
  return true;
}

}  // namespace mtf
