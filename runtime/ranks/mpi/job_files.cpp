#include "runtime/ranks/mpi/job_files.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace mtf {
namespace {

std::optional<std::string> path_of(std::string_view name) {
  const char* folder = std::getenv("PMIX_SERVER_TMPDIR");
  const char* job = std::getenv("PMIX_NAMESPACE");
  if (folder == nullptr || job == nullptr) {
    return std::nullopt;
  }
  return std::string(folder) + "/mtf_" + std::string(name) + "_" + job;
}

}  // namespace

bool is_first_here(std::string_view name) {
  const std::optional<std::string> path = path_of(name);
  if (!path) {
    return true;
  }
  const int file = open(path->c_str(), O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR);
  if (file >= 0) {
    ::close(file);
  }
  return file >= 0 || (errno != EEXIST && errno != ENOENT);  // the folder goes when the job ends
}

void append_to_job_file(std::string_view name, std::string_view line) {
  const std::optional<std::string> path = path_of(name);
  const int file =
      path ? open(path->c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR) : -1;
  if (file < 0) {
    return;
  }
  const std::string text = std::string(line) + "\n";
  [[maybe_unused]] const ssize_t written = write(file, text.data(), text.size());
  ::close(file);
}

std::string read_job_file(std::string_view name) {
  const std::optional<std::string> path = path_of(name);
  if (!path) {
    return "";
  }
  std::ifstream file(*path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void remove_job_file(std::string_view name) {
  if (const std::optional<std::string> path = path_of(name)) {
    unlink(path->c_str());
  }
}

}  // namespace mtf
