// How far long work has come: a line on the terminal, from its second second on, that goes before
// anything else is shown. `steps 37 of 100  [#######-------------]  37 %, 12 s left`

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/driver/options.h"

namespace mtf {

class ProgressLine {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Screen {
    std::function<void(std::string_view)> write;
    std::function<std::size_t()> columns;
  };

  explicit ProgressLine(Screen screen) : screen_(std::move(screen)) {}

  // So many parts `of` them are done of something, inside of what was not done before; 0: nobody
  // knows of how many. Once it is all done, it is over.
  void at(std::string_view what, std::int64_t done, std::int64_t of, Time now);
  // What is said of the work, as long as any goes on.
  void note(std::string text) { note_ = std::move(text); }
  // Leaves the screen to others for a while.
  void clear(Time now);
  // Nothing is under way any more.
  void end(Time now);

 private:
  struct Part {
    std::string what;
    std::int64_t done = 0;
    std::int64_t of = 0;
  };

  [[nodiscard]] std::string text(Time now, std::size_t columns) const;
  [[nodiscard]] double fraction() const;

  Screen screen_;
  std::vector<Part> parts_;  // the outermost first
  std::string note_;
  Time since_;  // when the outermost began
  Time told_;   // when it came on last
  Time written_;
  bool is_shown_ = false;
};

// While this is there, this process shows its progress on standard error, if that is a terminal;
// the first of the ranks that `mtf run -n` started, if standard error of that is one. None under
// `--json`.
class Progress {
 public:
  explicit Progress(const Options& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(Progress&&) = delete;

 private:
  bool is_ours_ = false;
};

void progress_at(std::string_view what, std::int64_t done, std::int64_t of);
// Behind how far it is: what else there is to say.
void note_progress(std::string text);
// For `ask_at_stop_points`.
void planning_at(std::int64_t done, std::int64_t of);
// Before something is written that a terminal shows.
void clear_progress();
void end_progress();

// In a process that becomes mpirun: by which its first rank may measure how far it is.
void lend_terminal();

}  // namespace mtf
