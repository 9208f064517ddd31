// Catch2's implementation; its warnings are not ours (tests/CMakeLists.txt).

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "tests/distributed/main.h"

namespace mtf::test {

int run_tests(const char* program) {
  Catch::Session session;
  return session.run(1, &program);
}

}  // namespace mtf::test
