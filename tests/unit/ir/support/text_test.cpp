// Numbers and Unicode as text.

#include <limits>

#include <catch2/catch.hpp>

#include "ir/support/number.h"
#include "ir/support/text/parse_number.h"
#include "ir/support/utf8.h"

namespace mtf {

TEST_CASE("a text is a number from its first letter to its last, or none") {
  CHECK(parse_number<std::int64_t>("-12") == -12);
  CHECK(parse_number<std::uint32_t>("ff", 16) == 255);
  CHECK(parse_number<double>("2.5") == 2.5);
  for (const char* text : {"", "3.5", "12abc", " 1", "1 ", "+1", "99999999999999999999"}) {
    INFO(text);
    CHECK_FALSE(parse_number<std::int64_t>(text).has_value());
  }
  CHECK_FALSE(parse_number<std::size_t>("-1").has_value());
}

TEST_CASE("numbers as they are read") {
  CHECK(fixed(0.5, 2) == "0.50");
  CHECK(fixed(-std::numeric_limits<double>::max(), 1).size() > 300);
  CHECK(scientific(0.5, 1) == "5.0e-01");
  CHECK(significant(1.0 / 3, 2) == "0.33");
  CHECK(significant(1.25e-7, 2) == "1.2e-07");
  CHECK(shortest(0.1) == "0.1");
  CHECK(shortest(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("numbers in a format") {
  const auto text = [](auto value, std::string_view format) {
    return formatted(value, number_format(format).value());
  };
  CHECK(text(3.14159, ".2f") == "3.14");
  CHECK(text(3.14159, "8.2f") == "    3.14");
  CHECK(text(-3.14159, "+.1f") == "-3.1");
  CHECK(text(3.14159, "+.1f") == "+3.1");
  CHECK(text(1234567.891, ",.1f") == "1,234,567.9");
  CHECK(text(1234567.0, ".2e") == "1.23e+06");
  CHECK(text(1234567.0, ".3g") == "1.23e+06");
  CHECK(text(0.1234, ".1%") == "12.3%");
  CHECK(text(-1.0 / 0.0, "6.1f") == "  -inf");
  CHECK(text(std::int64_t{1234}, ",d") == "1,234");
  CHECK(text(std::int64_t{-123456}, ",") == "-123,456");
  CHECK(text(std::int64_t{7}, "4") == "   7");
  CHECK(text(std::int64_t{7}, ".2f") == "7.00");
  CHECK(text(3.14159, "<8.2f") == "3.14    ");
  CHECK(text(-3.14159, "*^+9.2f") == "**-3.14**");
  CHECK(text(3.14159, " .2f") == " 3.14");
  CHECK(text(-3.14159, "08.2f") == "-0003.14");
  CHECK(text(-1234.5, "012,.1f") == "-0,001,234.5");
  CHECK(text(0.0000125, ".2E") == "1.25E-05");
  CHECK(text(1.0 / 0.0, "+.1%") == "+inf%");
  CHECK(text(std::int64_t{1234567}, ">10_d") == " 1_234_567");
  for (const std::string_view wrong : {"x", ".f", "2.345f4", ".2fd", "100f", ".2d", "-5"}) {
    INFO(wrong);
    CHECK_FALSE(number_format(wrong));
  }
  for (const std::string_view same :
       {"", ".4f", "+8,.2f", ",d", "5", ".3", "%", "03d", "*^ 9_.2E"}) {
    CHECK(to_string(number_format(same).value()) == same);
  }
}

TEST_CASE("code points, and bytes that are none") {
  CHECK(first_code_point("a").length == 1);
  CHECK(first_code_point("é").value == 0xE9);
  CHECK(first_code_point("\xFF").length == 0);
  CHECK(first_code_point("\xED\xA0\x80").length == 0);  // a surrogate
  CHECK(first_code_point("\xC3").length == 0);          // cut short
  CHECK(code_points("a·é") == 3);
}

TEST_CASE("the columns that a text fills") {
  CHECK(display_width("a·é") == 3);
  CHECK(display_width("层") == 2);
  CHECK(display_width("e\u0301") == 1);  // a combining accent
  CHECK(display_width("\xFF") == 1);
}

TEST_CASE("what is too wide ends in an ellipsis") {
  CHECK(shortened("hidden", 6) == "hidden");
  CHECK(shortened("hidden", 4) == "hid…");
  CHECK(shortened("层层层", 5) == "层层…");
  CHECK(shortened("层层层", 4) == "层…");
}

}  // namespace mtf
