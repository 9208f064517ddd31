// The main function of every unit-test program.

#include "tests/catch/session.h"

int main(int count, char** words) {
  return mtf::test::run_tests(count, words);
}
