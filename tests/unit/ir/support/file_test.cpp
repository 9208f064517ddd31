// Files that are replaced whole or left as they were.

#include "ir/support/file.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
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
  CHECK_THROWS(replace_file(place, [](std::ostream&) { throw std::runtime_error("ended"); }));
  CHECK(text_of(place) == "one");
  CHECK(folder.files() == 1);
}

TEST_CASE("a link stays one, and what it names keeps its permissions") {
  const Folder folder;
  const fs::path place = folder.path / "a.txt";
  fs::create_directory(folder.path / "b");
  fs::create_symlink("../a.txt", folder.path / "b" / "link");
  fs::create_symlink("b/link", folder.path / "link");
  CHECK(replace_file(folder.path / "link", "one").empty());  // nothing is there yet
  fs::permissions(place, fs::perms::owner_read | fs::perms::owner_write);
  CHECK(replace_file(folder.path / "link", "two").empty());
  CHECK(text_of(place) == "two");
  CHECK(fs::is_symlink(folder.path / "link"));
  CHECK(fs::status(place).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(folder.files() == 3);
  fs::create_symlink("ring", folder.path / "ring");
  CHECK(replace_file(folder.path / "ring", "one") == "Too many levels of symbolic links");
}

TEST_CASE("a device is written as it is, and a file that has no name any more") {
  const Folder folder;
  CHECK(replace_file("/dev/null", "one").empty());
  CHECK(is_device("/dev/null"));
  const int file = ::open((folder.path / "a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  fs::remove(folder.path / "a");
  CHECK(replace_file("/proc/self/fd/" + std::to_string(file), "one").empty());
  std::string read(3, ' ');
  CHECK(::pread(file, read.data(), 3, 0) == 3);
  CHECK(read == "one");
  CHECK(folder.files() == 0);
  CHECK(write_all(file, std::as_bytes(std::span(std::string_view("two")))) == 0);
  CHECK(write_all_at(file, std::as_bytes(std::span(std::string_view("!"))), 1) == 0);
  CHECK(::pread(file, read.data(), 3, 0) == 3);
  CHECK(read == "t!o");
  ::close(file);
  CHECK(write_all(file, std::as_bytes(std::span(read))) == EBADF);
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

TEST_CASE("a place that is none is said with the system's reason, and a way out if there is one") {
  const Folder folder;
  const auto write = [](std::ostream& out) { out << "one"; };
  const std::string none = folder.path / "none";
  CHECK(replace_file(none + "/a.txt", write) ==
        "there is no folder `" + none + "`; `mkdir -p " + none + "` makes it");
  CHECK(replace_file(folder.path, write) == "Is a directory");
  CHECK(replace_file("/dev/full", write) == "No space left on device");
}

}  // namespace
}  // namespace mtf
