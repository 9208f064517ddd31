// What is told of a file by its first bytes.

#include "ir/support/files/file_form.h"

#include <string_view>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

std::string form(std::string_view start) {
  return form_of(std::as_bytes(std::span(start)));
}

TEST_CASE("a file of another kind is told by how it begins") {
  using std::string_view_literals::operator""sv;
  CHECK(form("\x93NUMPY\x01\0\x76"sv) == "is a .npy file, which `load` reads");
  CHECK(form("\x40\0\0\0\0\0\0\0{"sv) == "is a checkpoint, which `restore` reads");
  CHECK(form("\0\0\x08\x03\0\0\xEA\x60\0"sv) ==
        "is an IDX file, as MNIST has them; `read_bytes(PATH, dtype = u8)` reads it, its numbers "
        "from byte 16 on");
  CHECK(form("\0\0\x08\x01\0\0\xEA\x60\0"sv).ends_with("from byte 8 on"));
  CHECK(form("\x1F\x8B\x08\0\0\0\0\0\0"sv).starts_with("is compressed by gzip"));
  CHECK(form("\x80\x02\x8A\nl\xFC\x9C\x46\xF9"sv).starts_with("is a Python pickle, as `torch"));
  CHECK(form("\x80\x04\x95\0\0\0\0\0\0"sv).starts_with("is a Python pickle; "));
  CHECK(form("\x89HDF\r\n\x1A\n\0"sv).starts_with("is an HDF5 file"));
  CHECK(form("PAR1\x15\0\0\0\0"sv).starts_with("is a Parquet file"));
}

TEST_CASE("of what begins otherwise nothing is said") {
  using std::string_view_literals::operator""sv;
  for (const std::string_view start : {""sv, "1"sv, "1,2\n3,4\n5"sv, "\0\0\0\0\0\0\0\0\0"sv,
                                       "\0\0\x08"sv, "\0\0\x09\x03\0\0\0\0\0"sv, "{\"a\": 1} "sv}) {
    CHECK(form(start).empty());
  }
}

TEST_CASE("what is no text in UTF-8 is told, and text is not") {
  using std::string_view_literals::operator""sv;
  const auto of = [](std::string_view start) { return no_text(std::as_bytes(std::span(start))); };
  CHECK(of("\x93NUMPY\x01\0\x76"sv) == "is a .npy file, which `load` reads");
  CHECK(of("\x40\0\0\0\0\0\0\0{\"w\""sv) == "is a checkpoint, which `restore` reads");
  CHECK(of("\xFF\xFE\x31\0"sv) == "is text in UTF-16; mtf reads and writes text in UTF-8");
  CHECK(of("one\0two\0"sv) == "is no text: byte 3 is 0");
  for (const std::string_view start :
       {""sv, "step, loss\n"sv, "\xEF\xBB\xBF\x61"sv, "\xC3\xA4"sv}) {
    CHECK(of(start).empty());
  }
}

}  // namespace
}  // namespace mtf
