#include "ir/support/files/kept_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/support/file.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

// Two hashes of 64 bits, the second of the first one's digits and the key: another key with both is
// not to be expected.
std::string name_of_key(const std::string& key) {
  const std::uint64_t one = std::hash<std::string>{}(key);
  return hex16(one) + hex16(std::hash<std::string>{}(hex16(one) + key));
}

// The file as it is now, and what is made of it.
std::string key_of(const std::string& of, std::string_view how, std::string& problem) {
  struct stat status {};
  std::array<char, 4096> real{};
  if (::stat(of.c_str(), &status) != 0 || ::realpath(of.c_str(), real.data()) == nullptr) {
    problem = std::string("cannot be opened: ") + std::strerror(errno);
    return "";
  }
  std::string key(real.data());
  for (const auto number :
       {std::int64_t{status.st_size}, static_cast<std::int64_t>(status.st_ino),
        std::int64_t{status.st_mtim.tv_sec}, std::int64_t{status.st_mtim.tv_nsec}}) {
    key += "\n" + std::to_string(number);
  }
  return key + "\n" + std::string(how);
}

// Held by one process at a time, as far as the disk knows locks; without one each makes its own.
class FileLock {
 public:
  explicit FileLock(std::string path) : path_(std::move(path)) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() {
    if (file_ >= 0) {
      ::unlink(path_.c_str());
      ::close(file_);
    }
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  FileLock(FileLock&&) = delete;
  FileLock& operator=(FileLock&&) = delete;

 private:
  std::string path_;
  int file_ = -1;
};

// What nobody has asked for in a long time: texts change, and what was made of them stays behind.
// A process that has such a file open goes on reading it.
void remove_old(const std::string& folder) {
  constexpr std::time_t kLong = std::time_t{30} * 24 * 3600;
  const std::time_t now = std::time(nullptr);
  std::error_code wrong;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(folder, wrong), end; !wrong && at != end;
       at.increment(wrong)) {
    struct stat status {};
    const bool is_known = ::stat(at->path().c_str(), &status) == 0;
    if (is_known && now - std::max(status.st_atime, status.st_mtime) > kLong) {
      std::filesystem::remove(at->path(), ignored);
    }
  }
}

// It is read now, whatever the disk notes of that; when it was written stays, by which others see
// that it is the same file.
bool is_there(const std::string& path) {
  std::array<timespec, 2> times{};
  times[0].tv_nsec = UTIME_NOW;
  times[1].tv_nsec = UTIME_OMIT;
  return ::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) == 0 ||
         ::access(path.c_str(), F_OK) == 0;
}

}  // namespace

KeptFile kept_file(const std::string& of, std::string_view how, std::string_view ending,
                   const MakeFile& make) {
  KeptFile kept{.path = {}, .problem = {}};
  const std::string key = key_of(of, how, kept.problem);
  const std::string folder = user_folder("XDG_CACHE_HOME", "/.cache");
  if (!kept.problem.empty()) {
    return kept;
  }
  std::error_code wrong;
  std::filesystem::create_directories(folder + "/made", wrong);
  if (folder.empty() || wrong) {
    kept.problem = "needs a folder for what is made of it once: " +
                   (folder.empty() ? "there is no HOME" : "`" + folder + "`: " + wrong.message()) +
                   "; XDG_CACHE_HOME names another";
    return kept;
  }
  kept.path = folder + "/made/" + name_of_key(key) + std::string(ending);
  if (is_there(kept.path)) {
    return kept;
  }
  const FileLock lock(kept.path + ".lock");
  if (!is_there(kept.path)) {
    remove_old(folder + "/made");
    kept.problem = make(kept.path);
    std::string missing;
    if (kept.problem.empty() && key_of(of, how, missing) != key) {
      ::unlink(kept.path.c_str());
      kept.problem = "was changed while it was read";
    }
  }
  return kept;
}

}  // namespace mtf
