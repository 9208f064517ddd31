// The line of progress: what a terminal gets of it, at times that the tests make up.

#include "frontend/driver/progress.h"

#include <chrono>
#include <string>

#include <catch2/catch.hpp>

#include "ir/support/utf8.h"

namespace mtf {
namespace {

// A terminal of so many columns, and a clock that is asked for its time.
struct Watched {
  explicit Watched(std::size_t wide) : columns(wide) {}

  std::size_t columns;
  std::string written;
  ProgressLine::Time now = ProgressLine::Time{} + std::chrono::hours(1);
  ProgressLine line{{.write = [this](std::string_view text) { written += text; },
                     .columns = [this] { return columns; }}};

  // What is written for it, so long after what was before.
  std::string after(int milliseconds, std::string_view what, std::int64_t done, std::int64_t of) {
    now += std::chrono::milliseconds(milliseconds);
    written.clear();
    line.at(what, done, of, now);
    return written;
  }
  std::string cleared() {
    written.clear();
    line.clear(now);
    return written;
  }
};

TEST_CASE("progress is shown once work is a second old, ten times a second") {
  Watched screen(80);
  CHECK(screen.after(0, "step", 0, 100).empty());
  CHECK(screen.after(999, "step", 10, 100).empty());
  CHECK(screen.after(1, "step", 20, 100) ==
        "\rstep 20 of 100  [######------------------------]  20 %, 4 s left\x1b[K");
  CHECK(screen.after(99, "step", 21, 100).empty());
  CHECK_FALSE(screen.after(1, "step", 22, 100).empty());
  CHECK(screen.after(1, "step", 100, 100) == "\r\x1b[K");
  CHECK(screen.cleared().empty());
}

TEST_CASE("work that is short shows nothing, however much was before it") {
  Watched screen(80);
  for (int i = 0; i < 10; ++i) {
    CHECK(screen.after(500, "step", 0, 2).empty());
    CHECK(screen.after(700, "step", 1, 2).empty());
    CHECK(screen.after(100, "step", 2, 2).empty());
  }
}

TEST_CASE("what is said of the work stands behind how far it is, until it is over") {
  Watched screen(90);
  screen.after(0, "epoch", 0, 2);
  screen.line.note("loss 0.5, 12 tokens/s");
  CHECK(screen.after(1000, "epoch", 1, 2) ==
        "\repoch 1 of 2, loss 0.5, 12 tokens/s  [###############---------------]  50 %, 1 s "
        "left\x1b[K");
  screen.after(100, "epoch", 2, 2);
  screen.after(1000, "step", 0, 0);
  CHECK(screen.after(1000, "step", 2, 0).find("loss") == std::string::npos);
}

TEST_CASE("short work without a pause is long work") {
  Watched screen(80);
  std::string shown;
  for (int i = 0; i < 10; ++i) {
    shown += screen.after(50, "planning", 0, 10) + screen.after(50, "planning", 10, 10);
  }
  CHECK(shown.empty());
  CHECK_FALSE(screen.after(50, "planning", 0, 10).empty());
}

TEST_CASE("what others write comes on an empty line, and for a moment stays the last") {
  Watched screen(80);
  screen.after(0, "step", 0, 100);
  CHECK_FALSE(screen.after(2000, "step", 1, 100).empty());
  CHECK(screen.cleared() == "\r\x1b[K");
  CHECK(screen.cleared().empty());
  CHECK(screen.after(50, "step", 2, 100).empty());
  CHECK_FALSE(screen.after(50, "step", 3, 100).empty());
}

TEST_CASE("a loop in a loop, and what was not ended in it") {
  Watched screen(80);
  screen.after(0, "epoch", 1, 2);
  CHECK(screen.after(3000, "step", 50, 100) ==
        "\repoch 1 of 2, step 50 of 100  [######################--------]  75 %, 1 s left\x1b[K");
  screen.after(1000, "planning", 5, 10);
  CHECK(screen.after(1000, "step", 60, 100).starts_with("\repoch 1 of 2, step 60 of 100  ["));
  CHECK(screen.after(1, "epoch", 2, 2) == "\r\x1b[K");
}

TEST_CASE("a loop of which nobody knows the end") {
  Watched screen(80);
  screen.after(0, "turn", 0, 0);
  CHECK(screen.after(5400000, "turn", 12'345, 0) == "\rturn 12,345\x1b[K");
}

TEST_CASE("a line of progress fits its terminal") {
  for (std::size_t columns = 1; columns <= 120; ++columns) {
    Watched screen(columns);
    screen.after(0, "größe_von_allem_was_es_gibt", 1, 100'000);
    const std::string shown = screen.after(1200000, "größe_von_allem_was_es_gibt", 7, 100'000);
    REQUIRE(shown.starts_with('\r'));
    REQUIRE(shown.ends_with("\x1b[K"));
    const std::string text = shown.substr(1, shown.size() - 4);
    CHECK(display_width(text) <= std::max<std::size_t>(columns - 1, 1));
  }
}

}  // namespace
}  // namespace mtf
