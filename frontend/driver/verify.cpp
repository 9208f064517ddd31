// `mtf verify`: one rank is the truth, and every declared layout has to agree with it.

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/compare.h"
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
};

Result run_under(Workspace& workspace, FileId file, const Layout& layout) {
  DiagSink diags;
  Messages messages(workspace.sources);
  Trace trace;
  ExecuteDevice device(
      {.ops = op_table(),
       .exact = !workspace.options.fast,
       .seed = workspace.options.seed,
       .max_memory = workspace.options.max_memory,
       .layout = layout,
       .print = [&](std::string_view line) { trace.lines.emplace_back(line); },
       .observe =
           [&](HostTensor tensor) {
             trace.seen.push_back({.tensor = std::move(tensor), .line = trace.lines.size() + 1});
           }},
      nullptr);
  std::optional<ast::File> tree = parse(file, workspace.sources, diags);
  Result result;
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
  const bool tolerated = difference.relative <= difference.tolerance;
  return "differs by " + short_number(difference.relative) + " relative, " +
         short_number(difference.absolute) + " absolute in " + difference.where + "; " +
         (tolerated ? "within " : "more than ") + short_number(difference.tolerance);
}

Outcome verify(Workspace& workspace) {
  const std::optional<FileId> file = read_program(workspace);
  if (!file) {
    return outcome_of(workspace, workspace.diags);
  }
  const Result one = run_under(workspace, *file, one_rank());
  if (!one.trace) {
    return {.status = kProgramError, .message = one.message};
  }
  Outcome outcome;
  std::vector<Row> rows;
  for (const Layout& layout : one.declared) {
    const Result many = run_under(workspace, *file, layout);
    if (!many.trace) {
      outcome.status = kProgramError;
      outcome.message += many.message;
      rows.push_back({layout.name, "does not fit"});
      continue;
    }
    const std::optional<Difference> apart = difference(*one.trace, *many.trace);
    if (apart && !(apart->relative <= apart->tolerance)) {
      outcome.status = kProgramError;
    }
    rows.push_back({layout.name, apart ? verdict(*apart) : "equal bits"});
  }
  if (rows.empty()) {
    rows.push_back({"the program declares no layout"});
  }
  std::fputs(in_columns(rows, {.indent = 0}).c_str(), stdout);
  return outcome;
}

}  // namespace

int verify_command(const Options& options) {
  return run_alone(options, verify);
}

}  // namespace mtf
