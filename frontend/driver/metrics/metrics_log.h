// What a run says of its training while it goes on: lines of files, and the progress line.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/driver/devices/execute_device.h"
#include "frontend/driver/metrics/examples.h"
#include "frontend/driver/metrics/metrics_file.h"

namespace mtf {

class MetricsLog {
 public:
  explicit MetricsLog(std::span<const std::string> paths);

  // Floating point operations per second that the ranks of this process reach together at best; 0:
  // nobody knows.
  void set_peak(double flops) { peak_ = flops; }
  void trained(const TrainedStep& step);
  void noted(const NotedMetric& metric);
  // Warns of what could not be written.
  void report(DiagSink& diags) const;

 private:
  // Before a record is written. What an earlier run wrote of steps that this one has still to take,
  // and this one before it went back to a checkpoint, goes. `taken`: before the record.
  void remove_stale(const MetricsRecord& record, const StepsTaken& taken);
  void cut(std::int64_t step, const IsStale& is_stale);
  void write(const MetricsRecord& record);
  void note(const MetricsFile& file, std::int64_t step, const std::string& problem);
  void show(const TrainedStep& step, std::string_view unit, double share) const;

  // Of the last steps, each counting less than the one behind it.
  struct Recent {
    double seconds = 0;
    double examples = 0;
    double flops = 0;
  };

  const ExampleCount& examples_in(const Program& program);

  std::vector<MetricsFile> files_;
  std::map<const Program*, ExampleCount> examples_;
  std::optional<StepsTaken> reached_;  // that the files have; null: nobody has looked
  bool has_others_ = false;            // this run has written of what no entry takes part in
  double peak_ = 0;
  Recent recent_;
  std::string problem_;
};

}  // namespace mtf
