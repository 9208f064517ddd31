// `mtf verify`: one rank is the truth, and every declared layout has to agree with it: to the bit
// where exact.md promises it, elsewhere within a tolerance, and then the reason is shown.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "frontend/driver/checked.h"
#include "frontend/driver/commands.h"
#include "frontend/driver/compare.h"
#include "frontend/driver/contracts.h"
#include "frontend/driver/verify_promise.h"
#include "frontend/parse.h"
#include "ir/support/columns.h"
#include "stdlib/ops/npy.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

struct Result {
  std::optional<Trace> trace;  // absent: the errors in `message`
  std::string refused;         // why it did not begin
  std::string message;
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
    if (value.op != nullptr && value.op->file == FileUse::kWrites && path != nullptr) {
      files[*path].type = program.at(value.operands.front()).type;
    }
  }
}

// As they are once the run is over.
void read_files(std::map<std::string, HostTensor>& files) {
  for (auto& [path, tensor] : files) {
    tensor.data.resize(static_cast<std::size_t>(tensor.type.bytes()));
    if (!NpyFile(path).read(0, tensor.data)) {
      tensor.data.clear();
    }
  }
}

// requires: nothing is refused.
void run_under(Workspace& workspace, FileId file, const std::string& layout, bool exact,
               Result& result, DiagSink& diags) {
  Trace trace;
  ExecuteDevice device(
      {.ops = op_table(),
       .exact = exact,
       .seed = workspace.options.seed,
       .max_memory = workspace.options.max_memory,
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
           }},
      nullptr);
  std::optional<ast::File> tree = parse(file, workspace.sources, diags);
  Session session(choosing(workspace.options, layout), workspace.sources, device, diags);
  session.run(*std::move(tree));
  if (diags.ok()) {
    trace.variables = device.variables();
    read_files(trace.files);
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
  result.message = render(messages.take(diags), workspace.sources, workspace.color);
  return result;
}

std::string short_number(double value) {
  std::array<char, 32> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.2g", value);
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string verdict(const Difference& difference) {
  if (difference.only_signs) {
    return "differs in signs of zero in " + difference.where;
  }
  if (std::isinf(difference.relative)) {
    return "differs in " + difference.where;
  }
  return "differs by " + short_number(difference.relative) + " relative, " +
         short_number(difference.absolute) + " absolute in " + difference.where + "; " +
         (tolerated(difference) ? "within " : "more than ") + short_number(difference.tolerance);
}

// Why the bits may differ without `--fast`, or that they may not.
std::string reason(const Workspace& workspace, const Result& run) {
  if (run.endings.empty()) {
    return "equal bits are promised here: a fault of mtf, please report it";
  }
  std::set<std::string> others;
  for (const Ending& ending : run.endings) {
    others.insert(ending.text);
  }
  const Ending& first = run.endings.front();
  return first.text + " (" + workspace.sources.short_place(first.span) + ")" +
         (others.size() > 1 ? " and " + std::to_string(others.size() - 1) + " more" : "");
}

class Verifier {
 public:
  Verifier(Workspace& workspace, FileId file, const Session& program)
      : workspace_(workspace), file_(file), program_(program) {}

  Outcome run() {
    const Result one = attempt(workspace_, file_, "", /*exact=*/true);
    if (!one.trace) {
      return {.status = kProgramError, .message = one.message};
    }
    if (workspace_.options.fast) {
      compare(one, "one rank", "");
    }
    for (const Layout& layout : program_.layouts()) {
      if (is_wanted(layout)) {
        compare(one, layout.name, layout.name);
      }
    }
    if (program_.layouts().empty()) {
      rows_.push_back({"the program declares no layout"});
    }
    std::fputs(in_columns(rows_, {.indent = 0}).c_str(), stdout);
    if (workspace_.options.fast) {
      std::fputs("compared with the exact bits of one rank: --fast adds in any order\n", stdout);
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
    const Result many = attempt(workspace_, file_, layout, !workspace_.options.fast);
    if (!many.trace) {
      refuse(title, many, !many.refused.empty() && program_.serves_regions_alone(layout));
      return;
    }
    const std::optional<Difference> apart = difference(*one.trace, *many.trace);
    if (!apart) {
      rows_.push_back({title, "equal bits"});
      return;
    }
    const bool fast = workspace_.options.fast;
    const bool permitted = fast || !many.endings.empty();
    if (!permitted || !tolerated(*apart)) {
      outcome_.status = kProgramError;
    }
    rows_.push_back({title, verdict(*apart)});
    if (!fast) {
      rows_.push_back({"", reason(workspace_, many)});
    }
  }

  void refuse(const std::string& title, const Result& run, bool serves_regions_alone) {
    if (serves_regions_alone) {
      rows_.push_back({title, run.refused + "; it serves regions alone"});
      return;
    }
    rows_.push_back({title, run.refused.empty() ? "fails" : run.refused});
    outcome_.status = kProgramError;
    outcome_.message += run.message;
  }

  Workspace& workspace_;
  FileId file_;
  const Session& program_;
  std::vector<Row> rows_;
  Outcome outcome_;
};

Outcome verify(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  const std::unique_ptr<CheckedProgram> program =
      file ? build_under(workspace, *file, "", workspace.diags) : nullptr;
  if (program == nullptr || !workspace.diags.ok() || !knows_layout(workspace, program->session)) {
    return outcome_of(workspace, workspace.diags);
  }
  return Verifier(workspace, *file, program->session).run();
}

}  // namespace

int verify_command(const Options& options) {
  return run_alone(options, verify);
}

}  // namespace mtf
