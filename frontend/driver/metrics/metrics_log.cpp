#include "frontend/driver/metrics/metrics_log.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "frontend/driver/progress.h"
#include "frontend/report/quantity.h"
#include "ir/support/diag.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Rates and times mean a few digits.
double few_digits(double value) {
  constexpr int kKeptDigits = 5;
  return value > 0 ? std::stod(scientific(value, kKeptDigits)) : 0;
}

}  // namespace

MetricsLog::MetricsLog(std::span<const std::string> paths) {
  for (const std::string& path : paths) {
    MetricsFile file(path);
    if (std::ranges::find(files_, file.path(), &MetricsFile::path) == files_.end()) {
      files_.push_back(std::move(file));
    }
  }
}

void MetricsLog::trained(const TrainedStep& step) {
  const ExampleCount& examples = examples_in(step.program);
  const std::string unit = examples.are_tokens ? "tokens" : "examples";
  MetricsRecord record{.entry = std::string(step.entry),
                       .step = step.number,
                       .time = wall_clock(),
                       .values = step.losses};
  record.values.emplace_back("seconds", few_digits(step.seconds));
  if (examples.count > 0 && step.seconds > 0) {
    record.values.emplace_back(unit + "_per_second",
                               few_digits(static_cast<double>(examples.count) / step.seconds));
  }
  if (peak_ > 0 && step.seconds > 0) {
    record.values.emplace_back("share_of_peak", few_digits(step.flops / step.seconds / peak_));
  }
  constexpr double kKept = 0.9;
  recent_.seconds = kKept * recent_.seconds + step.seconds;
  recent_.examples = kKept * recent_.examples + static_cast<double>(examples.count);
  recent_.flops = kKept * recent_.flops + step.flops;
  show(step, unit, peak_ > 0 ? recent_.flops / recent_.seconds / peak_ : 0);
  remove_stale(record, step.before);
  write(record);
  reached_->insert_or_assign(record.entry, step.number + 1);
}

const ExampleCount& MetricsLog::examples_in(const Program& program) {
  const auto [known, is_new] = examples_.try_emplace(&program);
  if (is_new) {
    known->second = examples_of(program);
  }
  return known->second;
}

void MetricsLog::noted(const NotedMetric& metric) {
  const MetricsRecord record{.entry = std::string(metric.entry),
                             .step = metric.step,
                             .time = wall_clock(),
                             .values = {{std::string(metric.name), metric.value}}};
  remove_stale(record, metric.before);
  write(record);
}

void MetricsLog::remove_stale(const MetricsRecord& record, const StepsTaken& taken) {
  const auto steps = [](const StepsTaken& of, std::string_view entry) {
    const auto found = of.find(std::string(entry));
    return found == of.end() ? 0 : found->second;
  };
  if (record.entry.empty()) {
    if (!std::exchange(has_others_, true)) {
      cut(record.step, [&](std::string_view entry, std::int64_t step) {
        return entry.empty() && step >= record.step;
      });
    }
    return;
  }
  const bool goes_back = reached_ && std::ranges::any_of(*reached_, [&](const auto& one) {
                           return steps(taken, one.first) < one.second;
                         });
  if (!reached_ || goes_back) {
    const bool begins = std::ranges::all_of(taken, [](const auto& one) { return one.second == 0; });
    const bool others_stay = reached_ || !begins || has_others_;
    cut(record.step, [&](std::string_view entry, std::int64_t step) {
      return entry.empty() ? !others_stay : step >= steps(taken, entry);
    });
  }
  reached_ = taken;
}

void MetricsLog::cut(std::int64_t step, const IsStale& is_stale) {
  for (MetricsFile& file : files_) {
    note(file, step, file.cut(is_stale));
  }
}

void MetricsLog::write(const MetricsRecord& record) {
  for (MetricsFile& file : files_) {
    note(file, record.step, file.append(record));
  }
}

void MetricsLog::note(const MetricsFile& file, std::int64_t step, const std::string& problem) {
  if (!problem.empty() && problem_.empty()) {
    problem_ = in_backticks(file.path()) + " lacks metrics from step " + std::to_string(step) +
               " on: " + problem;
  }
}

void MetricsLog::report(DiagSink& diags) const {
  if (!problem_.empty()) {
    diags.warning(DiagKind::kFile, {}, problem_);
  }
}

void MetricsLog::show(const TrainedStep& step, std::string_view unit, double share) const {
  constexpr int kShownDigits = 4;
  std::string text;
  for (const auto& [name, value] : step.losses) {
    text += (text.empty() ? "" : ", ") + name + " " +
            (std::isfinite(value) ? significant(value, kShownDigits) : metric_number(value));
  }
  if (recent_.examples > 0 && recent_.seconds > 0) {
    text += ", " + count_text(std::llround(recent_.examples / recent_.seconds)) + " " +
            std::string(unit) + "/s";
  }
  if (share > 0) {
    text += ", " + fixed(share * 100, 0) + " % of peak";
  }
  note_progress(text);
}

}  // namespace mtf
