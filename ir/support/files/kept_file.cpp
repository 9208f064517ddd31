#include "ir/support/files/kept_file.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/support/file.h"

namespace mtf {
namespace {

std::string hexadecimal(std::uint64_t number) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; number /= 16) {
    text[i] = kDigits[number % 16];
  }
  return text;
}

// Of 128 bits, so that no two are alike.
std::string name_of_key(const std::string& key) {
  const std::uint64_t one = std::hash<std::string>{}(key);
  return hexadecimal(one) + hexadecimal(std::hash<std::string>{}(hexadecimal(one) + key));
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
  if (std::filesystem::exists(kept.path, wrong)) {
    return kept;
  }
  const FileLock lock(kept.path + ".lock");
  if (!std::filesystem::exists(kept.path, wrong)) {
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
