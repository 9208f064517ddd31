// The main function of every unit-test program; Catch2's implementation is compiled here, once.

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
