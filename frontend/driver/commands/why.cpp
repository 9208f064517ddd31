// `mtf why`: where the layout of a value came from, why a collective is there and what else there
// would be, and what fills the memory. Nothing is executed.

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/entry_names.h"
#include "frontend/report/quantity.h"
#include "frontend/report/why/why_find.h"
#include "frontend/report/why/why_json.h"
#include "frontend/report/why/why_text.h"
#include "lowering/lower.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr std::size_t kShownNames = 40;

// "train_step under both on grid[rows: 2, cols: 2]"
std::string why_title(const SpmdProgram& program) {
  if (program.mesh.axes.empty()) {
    return program.source.name + " on one rank";
  }
  return program.source.name + " under " + program.layout + " on " + to_string(program.mesh);
}

class Question {
 public:
  Question(Workspace& workspace, FileId file, CheckedProgram& program)
      : workspace_(workspace), file_(file), program_(program) {}

  void run() {
    const std::vector<std::string> entries = chosen_entries(workspace_, program_.session);
    for (const UnderLayout& under : in_use(program_)) {
      ask(entries, under.layout, *under.program);
    }
    if (program_.session.layout() == nullptr) {
      ask_under_each(entries);
    }
    const bool fits_nowhere = names_.empty() && !text_.empty();
    if (!known_ && !fits_nowhere && !entries.empty() && workspace_.diags.ok()) {
      unknown(entries);
      return;
    }
    if (workspace_.options.json) {
      workspace_.answers.push_back(answers_json(answers_));
    }
    say(workspace_, text_);  // under `--json`, of the layouts that do not fit
  }

 private:
  void ask_under_each(const std::vector<std::string>& entries) {
    for (const Layout& layout : program_.session.layouts_to_choose()) {
      DiagSink unfit;
      const auto built = build_under(workspace_, file_, layout.name, unfit);
      if (unfit.ok()) {
        ask(entries, layout, *built);
      } else {
        does_not_fit("the program", layout);
      }
    }
  }

  void ask(const std::vector<std::string>& entries, const Layout& layout, CheckedProgram& built) {
    for (const std::string& entry : entries) {
      ask(entry, layout, built);
    }
  }

  void does_not_fit(const std::string& what, const Layout& layout) {
    text_ += (text_.empty() ? "" : "\n") + what + " under " + layout.name +
             ": the layout does not fit; " +
             (program_.session.serves_regions_alone(layout.name) ? "it serves regions alone\n"
                                                                 : "`mtf check` says why\n");
  }

  void ask(const std::string& entry, const Layout& layout, CheckedProgram& built) {
    const Unit* unit = built.session.build(entry);
    DiagSink found;
    const std::optional<SpmdProgram> spmd =
        unit == nullptr ? std::nullopt
                        : lower_simplified(unit->program, layout, op_table(), found,
                                           {.exact = !workspace_.options.fast,
                                            .held = &built.device.held_before(*unit, layout)});
    if (!spmd) {
      if (program_.session.layout() == nullptr) {
        does_not_fit(entry, layout);
      }
      return;
    }
    const ValueNames names(*spmd);
    const Asked asked = find_asked(*spmd, workspace_.sources, names, workspace_.options.value);
    remember(askable(*spmd, names), names_);
    remember(askable_paths(*spmd), paths_);
    known_ = known_ || asked.known;
    missing_axis_ = asked.missing_axis;
    if (!asked.known) {
      return;
    }
    if (workspace_.options.json) {
      answers_.push_back(why_json(*spmd, workspace_.sources, layout, asked));
    } else {
      text_ += (text_.empty() ? "" : "\n") + answer(*spmd, layout, names, asked);
    }
  }

  static void remember(const std::vector<std::string>& names, std::vector<std::string>& all) {
    for (const std::string& name : names) {
      if (std::ranges::find(all, name) == all.end()) {
        all.push_back(name);
      }
    }
  }

  // More than a message can show.
  [[nodiscard]] std::vector<std::string> names_and_paths() const {
    std::vector<std::string> all = names_;
    remember(paths_, all);
    return all;
  }

  [[nodiscard]] std::string answer(const SpmdProgram& spmd, const Layout& layout,
                                   const ValueNames& names, const Asked& asked) const {
    std::string text = why_title(spmd) + "\n";
    const Tracer tracer(spmd);
    const RuleSources rule_sources(spmd.source, layout);
    for (const ValueId id : asked.values) {
      text += "\n" + why_text(spmd, workspace_.sources, names,
                              why_value(spmd, tracer, layout, rule_sources, id));
    }
    for (const std::size_t step : asked.steps) {
      text += "\n" +
              why_text(spmd, workspace_.sources, names, why_collective(spmd, tracer, step, &names));
    }
    if (asked.memory) {
      text += "\n" + peak_text(spmd, workspace_.sources, names, peak_of(spmd));
    }
    return asked.empty() ? text + "\n  there is none\n" : text;
  }

  // Of which what was asked for is the last part: "wq" of "net/layer_0/wq".
  [[nodiscard]] std::vector<std::string> names_ending() const {
    std::vector<std::string> names = names_and_paths();
    std::erase_if(names, [ending = "/" + workspace_.options.value](const std::string& name) {
      return !name.ends_with(ending);
    });
    return names;
  }

  [[nodiscard]] static std::string shown(const std::vector<std::string>& names) {
    std::string list;
    for (std::size_t i = 0; i < names.size() && i < kShownNames; ++i) {
      list += (list.empty() ? "" : ", ") + names[i];
    }
    return list + (names.size() > kShownNames ? ", …" : "");
  }

  void unknown_axis() {
    std::vector<std::string> axes;
    for (const Mesh& mesh : program_.session.meshes()) {
      std::ranges::move(names_of(mesh.axes), std::back_inserter(axes));
    }
    workspace_.diags.error(
        DiagKind::kUnknownAxis, {},
        "no mesh has an axis `" + missing_axis_ + "`" + did_you_mean(missing_axis_, axes));
  }

  void unknown(const std::vector<std::string>& entries) {
    if (!missing_axis_.empty()) {
      unknown_axis();
      return;
    }
    const std::string& question = workspace_.options.value;
    const std::vector<std::string> ending = names_ending();
    const std::string list = shown(ending.empty() ? names_ : ending);
    const std::string meant = ending.empty() ? did_you_mean(question, names_and_paths())
                              : ending.size() == 1
                                  ? "; did you mean `" + ending.front() + "`?"
                                  : "; did you mean one of the " + count_text(std::ssize(ending)) +
                                        " that end in it, or `*/" + question +
                                        "`, which is all of them?";
    const bool line = question.find(':') != std::string::npos;
    std::string where;
    for (const std::string& entry : entries) {
      where += (where.empty() ? "`" : ", `") + entry + "`";
    }
    std::string kinds;
    for (const std::string_view kind : kCollectiveKinds) {
      kinds += std::string(kind) + ", ";
    }
    workspace_.diags.error(
        DiagKind::kUnknownName, {},
        line ? "nothing of " + where + " is computed at `" + question + "`"
             : "no value of " + where + " is called `" + question + "`" + meant,
        {{.span = {}, .text = "there is " + (list.empty() ? "no named value" : list)},
         {.span = {},
          .text =
              "and `%…` of `mtf plan`, a line as `:18`, `collectives`, " + kinds + "`memory`"}});
  }

  Workspace& workspace_;
  FileId file_;
  CheckedProgram& program_;
  bool known_ = false;
  std::string missing_axis_;
  std::vector<std::string> names_;
  std::vector<std::string> paths_;  // of `let`s
  std::vector<std::string> answers_;
  std::string text_;
};

}  // namespace

Outcome why_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  const std::unique_ptr<CheckedProgram> program = file ? check_program(workspace, *file) : nullptr;
  if (program != nullptr && workspace.diags.ok()) {
    Question(workspace, *file, *program).run();
  }
  return outcome_of(workspace, workspace.diags);
}

int why_command(const Options& options) {
  return run_alone(options, why_outcome);
}

}  // namespace mtf
