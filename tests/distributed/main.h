// The ranks that the test program was started among.

#pragma once

#include "runtime/ranks/communicator.h"

namespace mtf::test {

[[nodiscard]] Communicator& ranks();

[[nodiscard]] int run_tests(const char* program);  // how many failed

}  // namespace mtf::test
