// A terminal has one such line, and so has a process: work deep inside tells it how far it is.

#include "frontend/driver/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/ioctl.h>
#include <unistd.h>

#include "frontend/driver/commands.h"
#include "frontend/report/quantity.h"
#include "ir/support/stop.h"
#include "ir/support/utf8.h"
#include "runtime/ranks/mpi/launch.h"

namespace mtf {
namespace {

constexpr std::chrono::milliseconds kShort(1000);    // work that is over by then shows nothing
constexpr std::chrono::milliseconds kBetween(100);   // two lines, and after the output of others
constexpr std::chrono::milliseconds kSameWork(300);  // without a word; later is work of its own
constexpr std::size_t kLongestBar = 30;
constexpr std::size_t kShortestBar = 5;
constexpr const char* kLent = "MTF_TERMINAL";

std::string time_left(double fraction, double seconds) {
  constexpr double kMinute = 60;
  if (fraction <= 0) {
    return "";
  }
  const double left = std::ceil(seconds * (1 - fraction) / fraction);
  const bool in_minutes = left > 2 * kMinute;
  const auto number = static_cast<std::int64_t>(in_minutes ? std::ceil(left / kMinute) : left);
  return ", " + count_text(number) + (in_minutes ? " min left" : " s left");
}

}  // namespace

void ProgressLine::at(std::string_view what, std::int64_t done, std::int64_t of, Time now) {
  if (parts_.empty() && now - told_ > kSameWork) {
    since_ = now;
  }
  told_ = now;
  auto part = std::ranges::find(parts_, what, &Part::what);
  if (part == parts_.end()) {
    part = parts_.insert(part, {.what = std::string(what)});
  }
  part->done = done;
  part->of = of;
  const bool is_over = of > 0 && done >= of;
  parts_.erase(is_over ? part : part + 1, parts_.end());
  if (parts_.empty()) {
    note_.clear();
    if (is_shown_) {
      clear(now);
    }
  } else if (now - since_ >= kShort && now - written_ >= kBetween) {
    screen_.write("\r" + text(now, screen_.columns()) + "\x1b[K");
    written_ = now;
    is_shown_ = true;
  }
}

void ProgressLine::clear(Time now) {
  if (is_shown_) {
    screen_.write("\r\x1b[K");
    is_shown_ = false;
  }
  written_ = now;
}

void ProgressLine::end(Time now) {
  parts_.clear();
  note_.clear();
  clear(now);
}

double ProgressLine::fraction() const {
  double fraction = 0;
  double width = 1;  // of the whole, that a part of what is outside stands for
  for (const Part& part : parts_) {
    if (part.of == 0) {
      break;
    }
    width /= static_cast<double>(part.of);
    fraction += width * static_cast<double>(part.done);
  }
  return fraction;
}

std::string ProgressLine::text(Time now, std::size_t columns) const {
  std::string text;
  for (const Part& part : parts_) {
    text += (text.empty() ? "" : ", ") + part.what + " " + count_text(part.done) +
            (part.of == 0 ? "" : " of " + count_text(part.of));
  }
  text += note_.empty() ? "" : ", " + note_;
  const std::size_t room = columns < 2 ? 1 : columns - 1;  // behind the last column it would wrap
  if (parts_.front().of > 0) {
    const double share = fraction();
    const std::chrono::duration<double> spent = now - since_;
    const std::string percent = "  " + std::to_string(static_cast<int>(share * 100)) + " %";
    const std::string left = time_left(share, spent.count());
    const std::size_t taken = display_width(text) + percent.size() + left.size() + 4;
    if (taken + kShortestBar <= room) {
      const std::size_t bar = std::min(kLongestBar, room - taken);
      const auto full = static_cast<std::size_t>(share * static_cast<double>(bar));
      text += "  [" + std::string(full, '#') + std::string(bar - full, '-') + "]";
    }
    text += percent + left;
  }
  return shortened(text, room);
}

namespace {

struct ShownProgress {
  int terminal;
  ProgressLine line;
};

// Of this process; null: none is shown.
std::unique_ptr<ShownProgress>& shown() {
  static std::unique_ptr<ShownProgress> of_process;
  return of_process;
}

// A terminal that knows how to erase a line; negative: none.
int own_terminal(const Options& options) {
  if (options.json || !knows_escapes()) {
    return -1;
  }
  const std::optional<Launch> launch = launched();
  if (!launch) {
    return isatty(STDERR_FILENO) == 1 ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
  }
  const char* lent = std::getenv(kLent);
  return lent == nullptr || launch->rank != 0 ? -1 : open(lent, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

Progress::Progress(const Options& options) {
  const int terminal = own_terminal(options);
  if (terminal < 0 || shown() != nullptr) {
    return;
  }
  // What a rank says comes through mpirun, and a bar comes in order with it only on the same way.
  const int way = launched() ? STDERR_FILENO : terminal;
  const auto put = [way](std::string_view text) {
    [[maybe_unused]] const ssize_t written = write(way, text.data(), text.size());
  };
  const auto columns = [terminal]() -> std::size_t {
    constexpr std::size_t kOtherwise = 80;
    winsize size{};
    const bool known = ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : kOtherwise;
  };
  shown() = std::make_unique<ShownProgress>(ShownProgress{
      .terminal = terminal, .line = ProgressLine({.write = put, .columns = columns})});
  ask_at_stop_points(planning_at);
  listen_to_turns(progress_at);
  is_ours_ = true;
}

Progress::~Progress() {
  if (is_ours_) {
    ask_at_stop_points(nullptr);
    listen_to_turns(nullptr);
    end_progress();
    close(shown()->terminal);
    shown().reset();
  }
}

void progress_at(std::string_view what, std::int64_t done, std::int64_t of) {
  if (shown() != nullptr) {
    shown()->line.at(what, done, of, std::chrono::steady_clock::now());
  }
}

void note_progress(std::string text) {
  if (shown() != nullptr) {
    shown()->line.note(std::move(text));
  }
}

void planning_at(std::int64_t done, std::int64_t of) {
  if (of > 0) {
    progress_at("planning", done, of);
  }
}

void clear_progress() {
  if (shown() != nullptr) {
    shown()->line.clear(std::chrono::steady_clock::now());
  }
}

void end_progress() {
  if (shown() != nullptr) {
    shown()->line.end(std::chrono::steady_clock::now());
  }
}

void lend_terminal() {
  const char* terminal = isatty(STDERR_FILENO) == 1 ? ttyname(STDERR_FILENO) : nullptr;
  if (terminal == nullptr) {
    unsetenv(kLent);
  } else {
    setenv(kLent, terminal, /*overwrite=*/1);
  }
}

}  // namespace mtf
