// Where ranks ask for parts of what others serve.

#include "lowering/reshard/serve.h"

#include <catch2/catch.hpp>

namespace mtf {
namespace {

constexpr AxisId kX = 0;
constexpr AxisId kY = 1;

ValueLayout laid(Axes first, Axes second) {
  return {.dims = {first, second}, .partial = {}};
}

}  // namespace

TEST_CASE("a rank asks for no more than is wanted of it, along axes behind those of the loops") {
  CHECK(served_layout(laid({}, {}), laid({kX}, {kY})) == laid({kX}, {kY}));
  CHECK(served_layout(laid({kX}, {}), laid({kX, kY}, {})) == laid({kX, kY}, {}));
  CHECK(served_layout(laid({kX}, {}), laid({kX}, {})) == laid({kX}, {}));
}

TEST_CASE("what loops split otherwise than is wanted stays as they make it") {
  CHECK(served_layout(laid({kX}, {}), laid({kY}, {})) == laid({kX}, {}));
  CHECK(served_layout(laid({kX}, {}), laid({kY, kX}, {})) == laid({kX}, {}));
  CHECK(served_layout(laid({kX}, {}), laid({}, {kX})) == laid({kX}, {}));
}

}  // namespace mtf
