// The ranks that the test program was started among.

#pragma once

#include "runtime/ranks/communicator.h"

namespace mtf::test {

[[nodiscard]] Communicator& ranks();

}  // namespace mtf::test
