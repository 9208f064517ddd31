// What is made of a file once: asked for again it is there, changed files are made anew, and what
// nobody uses goes.

#include "ir/support/files/kept_file.h"

#include <array>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace mtf {
namespace {

namespace fs = std::filesystem;

// A cache of its own, and a file that something is made of.
class Kept {
 public:
  Kept() {
    fs::create_directories(folder_);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    write("text");
  }
  ~Kept() {
    ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(folder_);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  Kept(Kept&&) = delete;
  Kept& operator=(Kept&&) = delete;

  void write(const std::string& text) const { std::ofstream(of_) << text; }
  KeptFile ask(const std::string& how) {
    return kept_file(of_, how, ".made", [this](const std::string& place) {
      ++made;
      std::ofstream(place) << "made";
      return std::string();
    });
  }
  static void age(const std::string& path, int days) {
    const timespec then{.tv_sec = std::time(nullptr) - std::time_t{days} * 24 * 3600, .tv_nsec = 0};
    const std::array<timespec, 2> times = {then, then};
    CHECK(::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) == 0);
  }

  int made = 0;

 private:
  fs::path folder_ = fs::temp_directory_path() / ("mtf_kept_test." + std::to_string(getpid()));
  std::string of_ = (folder_ / "of.txt").string();
};

TEST_CASE("what is made of a file is made once, until the file changes") {
  Kept kept;
  const KeptFile first = kept.ask("a");
  CHECK(first.problem.empty());
  CHECK(fs::exists(first.path));
  CHECK(kept.ask("a").path == first.path);
  CHECK(kept.made == 1);
  CHECK(kept.ask("b").path != first.path);
  kept.write("another text");
  CHECK(kept.ask("a").path != first.path);
  CHECK(kept.made == 3);
}

TEST_CASE("what nobody asks for in a month goes when something is made") {
  Kept kept;
  const std::string used = kept.ask("used").path;
  const std::string unused = kept.ask("unused").path;
  Kept::age(used, 40);
  Kept::age(unused, 40);
  static_cast<void>(kept.ask("used"));
  CHECK(fs::exists(unused));  // nothing was made
  static_cast<void>(kept.ask("new"));
  CHECK(fs::exists(used));
  CHECK_FALSE(fs::exists(unused));
  CHECK(kept.made == 3);
}

TEST_CASE("a file that is not there is named, and nothing is kept") {
  const KeptFile kept = kept_file("/nowhere/of.txt", "a", ".made",
                                  [](const std::string&) { return std::string("was made"); });
  CHECK(kept.problem == "cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace mtf
