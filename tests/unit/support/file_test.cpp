// Files that are replaced whole or left as they were.

#include "ir/support/file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("mtf_file_test." + std::to_string(getpid()));

  Folder() { fs::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }

  [[nodiscard]] auto files() const {
    return std::distance(fs::directory_iterator(path), fs::directory_iterator());
  }
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("a file takes the place of the one before it, and nothing stays beside it") {
  const Folder folder;
  const fs::path place = folder.path / "a.txt";
  CHECK(replace_file(place, [](std::ostream& out) { out << "one"; }).empty());
  CHECK(replace_file(place, [](std::ostream& out) { out << "two"; }).empty());
  CHECK(text_of(place) == "two");
  CHECK(folder.files() == 1);
}

TEST_CASE("what cannot be written whole leaves the file as it was") {
  const Folder folder;
  const fs::path place = folder.path / "a.txt";
  CHECK(replace_file(place, [](std::ostream& out) { out << "one"; }).empty());
  const auto fail = [](std::ostream& out) {
    out << "tw";
    out.setstate(std::ios::failbit);
  };
  CHECK_FALSE(replace_file(place, fail).empty());
  CHECK(text_of(place) == "one");
  CHECK(folder.files() == 1);
}

TEST_CASE("what begins otherwise is another file, what is empty or not there is none") {
  const Folder folder;
  const std::string place = folder.path / "a.svg";
  const std::string_view opening = "<svg";
  const auto there = [&] { return another_there(place, std::span(&opening, 1), "picture"); };
  CHECK(there().empty());
  CHECK(put_file(place, "").empty());
  CHECK(there().empty());
  CHECK(put_picture(place, "<svg></svg>").empty());
  CHECK(put_picture(place, "<svg/>").empty());
  CHECK(text_of(place) == "<svg/>");
  for (const std::string_view text : {"<sv", "# notes, perhaps a year's"}) {
    CHECK(put_file(place, text).empty());
    CHECK(there() ==
          "another file is there, which is no picture; remove it first, or take another name");
    CHECK(put_picture(place, "<svg/>") == there());
    CHECK(text_of(place) == text);
  }
}

TEST_CASE("a place that is none is said with the system's reason") {
  const Folder folder;
  const auto write = [](std::ostream& out) { out << "one"; };
  CHECK(replace_file(folder.path / "none" / "a.txt", write) == "No such file or directory");
  CHECK(replace_file(folder.path, write) == "Is a directory");
  CHECK(write_file("/dev/full", write) == "No space left on device");
}

}  // namespace
}  // namespace mtf
