// JSON written from left to right.

#include "frontend/driver/json_text.h"

#include <limits>

#include <catch2/catch.hpp>

namespace mtf {

TEST_CASE("commas stand between elements and nowhere else") {
  JsonText json;
  json.object().member("a", 1).key("b").array().value(true).value("x").null().close();
  json.key("c").object().close().member("d", 0.5).close();
  CHECK(json.take() == R"({"a":1,"b":[true,"x",null],"c":{},"d":0.5})");
}

TEST_CASE("a line end goes behind the comma") {
  JsonText json;
  json.array().line().value(1).line().value(2).line().close();
  CHECK(json.take() == "[\n1,\n2\n]");
}

TEST_CASE("what is written can be taken piece by piece") {
  JsonText json;
  json.array().value(1);
  CHECK(json.take() == "[1");
  json.value(2).close();
  CHECK(json.take() == ",2]");
}

TEST_CASE("text is quoted, and what is no UTF-8 replaced") {
  CHECK(json_quoted("a\"\\\n\t\x01é") == R"("a\"\\\n\t\u0001é")");
  CHECK(json_quoted("\xFF|\xC3") == "\"\uFFFD|\uFFFD\"");
  CHECK(json_quoted("\xED\xA0\x80") == "\"\uFFFD\uFFFD\uFFFD\"");
}

TEST_CASE("what is no number is null") {
  JsonText json;
  json.array().value(std::numeric_limits<double>::infinity()).value(1e300).close();
  CHECK(json.take() == "[null,1e+300]");
}

}  // namespace mtf
