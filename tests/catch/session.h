// Runs the tests of a program. Catch2's implementation is compiled once for all of them.

#pragma once

namespace mtf::test {

[[nodiscard]] int run_tests(int count, const char* const* words);  // how many failed

}  // namespace mtf::test
