// Amounts as people read them.

#include "frontend/report/quantity.h"

#include <catch2/catch.hpp>

namespace mtf {

TEST_CASE("flops keep three digits and their unit") {
  CHECK(flops_text(0).empty());
  CHECK(flops_text(100) == "100 FLOP");
  CHECK(flops_text(2048) == "2.0 kFLOP");
  CHECK(flops_text(131072) == "0.13 MFLOP");
  CHECK(flops_text(12.34e6) == "12.3 MFLOP");
  CHECK(flops_text(999.96e6) == "1.00 GFLOP");
}

TEST_CASE("bytes are in binary units") {
  CHECK(bytes_text(4) == "4 B");
  CHECK(bytes_text(4096) == "4.0 KiB");
  CHECK(bytes_text((std::int64_t{1} << 20) - 1) == "1.0 MiB");
}

TEST_CASE("counts are grouped by thousands") {
  CHECK(count_text(7) == "7");
  CHECK(count_text(8320) == "8,320");
  CHECK(count_text(1234567) == "1,234,567");
  CHECK(count_text(1, "call") == "1 call");
  CHECK(count_text(1000, "call") == "1,000 calls");
}

}  // namespace mtf
