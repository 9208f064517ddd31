// The device, as long as it may compute. In a check, and after an error, only types are known.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/device.h"
#include "frontend/elaborate/report.h"

namespace mtf::host {

class Execution {
 public:
  Execution(Device& device, bool is_check, Reporter& report);

  // After an error in a run: checks go on, nothing is computed.
  [[nodiscard]] bool is_dry() const { return !is_check_ && report_.failures() > 0; }
  // Nothing that is computed now has a value that could be read.
  [[nodiscard]] bool checks_only() const { return is_check_ || is_dry(); }

  // Each as of `Device`; in a dry run it does nothing. False, nullopt: after an error.
  [[nodiscard]] bool use(const Layout* chosen, std::span<const Layout> declared);
  void declare(mtf::Variable variable);
  // In a dry run the results have a type and no more.
  [[nodiscard]] std::optional<std::vector<TensorHandle>> run(
      const Unit& unit, std::span<const TensorHandle> arguments);
  [[nodiscard]] bool fit_layouts(std::span<const TensorType> types) {
    return device_.fit_layouts(types);
  }
  [[nodiscard]] bool forget(const Unit& unit) { return device_.forget(unit); }
  void print(std::string_view line);
  void metric(std::string_view name, double value, std::optional<std::int64_t> step);
  [[nodiscard]] std::string of_first_rank(std::string mine);
  // False after an error. A check saves nothing, and remembers what the program would.
  [[nodiscard]] bool save(const SaveRequest& request);
  [[nodiscard]] bool restore(RestoreRequest request);
  // Of the file that a checkpoint is; nullopt: an error, or nobody knows.
  [[nodiscard]] std::optional<std::string> note_of(const RestoreRequest& request);
  [[nodiscard]] bool wants_save() const { return !checks_only() && device_.wants_save(); }
  // What was expected before.
  bool expect_save(bool expected);
  // The program's own statements have run.
  void end();
  // nullopt: nobody knows.
  [[nodiscard]] std::optional<double> scalar(const TensorHandle& tensor);
  [[nodiscard]] std::optional<HostTensor> value(const TensorHandle& tensor);
  [[nodiscard]] std::optional<std::string> text(const TensorHandle& tensor,
                                                const NumberFormat& numbers);

  std::map<std::string, DType> written;  // files, by a check that writes none
  SourceSpan asked;  // where a check could not tell what a tensor holds, the first time

 private:
  Device& device_;
  const bool is_check_;
  Reporter& report_;
  bool expects_save_ = false;
};

}  // namespace mtf::host
