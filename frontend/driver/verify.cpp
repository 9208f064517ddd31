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

#include "frontend/driver/commands.h"
#include "frontend/driver/compare.h"
#include "frontend/driver/verify_promise.h"
#include "frontend/driver/workspace.h"
#include "frontend/parse.h"
#include "ir/support/columns.h"
#include "lowering/lower.h"
#include "stdlib/ops/ops.h"

namespace mtf {
namespace {

struct Result {
  std::optional<Trace> trace;  // absent: the errors in `message`
  std::string message;
  std::vector<Layout> declared;
  std::vector<Ending> endings;
};

Result run_under(Workspace& workspace, FileId file, const Layout& layout, bool exact) {
  DiagSink diags;
  Messages messages(workspace.sources);
  Trace trace;
  Result result;
  ExecuteDevice device(
      {.ops = op_table(),
       .exact = exact,
       .seed = workspace.options.seed,
       .max_memory = workspace.options.max_memory,
       .layout = layout,
       .print = [&](std::string_view line) { trace.lines.emplace_back(line); },
       .observe =
           [&](HostTensor tensor) {
             trace.seen.push_back({.tensor = std::move(tensor), .line = trace.lines.size() + 1});
           },
       .lowered =
           [&](const SpmdProgram& program) {
             std::ranges::copy(endings_of(program), std::back_inserter(result.endings));
           }},
      nullptr);
  std::optional<ast::File> tree = parse(file, workspace.sources, diags);
  if (tree) {
    Session session(elaborate_options(workspace.options), workspace.sources, device, diags);
    session.run(*std::move(tree));
    const bool named = !workspace.options.layout.empty() || !workspace.options.rules.empty();
    if (named && session.layout() != nullptr) {
      result.declared = {*session.layout()};
    } else {
      result.declared.assign(session.layouts().begin(), session.layouts().end());
    }
    if (diags.ok()) {
      trace.variables = device.variables();
      result.trace = std::move(trace);
    }
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
  Verifier(Workspace& workspace, FileId file) : workspace_(workspace), file_(file) {}

  Outcome run() {
    const Result one = run_under(workspace_, file_, one_rank(), /*exact=*/true);
    if (!one.trace) {
      return {.status = kProgramError, .message = one.message};
    }
    if (workspace_.options.fast) {
      compare(one, "one rank", one_rank());
    }
    for (const Layout& layout : one.declared) {
      compare(one, layout.name, layout);
    }
    if (one.declared.empty()) {
      rows_.push_back({"the program declares no layout"});
    }
    std::fputs(in_columns(rows_, {.indent = 0}).c_str(), stdout);
    if (workspace_.options.fast) {
      std::fputs("compared with the exact bits of one rank: --fast adds in any order\n", stdout);
    }
    return std::move(outcome_);
  }

 private:
  void compare(const Result& one, const std::string& name, const Layout& layout) {
    const Result many = run_under(workspace_, file_, layout, !workspace_.options.fast);
    if (!many.trace) {
      outcome_.status = kProgramError;
      outcome_.message += many.message;
      rows_.push_back({name, "does not fit"});
      return;
    }
    const std::optional<Difference> apart = difference(*one.trace, *many.trace);
    if (!apart) {
      rows_.push_back({name, "equal bits"});
      return;
    }
    const bool fast = workspace_.options.fast;
    const bool permitted = fast || !many.endings.empty();
    if (!permitted || !tolerated(*apart)) {
      outcome_.status = kProgramError;
    }
    rows_.push_back({name, verdict(*apart)});
    if (!fast) {
      rows_.push_back({"", reason(workspace_, many)});
    }
  }

  Workspace& workspace_;
  FileId file_;
  std::vector<Row> rows_;
  Outcome outcome_;
};

Outcome verify(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  return file ? Verifier(workspace, *file).run() : outcome_of(workspace, workspace.diags);
}

}  // namespace

int verify_command(const Options& options) {
  return run_alone(options, verify);
}

}  // namespace mtf
