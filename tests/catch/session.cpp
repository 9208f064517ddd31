// Catch2's implementation; its warnings are not ours (tests/CMakeLists.txt).

#define CATCH_CONFIG_RUNNER
#include "tests/catch/session.h"

#include <catch2/catch.hpp>

namespace mtf::test {

int run_tests(int count, const char* const* words) {
  Catch::Session session;
  return session.run(count, words);
}

}  // namespace mtf::test
