// save and restore: what they say, made into a request to the device.

#include "frontend/elaborate/layouts/layouts.h"
#include "frontend/elaborate/statement.h"
#include "frontend/elaborate/tensors/entries.h"
#include "frontend/elaborate/tensors/units.h"
#include "ir/support/file.h"

namespace mtf::host {
namespace {

std::string_view word_of(const ast::Checkpoint& checkpoint) {
  return checkpoint.restore ? "restore" : "save";
}

// The options by name, each of which has a value; those of `save` or of `restore`.
class OptionReader {
 public:
  OptionReader(Context& c, const ast::Checkpoint& checkpoint) : c_(c), checkpoint_(checkpoint) {}

  // False after an error.
  bool read(std::span<const std::string> known) {
    return std::ranges::all_of(
        checkpoint_.options, [&](const ast::Argument& option) { return read_one(option, known); });
  }

  // A whole number of at least 1; 0 if it is not given. False after an error.
  bool take(const std::string& name, std::int64_t& number) {
    const Operand* operand = find(name);
    if (operand == nullptr) {
      return true;
    }
    const auto* given = operand->value.get<std::int64_t>();
    if (given == nullptr || *given < 1) {
      return refuse(name, *operand, "a whole number of at least 1");
    }
    number = *given;
    return true;
  }
  bool take(const std::string& name, bool& flag) {
    const Operand* operand = find(name);
    const bool* given = operand == nullptr ? nullptr : operand->value.get<bool>();
    if (operand != nullptr && given == nullptr) {
      return refuse(name, *operand, "`true` or `false`");
    }
    flag = given != nullptr && *given;
    return true;
  }

  bool take(const std::string& name, std::string& text) {
    const Operand* operand = find(name);
    const auto* given = operand == nullptr ? nullptr : operand->value.get<std::string>();
    if (operand != nullptr && given == nullptr) {
      return is_unknown(operand->value) || refuse(name, *operand, "a string");
    }
    text = given == nullptr ? "" : *given;
    return true;
  }

  // Null: it is not given.
  [[nodiscard]] const Operand* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  bool read_one(const ast::Argument& option, std::span<const std::string> known) {
    const std::string& name = option.name->text;
    if (std::ranges::find(known, name) == known.end()) {
      const Suggestion suggestion = suggest(name, known);
      c_.report.error(
          DiagKind::kUnknownArgument, option.name->span,
          "`" + std::string(word_of(checkpoint_)) + "` has no option `" + name + "`" +
              (suggestion.text.empty() ? "; it has " + quoted_list(known) : suggestion.text),
          {}, suggestion.fix);
      return false;
    }
    const Operand operand{.value = compute(c_, option.value), .span = option.value.span};
    if (!values_.emplace(name, operand).second) {
      c_.report.error(DiagKind::kBadArgument, option.span, "`" + name + "` is given twice");
      return false;
    }
    return true;
  }
  bool refuse(const std::string& name, const Operand& operand, std::string_view wanted) {
    if (!is_unknown(operand.value)) {
      const auto* number = operand.value.get<std::int64_t>();
      c_.report.error(DiagKind::kBadArgument, operand.span,
                      "`" + name + "` takes " + std::string(wanted) + "; this is " +
                          (number != nullptr ? std::to_string(*number) : kind_of(operand.value)));
    }
    return false;
  }

  Context& c_;
  const ast::Checkpoint& checkpoint_;
  std::map<std::string, Operand> values_;
};

// The path of variables that a name without quotes means, `vit/encoder` of `vit.encoder`, where
// that begins with a function that has variables; or else "".
std::string meant_variables(Context& c, const ast::Expr& path) {
  const auto* postfix = std::get_if<ast::Postfix>(&path.node);
  const ast::Expr& base = postfix == nullptr ? path : *postfix->base;
  if (!std::holds_alternative<ast::NameRef>(base.node)) {
    return "";
  }
  const Value owner = compute(c, base);
  const auto* function = owner.get<Function>();
  if (function == nullptr || !owns_variables(*function->fn)) {
    return "";
  }
  std::string meant = function->fn->name.text;
  for (std::size_t i = 0; postfix != nullptr && i < postfix->suffixes.size(); ++i) {
    const auto* member = std::get_if<ast::Member>(&postfix->suffixes[i].node);
    if (member == nullptr || member->path != nullptr) {
      break;
    }
    meant += "/" + member->name.text;
  }
  return meant;
}

void report_no_path(Context& c, const ast::Checkpoint& checkpoint, const std::string& is) {
  c.report.error(
      DiagKind::kWrongType, checkpoint.path.span,
      "`" + std::string(word_of(checkpoint)) + "` takes the path of a file; this is " + is);
}

// The path; "" if a check cannot know it. nullopt after an error.
std::optional<std::string> path_of(Context& c, const ast::Checkpoint& checkpoint) {
  const std::size_t before = c.report.failures();
  if (const std::string meant = meant_variables(c, checkpoint.path); !meant.empty()) {
    report_no_path(
        c, checkpoint,
        "what declares `" + meant +
            (checkpoint.restore ? R"(/*`; `restore "net.safetensors" as ")" + meant +
                                      R"(/*"` reads these variables from one)"
                                : R"(/*`; `save "net.safetensors"` writes every variable to one)"));
    return std::nullopt;
  }
  const Value value = compute(c, checkpoint.path);
  if (is_unknown(value)) {
    return c.report.failures() == before ? std::optional(std::string()) : std::nullopt;
  }
  const auto* path = value.get<std::string>();
  if (path == nullptr || path->empty()) {
    report_no_path(c, checkpoint, path == nullptr ? kind_of(value) : "an empty string");
    return std::nullopt;
  }
  return *path;
}

// The globs that stand behind `as`, or are given as an option; nullopt after an error.
std::optional<std::vector<std::string>> globs_in(Context& c, const Operand& given,
                                                 const std::string& takes) {
  std::vector<std::string> globs;
  const auto* list = given.value.get<List>();
  for (const Value& item : list == nullptr ? Values{given.value} : *list->items) {
    const auto* glob = item.get<std::string>();
    if (glob == nullptr || glob->empty()) {
      if (!is_unknown(item)) {
        c.report.error(DiagKind::kWrongType, given.span,
                       takes + ", as `\"encoder/*\"` or a list of such; this is " +
                           (glob == nullptr ? kind_of(item) : "an empty string"));
      }
      return std::nullopt;
    }
    globs.push_back(*glob);
  }
  if (globs.empty()) {
    c.report.error(DiagKind::kWrongType, given.span,
                   takes + "; this list has none, and nothing would be restored");
    return std::nullopt;
  }
  return globs;
}

std::optional<std::vector<std::string>> globs_of(Context& c, const ast::Checkpoint& checkpoint) {
  if (!checkpoint.part) {
    return std::vector<std::string>();
  }
  return globs_in(c, {.value = compute(c, *checkpoint.part), .span = checkpoint.part->span},
                  "`as` takes the paths of variables");
}

// "" or why a name of the file's cannot stand for each variable that a glob names.
std::string pairing_problem(const RestoreRequest& request) {
  if (request.globs.empty()) {
    return "`from` says what the file calls the variables that `as` names: `restore "
           "\"net.safetensors\" as \"vit/encoder/*\", from = \"encoder/*\"`";
  }
  if (request.globs.size() != request.sources.size()) {
    return "`as` has " + plural(static_cast<std::int64_t>(request.globs.size()), "glob") +
           ", and `from` " + std::to_string(request.sources.size()) +
           "; each takes the place of one";
  }
  for (std::size_t i = 0; i < request.globs.size(); ++i) {
    const std::string& glob = request.globs[i];
    const std::string& source = request.sources[i];
    if (std::ranges::count(glob, '*') != std::ranges::count(source, '*')) {
      return "a `*` stands for the same text on both sides, and " + in_backticks(glob) + " has " +
             std::to_string(std::ranges::count(glob, '*')) + " of them, " + in_backticks(source) +
             " " + std::to_string(std::ranges::count(source, '*'));
    }
  }
  return "";
}

// restore … as GLOBS, from = GLOBS. False after an error.
bool take_sources(Context& c, const Operand* given, RestoreRequest& request) {
  if (given == nullptr) {
    return true;
  }
  auto sources = globs_in(c, *given, "`from` takes what the file calls the variables");
  if (!sources) {
    return false;
  }
  request.sources = *std::move(sources);
  const std::string problem = pairing_problem(request);
  if (!problem.empty()) {
    c.report.error(DiagKind::kBadArgument, given->span, problem);
  }
  return problem.empty();
}

// "" or why a checkpoint cannot have that name; one that a check does not know can.
std::string name_problem(const SaveRequest& request) {
  const std::string& path = request.path;
  if (path.ends_with(kIndexSuffix)) {
    return in_backticks(path) +
           " is the name of an index, which lists the parts of a checkpoint; " +
           in_backticks("save \"" + path.substr(0, path.size() - kIndexSuffix.size()) + "\"") +
           " writes both";
  }
  const bool has_number = std::ranges::any_of(
      path.substr(path.rfind('/') + 1), [](char letter) { return letter >= '0' && letter <= '9'; });
  return request.keep == 0 || path.empty() || has_number
             ? ""
             : "`keep` counts files whose names differ in their last number, and " +
                   in_backticks(path) + " has none; `\"step_{n}.safetensors\"` has one";
}

void run_save(Context& c, const ast::Checkpoint& checkpoint, SourceSpan span) {
  const std::vector<std::string> known = {"keep", "part_bytes", "note"};
  OptionReader options(c, checkpoint);
  SaveRequest request{.path = {}, .span = checkpoint.path.span};
  if (checkpoint.part) {
    c.report.error(DiagKind::kBadArgument, checkpoint.part->span,
                   "`save` writes every variable; `restore … as` takes a part of them");
    return;
  }
  const std::optional<std::string> path = path_of(c, checkpoint);
  if (!options.read(known) || !path || !options.take("keep", request.keep) ||
      !options.take("part_bytes", request.part_bytes) || !options.take("note", request.note)) {
    return;
  }
  request.path = *path;
  if (const std::string problem = name_problem(request); !problem.empty()) {
    c.report.error(DiagKind::kBadArgument, checkpoint.path.span, problem);
    return;
  }
  if (c.variables.by_path.empty() && !c.execution.checks_only()) {
    c.report.error(
        DiagKind::kBadArgument, span,
        "there is no variable to save by now: those of a model or of an entry exist once "
        "it was called");
    return;
  }
  if (put_in_use(c.report, c.layouts, c.execution)) {
    static_cast<void>(c.execution.save(request));
  }
}

void run_restore(Context& c, const ast::Checkpoint& checkpoint) {
  const std::vector<std::string> known = {"cast", "from"};
  OptionReader options(c, checkpoint);
  RestoreRequest request{.path = {}, .globs = {}, .sources = {}, .span = checkpoint.path.span};
  const std::optional<std::string> path = path_of(c, checkpoint);
  std::optional<std::vector<std::string>> globs = globs_of(c, checkpoint);
  if (!options.read(known) || !path || !globs || !options.take("cast", request.cast)) {
    return;
  }
  request.path = *path;
  request.globs = *std::move(globs);
  if (!take_sources(c, options.find("from"), request)) {
    return;
  }
  if (put_in_use(c.report, c.layouts, c.execution)) {
    static_cast<void>(c.execution.restore(request));
  }
}

bool is_save(const ast::Stmt& statement) {
  const auto* checkpoint = std::get_if<ast::Checkpoint>(&statement.node);
  return checkpoint != nullptr && !checkpoint->restore;
}

// Empty: they may not be done without the rest.
std::vector<const ast::Stmt*> lone_saves(const Context& c, const ast::If& choice) {
  std::vector<const ast::Stmt*> saves;
  for (const ast::Stmt& statement : choice.branches.front().body.statements) {
    const auto* checkpoint = std::get_if<ast::Checkpoint>(&statement.node);
    if (checkpoint != nullptr && c.modules.lone_saves.contains(checkpoint)) {
      saves.push_back(&statement);
    } else if (!std::holds_alternative<ast::Binding>(statement.node) &&
               !std::holds_alternative<ast::Evaluate>(statement.node) &&
               !std::holds_alternative<ast::Print>(statement.node) &&
               !std::holds_alternative<ast::Assert>(statement.node)) {
      return {};
    }
  }
  return choice.branches.size() > 1 || choice.otherwise ? std::vector<const ast::Stmt*>() : saves;
}

}  // namespace

bool has_place_to_save(const Context& c, const ast::Block& body) {
  return std::ranges::any_of(body.statements, [&c](const ast::Stmt& statement) {
    const auto* choice = std::get_if<ast::If>(&statement.node);
    return is_save(statement) || (choice != nullptr && !lone_saves(c, *choice).empty());
  });
}

void run_saves(Context& c, const ast::If& choice) {
  for (const ast::Stmt* save : lone_saves(c, choice)) {
    run_checkpoint(c, std::get<ast::Checkpoint>(save->node), save->span);
  }
}

void run_checkpoint(Context& c, const ast::Checkpoint& checkpoint, SourceSpan span) {
  if (!c.units.at_top_level()) {
    c.report.error(DiagKind::kBadArgument, span,
                   "`" + std::string(word_of(checkpoint)) +
                       "` stands at top level, between the calls of functions; in a function "
                       "nothing has been computed yet");
    return;
  }
  if (checkpoint.restore) {
    run_restore(c, checkpoint);
  } else {
    run_save(c, checkpoint, span);
  }
}

}  // namespace mtf::host
