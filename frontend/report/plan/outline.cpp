// The text of a plan: its lines in columns, those of repeated blocks once, and fewer of them where
// they would be too many to read.

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "frontend/report/plan/brief.h"
#include "frontend/report/plan/fold.h"
#include "frontend/report/quantity.h"
#include "ir/support/columns.h"
#include "ir/support/diag.h"
#include "ir/support/utf8.h"

namespace mtf {
namespace {

constexpr std::size_t kMostOperations = 5;
constexpr std::string_view kBar = "│";

constexpr std::string_view kCollectives = "collectives";
constexpr std::string_view kKernels = "kernels";

// The name of a line, or of an input its path.
std::string path_of(const PlanLine& line) {
  const std::size_t blank = line.op.find(' ');
  return line.kind == LineKind::kInput && blank != std::string::npos ? line.op.substr(blank + 1)
                                                                     : line.name;
}

bool is_wanted(const SpmdProgram& program, const PlanLine& line, const std::string& only) {
  const bool is_step = line.kind == LineKind::kStep;
  const bool is_kernel = is_step && program.steps[line.step].kind == StepKind::kKernel;
  if (only == kCollectives) {
    return is_step && is_collective(program.steps[line.step].kind);
  }
  if (only == kKernels) {
    return is_kernel;
  }
  const VariableRules glob{.glob = only, .rules = {}, .span = {}};
  return only.empty() || glob.names(line.name) || glob.names(path_of(line));
}

// Lines that are longer end in "…".
std::string cut(std::string_view text, std::size_t width) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    result += shortened(text.substr(0, end), width) + "\n";
    text.remove_prefix(end + 1);
  }
  return result;
}

class Outline {
 public:
  Outline(const SpmdProgram& program, const SourceMap& sources, std::int64_t rank,
          const PlanView& view)
      : program_(program), view_(view) {
    if (!(view.only.empty() && !view.unfolded && fold_brief(brief_plan(program, sources, rank)))) {
      fold(plan_lines(program, sources, rank));
    }
  }

  std::string text(int depth) {
    rows_.clear();
    depth_ = depth;
    joined_ = false;
    add(parts_, "");
    if (rows_.empty() && !view_.only.empty()) {
      return "  nothing in it is `" + view_.only + "`\n";
    }
    return view_.width == 0 ? in_columns(rows_) : fitted();
  }

  [[nodiscard]] bool repeats() const {
    return std::ranges::any_of(parts_, [](const PlanPart& part) { return part.times > 1; });
  }

  // How to see what the last text leaves out.
  [[nodiscard]] std::string hint() const {
    std::string text;
    if (joined_) {
      text = "`--depth " + std::to_string(PlanView::kAllSteps) + "` shows every step";
    }
    if (repeats()) {
      text +=
          (text.empty() ? "" : ", ") + std::string("`--all` each block as often as it is there");
    }
    return text.empty() ? "" : "\n" + text + "\n";
  }

 private:
  void fold(std::vector<PlanLine> plan) {
    const std::vector<PlanLine> others = keep_shown(std::move(plan));
    if (view_.unfolded) {
      for (std::size_t i = 0; i < lines_.size(); ++i) {
        parts_.push_back({.begin = i, .end = i + 1, .times = 1, .names = {}, .parts = {}});
      }
      return;
    }
    std::vector<PlanName> names = names_in(lines_);
    std::ranges::copy(names_in(others), std::back_inserter(names));
    parts_ = folded(lines_, names);
  }

  // False: what was left out is of no block.
  bool fold_brief(BriefPlan plan) {
    const std::vector<PlanLine> others = keep_shown(std::move(plan.lines));
    std::vector<PlanName> names = names_in(lines_);
    std::ranges::copy(names_in(others), std::back_inserter(names));
    for (const BriefPlan::Read& read : plan.read) {
      names.push_back({.text = read.name, .is_input = read.is_input});
    }
    parts_ = folded(lines_, names, plan.cuts);
    return add_cuts(plan.cuts, parts_);
  }

  // Returns those that are not shown.
  std::vector<PlanLine> keep_shown(std::vector<PlanLine> plan) {
    const auto others =
        std::stable_partition(plan.begin(), plan.end(), [this](const PlanLine& line) {
          return !line.aside && is_wanted(program_, line, view_.only);
        });
    std::vector<PlanLine> rest(std::make_move_iterator(others),
                               std::make_move_iterator(plan.end()));
    plan.erase(others, plan.end());
    lines_ = std::move(plan);
    return rest;
  }

  void add(const std::vector<PlanPart>& parts, const std::string& margin) {
    std::vector<std::size_t> between;  // lines that may be joined
    for (const PlanPart& part : parts) {
      const PlanLine& line = lines_[part.begin];
      if (part.times == 1 && may_join(line, margin.empty())) {
        between.push_back(part.begin);
        continue;
      }
      add_joined(between, margin);
      if (part.times > 1) {
        add_block(part, margin);
      } else {
        add_line(line, margin);
      }
    }
    add_joined(between, margin);
  }

  [[nodiscard]] bool may_join(const PlanLine& line, bool outside) const {
    if (depth_ == PlanView::kAllSteps || line.kind == LineKind::kReturn) {
      return false;
    }
    if (outside && depth_ < PlanView::kMain) {
      return true;
    }
    return line.kind == LineKind::kUpdate || (line.kind == LineKind::kStep && !line.is_main);
  }

  void add_block(const PlanPart& block, const std::string& margin) {
    rows_.push_back({margin + std::to_string(block.times) + " times" +
                     (block.names.empty() ? "" : ": " + block.names)});
    if (depth_ > PlanView::kBlocks) {
      add(block.parts, margin + std::string(kBar));
      return;
    }
    std::vector<std::size_t> all;
    for (std::size_t i = block.begin; i < block.end; ++i) {
      all.push_back(i);
    }
    add_joined(all, margin + std::string(kBar));
  }

  void add_line(const PlanLine& line, const std::string& margin) {
    const bool is_whole = depth_ == PlanView::kAllSteps || line.kind == LineKind::kInput;
    rows_.push_back({margin, line.name, line.type, line.partial,
                     std::string(2 * line.loops, ' ') + line.op, line.amount,
                     is_whole ? line.why : ""});
  }

  // Several lines on one.
  void add_joined(std::vector<std::size_t>& between, const std::string& margin) {
    const bool is_one_step = std::ranges::all_of(between, [&](std::size_t i) {
      return lines_[i].kind == LineKind::kStep && lines_[i].step == lines_[between.front()].step;
    });
    if (between.size() == 1 || is_one_step) {
      for (const std::size_t i : between) {
        add_line(lines_[i], margin);
      }
    } else if (!between.empty()) {
      joined_ = true;
      const auto [what, amount] = sum_of(between);
      rows_.push_back({margin, "…", "", "", what, amount, ""});
    }
    between.clear();
  }

  struct Sum {
    std::string what;  // "4 steps: square, sum, rsqrt"
    std::string amount;
  };

  [[nodiscard]] Sum sum_of(const std::vector<std::size_t>& lines) const {
    std::set<std::size_t> steps;
    std::int64_t inputs = 0;
    std::int64_t updates = 0;
    for (const std::size_t i : lines) {
      inputs += lines_[i].kind == LineKind::kInput ? 1 : 0;
      updates += lines_[i].kind == LineKind::kUpdate ? 1 : 0;
      if (lines_[i].kind == LineKind::kStep) {
        steps.insert(lines_[i].step);
      }
    }
    std::vector<std::string> counts;
    if (inputs > 0) {
      counts.push_back(count_text(inputs, "input"));
    }
    if (!steps.empty()) {
      const auto count = static_cast<std::int64_t>(steps.size());
      counts.push_back(count_text(count, "step") + ": " + operations_in(steps));
    }
    if (updates > 0) {
      counts.push_back(count_text(updates, "update"));
    }
    double flops = 0;
    std::int64_t bytes = 0;
    for (const std::size_t step : steps) {
      flops += program_.steps[step].flops;
      bytes += program_.steps[step].bytes;
    }
    std::string amount = flops_text(flops);
    if (bytes > 0) {
      amount += (amount.empty() ? "" : ", ") + bytes_text(bytes);
    }
    return {.what = joined(counts, ", "), .amount = std::move(amount)};
  }

  [[nodiscard]] std::string operations_in(const std::set<std::size_t>& steps) const {
    std::vector<std::string> names;
    const auto add_name = [&names](std::string_view name) {
      if (std::ranges::find(names, name) == names.end()) {
        names.emplace_back(name);
      }
    };
    for (const std::size_t i : steps) {
      const Step& step = program_.steps[i];
      if (step.kind != StepKind::kKernel) {
        add_name(to_string(step.kind));
      }
      for (const LocalCall& call : step.calls) {
        if (!call.operands.empty()) {
          add_name(call.op().name);
        }
      }
    }
    const bool is_long = names.size() > kMostOperations;
    names.resize(std::min(names.size(), kMostOperations));
    return joined(names, ", ") + (is_long ? ", …" : "");
  }

  // In the columns of a terminal. Where they are too few for all, what is done comes before the
  // types.
  [[nodiscard]] std::string fitted() const {
    std::string reasons_below = in_columns(rows_, {.width = view_.width});
    if (fits(reasons_below)) {
      return reasons_below;
    }
    constexpr std::size_t kOp = 4;
    constexpr std::size_t kAmount = 5;
    std::vector<Row> rows = rows_;
    for (Row& row : rows) {
      if (row.size() > kAmount) {
        std::rotate(row.begin() + 2, row.begin() + kOp, row.begin() + kAmount + 1);
      }
    }
    return in_columns(rows, {.widest = view_.width / 2, .width = std::string::npos});
  }

  [[nodiscard]] bool fits(std::string_view text) const {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (display_width(text.substr(0, end)) > view_.width) {
        return false;
      }
      text.remove_prefix(end + 1);
    }
    return true;
  }

  const SpmdProgram& program_;
  const PlanView& view_;
  std::vector<PlanLine> lines_;
  std::vector<PlanPart> parts_;
  std::vector<Row> rows_;
  int depth_ = PlanView::kAllSteps;
  bool joined_ = false;  // whether the rows have several lines on one
};

}  // namespace

std::vector<std::string> other_globs(const SpmdProgram& program, const SourceMap& sources,
                                     const std::string& only) {
  std::set<std::string> globs = {std::string(kCollectives), std::string(kKernels)};
  if (only.empty() || globs.contains(only)) {
    return {};
  }
  for (const PlanLine& line : plan_lines(program, sources, /*rank=*/0)) {
    if (!line.aside && is_wanted(program, line, only)) {
      return {};
    }
    const std::string path = path_of(line);
    globs.insert(path);
    for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
      globs.insert(path.substr(0, at + 1) + "*");
    }
  }
  return {globs.begin(), globs.end()};
}

namespace {

// Whether slices of some tensor are not all of one size: what is told is then of the longest.
bool has_short_slices(const SpmdProgram& program) {
  return program.mesh.uneven &&
         std::ranges::any_of(program.values, [&program](const SpmdValue& value) {
           const std::vector<Axes>& split = value.layout->dims;
           for (std::size_t d = 0; d < split.size(); ++d) {
             if (value.type.shape[d].size % program.mesh.size_of(split[d]) != 0) {
               return true;
             }
           }
           return false;
         });
}

}  // namespace

std::string pseudo_code(const SpmdProgram& program, const SourceMap& sources, std::int64_t rank,
                        const PlanView& view) {
  Outline outline(program, sources, rank, view);
  const std::string title = plan_title(program, rank);
  const std::string of_whom =
      has_short_slices(program)
          ? "per rank at most: of a dim that does not divide, later ranks have less"
          : "per rank";
  const auto whole = [&](int depth) {
    std::string text = view.width == 0 ? title + "\n"
                                       : in_columns(std::vector<Row>{Row{title}},
                                                    {.indent = 0, .width = view.width});
    text += "\n" + outline.text(depth) + "\n" + of_whom + "\n" +
            totals_text(program.totals, program.mesh) + outline.hint();
    return view.width == 0 ? text : cut(text, view.width);
  };
  int depth = view.depth.value_or(PlanView::kAllSteps);
  std::string text = whole(depth);
  while (!view.depth && outline.repeats() && depth > PlanView::kBlocks &&
         static_cast<std::size_t>(std::ranges::count(text, '\n')) > PlanView::kMostLines) {
    text = whole(--depth);
  }
  return text;
}

}  // namespace mtf
