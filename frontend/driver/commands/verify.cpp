// `mtf verify`: one rank is the truth, and every declared layout has to agree with it: to the bit
// where runtime/EXACT.md promises it, elsewhere within a tolerance, and then the reason is shown.

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/driver/commands.h"
#include "frontend/driver/commands/compare.h"
#include "frontend/driver/commands/verify_rows.h"
#include "frontend/driver/commands/verify_run.h"
#include "frontend/driver/devices/checked.h"
#include "frontend/driver/progress.h"
#include "frontend/elaborate/layouts/layouts.h"
#include "runtime/ranks/interruption.h"

namespace mtf {
namespace {

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
    const bool again = workspace_.options.fast || is_of_one_rank();
    const std::int64_t runs = 1 + layouts + (again ? 1 : 0);
    std::int64_t done = 0;
    progress_at("run", done, runs);
    const VerifyResult one = run_to_verify(workspace_, file_, {.layout = ""});
    if (!one.trace) {
      tell(one);
      outcome_.status = kProgramError;
      return std::move(outcome_);
    }
    if (again) {
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
  // `--layout none`, of which a second run must be equal.
  [[nodiscard]] bool is_of_one_rank() const {
    return workspace_.options.layout == host::kOneRank &&
           std::ranges::none_of(program_.layouts(),
                                [](const Layout& layout) { return layout.name == host::kOneRank; });
  }

  [[nodiscard]] bool is_wanted(const Layout& layout) const {
    const Options& options = workspace_.options;
    const std::string wanted =
        options.layout.empty() && !options.rules.empty() ? "rules" : options.layout;
    return wanted.empty() || layout.name == wanted;
  }

  void compare(const VerifyResult& one, const std::string& title, const std::string& layout) {
    const bool fast = workspace_.options.fast;
    const VerifyResult many = run_to_verify(
        workspace_, file_, {.layout = layout, .exact = !fast, .kept = one.trace->bytes() + kept_});
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
      row.is_promised = !fast && many.endings.empty();
      row.apart = apart(*one.trace, *many.trace, row.is_promised);
      row.ok = !row.apart || (!row.is_promised && tolerated(*row.apart));
      row.endings = fast ? std::vector<std::string>() : reasons(nearest_first(*one.trace, many));
    }
    outcome_.status = row.ok ? outcome_.status : kProgramError;
    rows_.push_back(std::move(row));
  }

  std::optional<Difference> apart(const Trace& one, const Trace& many, bool is_promised) {
    std::optional<Difference> found = difference(one, many);
    const bool is_large = found && !is_promised && !tolerated(*found);
    return is_large ? difference(one, many, rounded(one.bytes() + many.bytes())) : found;
  }

  // Only where it is asked for, since it takes some more runs.
  std::span<const Trace> rounded(std::int64_t kept) {
    if (!rounded_) {
      rounded_ = rounded_runs(workspace_, file_, kept);
      for (const Trace& trace : *rounded_) {
        kept_ += trace.bytes();
      }
    }
    return *rounded_;
  }

  // Those of what differs first go before those of other statements, which may be without effect.
  [[nodiscard]] static std::vector<Ending> nearest_first(const Trace& one,
                                                         const VerifyResult& many) {
    std::vector<Ending> endings = many.endings;
    const Trace::Observed* first = first_apart(one, *many.trace);
    if (first != nullptr && !endings.empty()) {
      const std::size_t nearest = std::min(first->endings, endings.size() - 1);
      std::rotate(endings.begin(), endings.begin() + static_cast<std::ptrdiff_t>(nearest),
                  endings.end());
    }
    return endings;
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
  void tell(const VerifyResult& run) {
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
  std::optional<std::vector<Trace>> rounded_;
  std::int64_t kept_ = 0;  // bytes of these
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
