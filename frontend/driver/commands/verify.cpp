// `mtf verify`: one rank is the truth, and every declared layout has to agree with it: to the bit
// where runtime/EXACT.md promises it, elsewhere within a tolerance, and then the reason is shown.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/commands/compare.h"
#include "frontend/driver/commands/verify_rows.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/devices/contracts.h"
#include "frontend/driver/progress.h"
#include "frontend/parse/parse.h"
#include "frontend/report/lint/promise.h"
#include "ir/support/file.h"
#include "ir/support/number.h"
#include "runtime/ranks/interruption.h"
#include "stdlib/ops/source/npy.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

struct Result {
  std::optional<Trace> trace;  // absent: the errors in `told`
  std::string refused;         // why it did not begin
  std::vector<Diag> told;
  std::vector<Ending> endings;
};

// Why `mtf run` would not begin; "" if it would.
std::string refusal(Workspace& workspace, FileId file, const std::string& layout, DiagSink& diags) {
  const std::unique_ptr<CheckedProgram> program = check_under(workspace, file, layout, diags);
  if (!diags.ok()) {
    return "does not fit";
  }
  check_contracts(workspace, *program, in_use(*program), diags);
  return diags.ok() ? "" : "does not keep an `expect`";
}

// What a program writes, by path.
void note_files(const Program& program, std::map<std::string, HostTensor>& files) {
  for (const Value& value : program.values) {
    const auto* path = value.args.get<std::string>("path");
    if (value.op != nullptr && value.op->file == FileUse::kWrites && path != nullptr &&
        !value.operands.empty()) {
      files[*path].type = program.at(value.operands.front()).type;
    }
  }
}

// Files that a run adds lines to, for which `size` is what it finds. Each is put back as it was, so
// that every layout begins with the same, and the user's are as they were: whatever ends the run.
class AppendedFiles {
 public:
  AppendedFiles() = default;
  ~AppendedFiles() {
    DiagSink unheard;
    restore(unheard);
  }
  AppendedFiles(const AppendedFiles&) = delete;
  AppendedFiles& operator=(const AppendedFiles&) = delete;
  AppendedFiles(AppendedFiles&&) = delete;
  AppendedFiles& operator=(AppendedFiles&&) = delete;

  // Before the program runs.
  void note(const Program& program) {
    for (const Value& value : program.values) {
      const auto* path = value.args.get<std::string>("path");
      if (value.op == nullptr || value.op->file != FileUse::kWrites || path == nullptr ||
          !value.operands.empty() || sizes_.contains(*path)) {
        continue;
      }
      std::error_code error;
      const std::uintmax_t size = std::filesystem::file_size(*path, error);
      const bool is_new = error == std::errc::no_such_file_or_directory;
      if (!error || is_new) {  // to any other the run will add nothing
        sizes_.emplace(*path, is_new ? std::nullopt : std::optional(size));
      }
    }
  }

  // Which of them cannot be put back is an error.
  void restore(DiagSink& diags) {
    for (const auto& [path, size] : std::exchange(sizes_, {})) {
      std::error_code error;
      if (!size) {
        std::filesystem::remove(path, error);
      } else if (std::filesystem::file_size(path, error) != *size) {
        std::filesystem::resize_file(path, *size, error);
      }
      if (error) {
        diags.error(DiagKind::kFile, {},
                    in_backticks(path) +
                        " has lines of this run and cannot be put back as it was, " +
                        (size ? plural(*size, "byte") : "not there") + ": " + error.message());
      }
    }
  }

  // What was added.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const auto& [path, size] : sizes_) {
      std::ifstream file(path);
      file.seekg(static_cast<std::streamoff>(size.value_or(0)));
      for (std::string line; std::getline(file, line);) {
        lines.push_back(path + ": " + line);
      }
    }
    return lines;
  }

 private:
  std::map<std::string, std::optional<std::uintmax_t>> sizes_;
};

// As they are once the run is over.
void read_files(std::map<std::string, HostTensor>& files) {
  for (auto& [path, tensor] : files) {
    tensor.data.resize(static_cast<std::size_t>(tensor.type.bytes()));
    if (!NpyFile(path).read(0, tensor.data).empty()) {
      tensor.data.clear();
    }
  }
}

// requires: nothing is refused.
void run_under(Workspace& workspace, FileId file, const std::string& layout, bool exact,
               Result& result, DiagSink& diags) {
  Trace trace;
  AppendedFiles appended;
  // Where its checkpoints go instead: each layout begins without those of the others, and those of
  // the user stay.
  const TemporaryFolder checkpoints("mtf_verify_");
  if (!checkpoints.is_made()) {
    throw Failure{{.kind = DiagKind::kFile,
                   .text = "no folder can be made in " + in_backticks(checkpoints.path())}};
  }
  Interruption deadline(workspace.options.deadline);
  ExecuteDevice device(
      {.ops = op_table(),
       .exact = exact,
       .seed = workspace.options.seed,
       .max_memory = workspace.options.max_memory,
       .check_plan = plans_are_to_be_checked(),
       .print = [&](std::string_view line) { trace.lines.emplace_back(line); },
       .observe =
           [&](HostTensor tensor) {
             trace.seen.push_back({.tensor = std::move(tensor), .line = trace.lines.size() + 1});
           },
       .observe_result =
           [&](std::string_view entry, HostTensor tensor) {
             trace.results.emplace_back(entry, std::move(tensor));
           },
       .lowered =
           [&](const SpmdProgram& program) {
             std::ranges::copy(endings_of(program), std::back_inserter(result.endings));
             note_files(program.source, trace.files);
             appended.note(program.source);
           },
       .interruption = &deadline,
       .checkpoints = checkpoints.path()},
      nullptr);
  std::optional<ast::File> tree = parse_program(workspace, file, diags);
  ElaborateOptions host = choosing(workspace.options, layout);
  host.before_statement = throw_if_interrupted;
  Session session(std::move(host), workspace.sources, device, diags);
  session.run(*std::move(tree));
  const std::vector<std::string> added = appended.lines();
  appended.restore(diags);
  if (diags.ok()) {
    trace.variables = device.variables();
    read_files(trace.files);
    std::ranges::copy(added, std::back_inserter(trace.lines));
    result.trace = std::move(trace);
  }
}

// `layout`: its name; "" for one rank.
Result attempt(Workspace& workspace, FileId file, const std::string& layout, bool exact) {
  DiagSink diags;
  Messages messages(workspace.sources);
  Result result;
  if (const std::string why = refusal(workspace, file, layout, diags); !why.empty()) {
    result.refused = why;
  } else {
    run_under(workspace, file, layout, exact, result, diags);
  }
  result.told = messages.take(diags);
  return result;
}

constexpr const char* kNothingCompared =
    "nothing was there to compare: the program computes nothing at top level; call an entry "
    "there\n";

class Verifier {
 public:
  Verifier(Workspace& workspace, FileId file, const Session& program)
      : workspace_(workspace), file_(file), program_(program), messages_(workspace.sources) {}

  Outcome run() {
    const auto layouts = std::ranges::count_if(
        program_.layouts(), [this](const Layout& layout) { return is_wanted(layout); });
    const std::int64_t runs = 1 + layouts + (workspace_.options.fast ? 1 : 0);
    std::int64_t done = 0;
    progress_at("run", done, runs);
    const Result one = attempt(workspace_, file_, "", /*exact=*/true);
    if (!one.trace) {
      tell(one);
      outcome_.status = kProgramError;
      return std::move(outcome_);
    }
    if (workspace_.options.fast) {
      progress_at("run", ++done, runs);
      compare(one, "one rank", "");
    }
    for (const Layout& layout : program_.layouts()) {
      if (is_wanted(layout)) {
        progress_at("run", ++done, runs);
        compare(one, layout.name, layout.name);
      }
    }
    if (workspace_.options.json) {
      workspace_.answers.push_back(verify_json(rows_));
    } else {
      say(workspace_, verify_text(rows_, workspace_.options.fast) +
                          (one.trace->is_empty() ? kNothingCompared : ""));
    }
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] bool is_wanted(const Layout& layout) const {
    const Options& options = workspace_.options;
    const std::string wanted =
        options.layout.empty() && !options.rules.empty() ? "rules" : options.layout;
    return wanted.empty() || layout.name == wanted;
  }

  void compare(const Result& one, const std::string& title, const std::string& layout) {
    const bool fast = workspace_.options.fast;
    const Result many = attempt(workspace_, file_, layout, !fast);
    VerifyRow row{.layout = title, .refused = "", .apart = std::nullopt, .endings = {}};
    if (!many.trace) {
      row.refused = many.refused.empty() ? "fails" : many.refused;
      row.ok = !many.refused.empty() && program_.serves_regions_alone(layout);
      row.is_promised = false;
      row.refused += row.ok ? "; it serves regions alone" : "";
      if (!row.ok) {
        tell(many);
      }
    } else {
      row.apart = difference(*one.trace, *many.trace);
      row.is_promised = !fast && many.endings.empty();
      row.ok = !row.apart || (!row.is_promised && tolerated(*row.apart));
      row.endings = fast ? std::vector<std::string>() : reasons(many.endings);
    }
    outcome_.status = row.ok ? outcome_.status : kProgramError;
    rows_.push_back(std::move(row));
  }

  // What ended the promise of equal bits: the first with its place, each once.
  [[nodiscard]] std::vector<std::string> reasons(const std::vector<Ending>& endings) const {
    std::set<std::string> seen;
    std::vector<std::string> texts;
    for (const Ending& ending : endings) {
      if (seen.insert(ending.text).second) {
        texts.push_back(ending.text + " (" + workspace_.sources.short_place(ending.span) + ")");
      }
    }
    return texts;
  }

  // Of errors the notes say which layout they are of; warnings are told once.
  void tell(const Result& run) {
    std::vector<Diag> told = run.told;
    std::erase_if(told, [this](const Diag& diag) {
      return diag.severity != Severity::kError && messages_.take({&diag, 1}).empty();
    });
    outcome_.message += render(told, workspace_.sources, workspace_.color);
    workspace_.told.insert(workspace_.told.end(), told.begin(), told.end());
  }

  Workspace& workspace_;
  FileId file_;
  const Session& program_;
  Messages messages_;
  std::vector<VerifyRow> rows_;
  Outcome outcome_;
};

}  // namespace

Outcome verify_outcome(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  const std::unique_ptr<CheckedProgram> program =
      file ? build_under(workspace, *file, "", workspace.diags) : nullptr;
  if (program == nullptr || !workspace.diags.ok() || !knows_layout(workspace, program->session)) {
    return outcome_of(workspace, workspace.diags);
  }
  return Verifier(workspace, *file, program->session).run();
}

int verify_command(const Options& options) {
  return run_alone(options, [](Workspace& workspace) -> Outcome {
    note_interruptions();  // ended at once, it would leave its temporary folder
    try {
      return verify_outcome(workspace);
    } catch (const Interrupted& stop) {
      Outcome outcome = outcome_of(workspace, workspace.diags);
      say_interrupted(workspace, stop, "", outcome);
      return outcome;
    }
  });
}

}  // namespace mtf
