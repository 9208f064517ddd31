#include "frontend/driver/fmt/replace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace mtf {
namespace {

bool write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    text.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return true;
}

}  // namespace

std::string replace_file(const std::string& path, std::string_view text) {
  std::error_code error;
  const std::string target = std::filesystem::canonical(path, error).string();
  struct stat status = {};
  if (error || stat(target.c_str(), &status) != 0) {
    return error ? error.message() : std::strerror(errno);
  }
  if (access(target.c_str(), W_OK) != 0) {  // renaming would not mind
    return std::strerror(errno);
  }
  std::string beside = target + ".XXXXXX";
  const int file = mkstemp(beside.data());
  if (file < 0) {
    return std::strerror(errno);
  }
  constexpr mode_t kPermissions = 07777;
  const bool whole = write_whole(file, text) && fchmod(file, status.st_mode & kPermissions) == 0 &&
                     fsync(file) == 0;
  const bool closed = close(file) == 0;
  if (!whole || !closed || std::rename(beside.c_str(), target.c_str()) != 0) {
    std::string why = std::strerror(errno);
    unlink(beside.c_str());
    return why;
  }
  return "";
}

}  // namespace mtf
