#include "ir/support/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtf {
namespace {

std::string why() {
  return std::strerror(errno);
}

// Why no file could be made there.
std::string why_not_made(const std::string& place) {
  const int error = errno;
  const std::string folder = std::filesystem::path(place).parent_path().string();
  return error == ENOENT && !folder.empty()
             ? "there is no folder `" + folder + "`; `mkdir -p " + folder + "` makes it"
             : std::strerror(error);
}

// `put`: as ::write, of what is left.
template <typename F>
int put_all(std::span<const std::byte> bytes, const F& put) {
  while (!bytes.empty()) {
    const ssize_t written = put(bytes);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return written == 0 ? EIO : errno;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

// What is written in vain is taken back.
std::string write_at_end(int file, std::string_view text, off_t size) {
  const int error = write_all(file, std::as_bytes(std::span(text)));
  if (error == 0) {
    return "";
  }
  const std::string cause = std::strerror(error);
  return ::ftruncate(file, size) == 0 ? cause : cause + ", and part of the line stays there";
}

std::string write_file(const std::string& path, const WriteText& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  if (out) {
    write(out);
    out.close();
  }
  return out ? "" : std::strerror(errno == 0 ? EIO : errno);
}

// A file that is not whole yet, beside its place; removed if it does not come to that.
class Unfinished {
 public:
  // `before`: what is there; null: nothing.
  Unfinished(std::string place, const struct stat* before)
      : place_(std::move(place)), path_(beside(place_)) {
    constexpr mode_t kOurs = 0600;  // nobody else reads it before it has its permissions
    constexpr mode_t kAnyones = 0666;
    constexpr mode_t kPermissions = 07777;
    static_cast<void>(::unlink(path_.c_str()));  // of a process that was killed
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                   before == nullptr ? kAnyones : kOurs);
    if (before != nullptr) {
      permissions_ = before->st_mode & kPermissions;
    }
  }
  ~Unfinished() {
    if (file_ >= 0) {
      ::close(file_);
      ::unlink(path_.c_str());
    }
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  Unfinished(Unfinished&&) = delete;
  Unfinished& operator=(Unfinished&&) = delete;

  [[nodiscard]] std::string write(const WriteText& write) const {
    return file_ < 0 ? why_not_made(place_) : write_file(path_, write);
  }

  [[nodiscard]] std::string put_in_place() {
    const bool is_safe =
        (!permissions_ || ::fchmod(file_, *permissions_) == 0) && ::fsync(file_) == 0;
    if (!is_safe || std::rename(path_.c_str(), place_.c_str()) != 0) {
      return why();
    }
    ::close(std::exchange(file_, -1));
    return "";
  }

 private:
  std::string place_;
  std::string path_;
  int file_ = -1;
  std::optional<mode_t> permissions_;
};

}  // namespace

bool is_in_place(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ||
         std::filesystem::exists(path + std::string(kIndexSuffix), ignored);
}

bool is_device(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(path, ignored);
  return std::filesystem::exists(there) && !std::filesystem::is_regular_file(there) &&
         !std::filesystem::is_directory(there);
}

std::string behind_links(std::string path) {
  constexpr int kMost = 40;  // as Linux follows
  std::error_code error;
  for (int i = 0;
       i < kMost && std::filesystem::is_symlink(std::filesystem::symlink_status(path, error));
       ++i) {
    const std::filesystem::path to = std::filesystem::read_symlink(path, error);
    path = (std::filesystem::path(path).parent_path() / to).string();
  }
  return path;
}

std::string beside(const std::string& place) {
  return place + "." + std::to_string(getpid()) + ".tmp";
}

int write_all(int file, std::span<const std::byte> bytes) {
  return put_all(bytes, [file](std::span<const std::byte> left) {
    return ::write(file, left.data(), left.size());
  });
}

int write_all_at(int file, std::span<const std::byte> bytes, std::int64_t at) {
  const std::int64_t end = at + static_cast<std::int64_t>(bytes.size());
  return put_all(bytes, [file, end](std::span<const std::byte> left) {
    return ::pwrite(file, left.data(), left.size(), end - static_cast<std::int64_t>(left.size()));
  });
}

std::string replace_file(const std::string& place, const WriteText& write) {
  const std::string target = behind_links(place);
  struct stat before {};
  const bool is_there = ::lstat(target.c_str(), &before) == 0;
  struct stat reached {};
  const bool has_no_place = !is_there && ::stat(place.c_str(), &reached) == 0;  // behind /proc
  if (is_device(place) || has_no_place) {
    return write_file(place, write);  // renaming would put a file in the place of a device
  }
  if (is_there && !S_ISREG(before.st_mode)) {
    return std::strerror(S_ISDIR(before.st_mode) ? EISDIR : ELOOP);
  }
  if (is_there && ::access(target.c_str(), W_OK) != 0) {  // renaming would not mind
    return why();
  }
  Unfinished file(target, is_there ? &before : nullptr);
  std::string problem = file.write(write);
  return problem.empty() ? file.put_in_place() : problem;
}

std::string replace_file(const std::string& place, std::string_view text) {
  return replace_file(place, [text](std::ostream& out) { out << text; });
}

std::string another_there(const std::string& place, std::span<const std::string_view> openings,
                          std::string_view kind) {
  const PlainFile file(place);
  if (!file.problem().empty() || file.size() == 0) {
    return "";  // nothing is there, a device, or who writes finds out why not
  }
  const auto is_begun_by = [&](std::string_view opening) {
    std::string begin(opening.size(), ' ');
    return file.read(0, std::as_writable_bytes(std::span(begin))) && begin == opening;
  };
  return std::ranges::any_of(openings, is_begun_by)
             ? ""
             : "another file is there, which is no " + std::string(kind) +
                   "; remove it first, or take another name";
}

std::string put_file(const std::string& place, std::string_view text) {
  std::error_code problem;
  std::filesystem::create_directories(std::filesystem::path(place).parent_path(), problem);
  return problem ? problem.message() : replace_file(place, text);
}

std::string put_picture(const std::string& place, std::string_view svg) {
  constexpr std::array<std::string_view, 2> kOpenings = {"<svg", "<?xml"};
  std::string other = another_there(place, kOpenings, "picture");
  return other.empty() ? replace_file(place, svg) : other;
}

std::optional<std::string> text_of(const std::string& path) {
  std::error_code ignored;
  std::ifstream stream(path, std::ios::binary);
  return stream && !std::filesystem::is_directory(path, ignored)  // which opens, and is not read
             ? std::optional(std::string(std::istreambuf_iterator<char>(stream), {}))
             : std::nullopt;
}

std::string user_folder(const char* variable, std::string_view in_home) {
  const char* folder = std::getenv(variable);
  if (folder != nullptr && *folder == '/') {
    return std::string(folder) + "/mtf";
  }
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : home + std::string(in_home) + "/mtf";
}

TemporaryFolder::TemporaryFolder(std::string_view name) {
  std::error_code problem;
  path_ = (std::filesystem::temp_directory_path(problem) / (std::string(name) + "XXXXXX")).string();
  is_made_ = !problem && mkdtemp(path_.data()) != nullptr;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (is_made_) {
    std::filesystem::remove_all(path_, ignored);
  }
}

namespace {

// `is_line`: it ends, and so does one before it that was left open.
std::string append_to(const std::string& path, std::string_view bytes, bool is_line) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file < 0) {
    return why_not_made(path);
  }
  struct stat status {};
  std::string problem;
  std::string text(bytes);
  if (::fstat(file, &status) != 0) {
    problem = why();
  } else if (!S_ISREG(status.st_mode)) {
    problem = "it is not a file";
  } else {
    char last = '\n';
    const bool is_known = status.st_size == 0 || ::pread(file, &last, 1, status.st_size - 1) == 1;
    if (is_line) {
      text = (is_known && last != '\n' ? "\n" : "") + text + "\n";
    }
    problem = write_at_end(file, text, status.st_size);
  }
  const bool is_closed = ::close(file) == 0;
  return problem.empty() && !is_closed ? why() : problem;
}

}  // namespace

std::string append_line(const std::string& path, std::string_view line) {
  return append_to(path, line, /*is_line=*/true);
}

std::string append_bytes(const std::string& path, std::string_view bytes) {
  return append_to(path, bytes, /*is_line=*/false);
}

PlainFile::PlainFile(const std::string& path) {
  struct stat status {};
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0 || ::fstat(file_, &status) != 0) {
    problem_ = "cannot be opened: " + why();
  } else if (!S_ISREG(status.st_mode)) {
    problem_ = "is not a file";
  } else {
    size_ = status.st_size;
  }
}

PlainFile::~PlainFile() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

bool PlainFile::read(std::int64_t first, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t count = ::pread(file_, out.data(), out.size(), first);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return false;
    }
    first += count;
    out = out.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace mtf
