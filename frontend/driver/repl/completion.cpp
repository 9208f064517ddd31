#include "frontend/driver/repl/completion.h"

#include <algorithm>
#include <filesystem>

#include "frontend/driver/command_line/tables.h"
#include "frontend/driver/repl/answer.h"
#include "frontend/driver/repl/commands/commands.h"
#include "frontend/driver/repl/repl.h"
#include "frontend/driver/repl/script/words.h"
#include "frontend/driver/stdlib_modules.h"
#include "frontend/parse/parse.h"
#include "ir/support/diag.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNoString = std::string_view::npos;

// What the end of a line is in: a comment, a string, whose text begins at `string`, or neither, as
// in the braces of one.
struct Place {
  bool is_comment = false;
  std::size_t string = kNoString;
};

// Strings, and the code in their braces, within one another; the innermost is the last.
struct Nested {
  std::size_t string = kNoString;  // none: it is code
  int braces = 0;                  // of code
};

void read_in_string(std::vector<Nested>& levels, char letter) {
  if (letter == '{') {
    levels.emplace_back();
  } else if (letter == '"') {
    levels.pop_back();
  }
}

void read_in_code(std::vector<Nested>& levels, char letter, std::size_t place) {
  if (letter == '"') {
    levels.push_back({.string = place + 1});
  } else if (letter == '}' && levels.back().braces == 0 && levels.size() > 1) {
    levels.pop_back();
  } else {
    levels.back().braces += letter == '{' ? 1 : letter == '}' ? -1 : 0;
  }
}

Place place_at_end(std::string_view line) {
  std::vector<Nested> levels{{}};
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_code = levels.back().string == kNoString;
    if (is_code && line[i] == '#') {
      return {.is_comment = true};
    }
    if (is_code) {
      read_in_code(levels, line[i], i);
    } else if (line[i] == '\\') {
      ++i;
    } else {
      read_in_string(levels, line[i]);
    }
  }
  return {.string = levels.back().string};
}

// The operation in whose parentheses the cursor is; null for none.
const OpDef* call_around(std::string_view line) {
  int depth = 0;
  for (std::size_t i = line.size(); i-- > 0;) {
    depth += line[i] == ')' || line[i] == ']' ? 1 : line[i] == '(' || line[i] == '[' ? -1 : 0;
    if (depth < 0 && line[i] == '(') {
      std::size_t begin = i;
      while (begin > 0 && is_of_word(line[begin - 1])) {
        --begin;
      }
      return find_op(op_table(), line.substr(begin, i - begin));
    }
  }
  return nullptr;
}

class Collector {
 public:
  Collector(Repl& repl, std::string_view line)
      : repl_(repl), line_(line.substr(std::min(line.find_first_not_of(" \t"), line.size()))) {}

  Candidates run() {
    const std::size_t blank = line_.find(' ');
    const bool is_command = line_.starts_with(':');
    const Place place = place_at_end(line_);
    if (is_command && blank == std::string_view::npos) {
      result_.word = line_.size();
      commands(":");
    } else if (place.string != kNoString) {
      files(line_.substr(place.string));
    } else if (is_command) {
      std::vector<std::string> several;
      arguments(meant_command(line_.substr(1, blank - 1), several));
    } else if (!place.is_comment) {
      take_word();
      line_.starts_with("import ") ? modules() : everything();
    }
    std::ranges::sort(result_.list, {}, &Candidate::text);
    const auto same =
        std::unique(result_.list.begin(), result_.list.end(),
                    [](const Candidate& a, const Candidate& b) { return a.text == b.text; });
    result_.list.erase(same, result_.list.end());
    return std::move(result_);
  }

 private:
  void add(std::string text, std::string says) {
    if (text.starts_with(line_.substr(line_.size() - result_.word))) {
      result_.list.push_back({.text = std::move(text), .says = std::move(says)});
    }
  }

  void take_word() {
    std::size_t begin = line_.size();
    while (begin > 0 && (is_of_word(line_[begin - 1]) || line_[begin - 1] == '.')) {
      --begin;
    }
    result_.word = line_.size() - begin;
  }

  void commands(const std::string& before) {
    for (const ReplCommand& one : repl_commands()) {
      add(before + std::string(one.name), std::string(one.says));
    }
  }

  // What `:help` says that the command takes: its words in capitals stand for what they name.
  void arguments(const ReplCommand* command) {
    if (command == nullptr || command->takes.empty()) {
      return;
    }
    const auto takes = [&](std::string_view word) {
      return command->takes.find(word) != std::string_view::npos;
    };
    if (takes("FILE")) {
      files(line_.substr(line_.rfind(' ') + 1));
      return;
    }
    const std::size_t dashes = line_.rfind(" --");
    if (dashes != std::string_view::npos && line_.find(' ', dashes + 1) == std::string_view::npos) {
      options(command->name);
      return;
    }
    take_word();
    if (takes("ENTRY")) {
      entries();
    }
    if (takes("RULES") || takes("A B")) {
      layouts();
      dims_and_axes();
    } else if (takes("SIZES")) {
      axes();
    } else if (takes("COMMAND")) {
      commands("");
    } else if (takes("off")) {
      switches(takes("on|"));
    } else if (command->name == "ops") {
      operations();
    } else if (takes("EXPRESSION") || takes("STATEMENT") || takes("VALUE") || takes("CLAUSES") ||
               command->name == "doc") {
      everything();
    }
    if (command->name == "why") {
      add("memory", "what is held at the peak");
      add("collectives", "why each of them is there");
    }
  }

  void switches(bool has_on) {
    add("off", "");
    if (has_on) {
      add("on", "");
    }
  }

  void entries() {
    for (const Entry& entry : repl_.planned().session().entries()) {
      add(entry.name, "an entry");
    }
  }

  // Of the command of the command line that has the same name.
  void options(std::string_view command) {
    const CommandDef* def = find_command(command);
    result_.word = line_.size() - line_.rfind(' ') - 1;
    for (const OptionDef& option : all_options()) {
      if (def != nullptr && takes(*def, option)) {
        add(std::string(option.name) + (option.value.empty() ? "" : " "), std::string(option.help));
      }
    }
  }

  void modules() {
    for (const std::string_view name : stdlib_module_names()) {
      add(std::string(name), "a module of the library");
    }
  }

  void layouts() {
    for (const Layout& layout : repl_.planned().session().layouts()) {
      add(layout.name, "layout on " + to_string(layout.mesh));
    }
    if (repl_.planned().value(host::kOneRank) == nullptr) {
      add(std::string(host::kOneRank), "one rank");
    }
  }

  void dims_and_axes() {
    for (const std::string& dim : repl_.planned().context().names.dims) {
      add(dim, "dim");
    }
    axes();
  }

  void axes() {
    for (const Mesh& mesh : repl_.planned().session().meshes()) {
      for (const MeshAxis& axis : mesh.axes) {
        add(axis.name, "axis of " + mesh.name + ", " + std::to_string(axis.size));
      }
    }
  }

  void operations() {
    for (const OpDef* op : op_table()) {
      if (!op->name.empty() && is_of_word(op->name.front())) {
        add(std::string(op->name), std::string(op->summary));
      }
    }
  }

  void members(std::string_view word) {
    const std::string module(word.substr(0, word.find('.')));
    const host::Value* value = repl_.planned().value(module);
    const auto* found = value == nullptr ? nullptr : value->get<std::shared_ptr<host::Module>>();
    for (const auto& [name, binding] : found == nullptr
                                           ? std::map<std::string, host::Binding, std::less<>>()
                                           : (*found)->scope->names()) {
      add(module + "." + name, describe(binding.value));
    }
  }

  std::string describe(const host::Value& value) {
    return first_line(value_text(value, repl_.planned().device(), repl_.planned().context()));
  }

  void everything() {
    const std::string_view word = line_.substr(line_.size() - result_.word);
    if (word.find('.') != std::string_view::npos) {
      members(word);
      return;
    }
    if (const OpDef* op = call_around(line_)) {
      for (const OpParam& param : op->params) {
        if (param.kind != ParamKind::kTensor && param.kind != ParamKind::kTensors) {
          add(std::string(param.name) + " = ", std::string(param.help));
        }
      }
    }
    const host::Context& context = repl_.planned().context();
    if (!context.modules.files.empty()) {
      for (const auto& [name, binding] : context.modules.files.back()->scope->names()) {
        add(name, describe(binding.value));
      }
    }
    dims_and_axes();
    operations();
    for (const std::string& keyword : statement_words()) {
      add(keyword, "");
    }
    add("grad", "gradients of a loss by tensors");
  }

  void files(std::string_view path) {
    result_.word = path.size();
    const fs::path typed(path);
    std::error_code problem;
    std::error_code ignored;
    const fs::path folder = typed.parent_path();
    for (fs::directory_iterator at(folder.empty() ? "." : folder, problem), end;
         !problem && at != end; at.increment(problem)) {
      const bool is_folder = at->is_directory(ignored);
      add((folder / at->path().filename()).string() + (is_folder ? "/" : ""), "");
    }
  }

  Repl& repl_;
  std::string_view line_;
  Candidates result_;
};

}  // namespace

Candidates candidates(Repl& repl, std::string_view line) {
  return Collector(repl, line).run();
}

}  // namespace mtf
