// A signal comes between any two instructions, of which the second may read `errno`.

#include "runtime/ranks/interruption.h"

#include <cerrno>
#include <csignal>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

// Without the test program's own handler, which stays behind.
class NoHandler {
 public:
  NoHandler() : before_(std::signal(SIGINT, SIG_DFL)) {}
  ~NoHandler() { std::signal(SIGINT, before_); }
  NoHandler(const NoHandler&) = delete;
  NoHandler& operator=(const NoHandler&) = delete;
  NoHandler(NoHandler&&) = delete;
  NoHandler& operator=(NoHandler&&) = delete;

 private:
  void (*before_)(int);
};

TEST_CASE("an interruption is noted, and errno stays what it was") {
  const NoHandler none;
  note_interruptions();
  errno = EDOM;
  std::raise(SIGINT);
  const int after = errno;
  CHECK(after == EDOM);
  CHECK_THROWS_AS(throw_if_interrupted(), Interrupted);
  forget_interruptions();
  CHECK_NOTHROW(throw_if_interrupted());
}

}  // namespace
}  // namespace mtf
