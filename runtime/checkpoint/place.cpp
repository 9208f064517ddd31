#include "runtime/checkpoint/place.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/support/file.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

std::string name_of(const std::string& path) {
  return fs::path(path).filename().string();
}

// The files of the folder, by name.
std::vector<std::string> names_beside(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder_of(path), error), end; !error && at != end;
       at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

constexpr std::string_view kTemporary = ".tmp";
constexpr std::string_view kDefaultSuffix = ".safetensors";
constexpr std::time_t kYoung = 5;  // seconds in which a file may not be held yet

// "step_7.safetensors.4711.tmp" of "step_7.safetensors"; "" for other names.
std::string place_of_temporary(const std::string& name) {
  if (!name.ends_with(kTemporary)) {
    return "";
  }
  const std::size_t end = name.size() - kTemporary.size();
  const std::size_t dot = end == 0 ? std::string::npos : name.rfind('.', end - 1);
  const bool has_process = dot != std::string::npos && dot + 1 < end &&
                           std::all_of(name.begin() + static_cast<std::ptrdiff_t>(dot) + 1,
                                       name.begin() + static_cast<std::ptrdiff_t>(end), is_digit);
  return has_process ? name.substr(0, dot) : "";
}

// "step_7.safetensors" of "step_7.safetensors.1", a part of it.
std::string_view without_number(std::string_view name) {
  const std::size_t end = name.find_last_not_of("0123456789");
  const bool has_number = end != std::string_view::npos && end + 1 < name.size();
  return has_number && name[end] == '.' ? name.substr(0, end) : name;
}

// Whether a file is no checkpoint and was none: it begins with something else than the length of a
// header and an object, and is not called one.
bool is_something_else(const std::string& path) {
  constexpr std::size_t kOpening = sizeof(std::uint64_t);
  std::array<std::byte, kOpening + 1> begin{};
  const PlainFile file(path);
  return file.problem().empty() && file.size() > 0 && !path.ends_with(kDefaultSuffix) &&
         !(file.read(0, begin) && begin[kOpening] == std::byte{'{'});
}

// A name around its last number. One without digits has none.
struct LastNumber {
  std::string_view before;
  std::string_view digits;
  std::string_view behind;
};
LastNumber last_number(std::string_view name) {
  static constexpr std::string_view kDigits = "0123456789";
  const std::size_t end = name.find_last_of(kDigits) + 1;
  const std::size_t begin = end == 0 ? 0 : name.find_last_not_of(kDigits, end - 1) + 1;
  return {.before = name.substr(0, begin),
          .digits = name.substr(begin, end - begin),
          .behind = name.substr(end)};
}

// Whether the last number of a name is the greater one, of however many digits.
bool has_greater_number(std::string_view name, std::string_view other) {
  const auto number = [](std::string_view text) {
    const std::string_view digits = last_number(text).digits;
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
  };
  const std::string_view one = number(name);
  const std::string_view two = number(other);
  return one.size() != two.size() ? one.size() > two.size() : one > two;
}

// Nobody holds it: its writer is no more.
bool is_abandoned(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) {
    return false;
  }
  struct stat status {};
  const bool is_free = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                       std::time(nullptr) - status.st_mtime > kYoung &&
                       ::flock(file, LOCK_EX | LOCK_NB) == 0;
  ::close(file);
  return is_free;
}

// Also those that links lead to, which std::filesystem takes for files in the way.
std::error_code make_folders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) {
    return {};
  }
  const fs::path to = behind_links(folder.string());
  const fs::file_status there = fs::symlink_status(to, error);
  if (fs::exists(there)) {  // a ring of links, or a file in the way
    return std::make_error_code(fs::is_symlink(there) ? std::errc::too_many_symbolic_link_levels
                                                      : std::errc::not_a_directory);
  }
  error = make_folders(to.parent_path());
  if (!error) {
    fs::create_directory(to, error);
  }
  return error;
}

}  // namespace

std::string make_place(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return fs::is_directory(status) ? "it is a folder" : "it is not a file";
  }
  if (name_of(path).empty()) {
    return "it names no file";
  }
  if (is_something_else(path)) {
    return "another file is there, which is no checkpoint; remove it first, or save under another "
           "name";
  }
  error = make_folders(folder_of(path));
  return error ? error.message() : "";
}

TemporaryFile make_temporary(const std::string& place) {
  TemporaryFile made;
  made.path = place + "." + std::to_string(::getpid()) + std::string(kTemporary);
  ::unlink(made.path.c_str());
  made.file = ::open(made.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (made.file < 0) {
    made.problem = std::strerror(errno);
  } else {
    static_cast<void>(::flock(made.file, LOCK_EX | LOCK_NB));
  }
  return made;
}

void remove_abandoned(const std::string& place) {
  const std::string own = name_of(place);
  for (const std::string& name : names_beside(place)) {
    const std::string of = place_of_temporary(name);
    const bool is_like_ours = is_sibling(of, own) || is_sibling(without_number(of), own);
    if (!of.empty() && is_like_ours && is_abandoned(beside_file(place, name))) {
      ::unlink(beside_file(place, name).c_str());
    }
  }
}

std::string sync_folder_of(const std::string& path) {
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) {
    return std::strerror(errno);
  }
  const bool is_synced = ::fsync(folder) == 0 || errno == EINVAL;
  std::string problem = is_synced ? "" : std::strerror(errno);
  ::close(folder);
  return problem;
}

bool is_sibling(std::string_view name, std::string_view other) {
  const LastNumber one = last_number(name);
  const LastNumber two = last_number(other);
  return name == other || (!one.digits.empty() && !two.digits.empty() && one.before == two.before &&
                           one.behind == two.behind);
}

bool has_number(const std::string& path) {
  return !last_number(name_of(path)).digits.empty();
}

std::vector<std::string> siblings(const std::string& path) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> found;  // when they were written
  const std::string own = name_of(path);
  for (const std::string& name : names_beside(path)) {
    std::string place = name;
    if (place.ends_with(kIndexSuffix)) {
      place.resize(place.size() - kIndexSuffix.size());
    }
    struct stat status {};
    if (is_sibling(place, own) && ::stat(beside_file(path, name).c_str(), &status) == 0 &&
        S_ISREG(status.st_mode)) {
      auto& when = found[place];
      when = std::max(when, {status.st_mtim.tv_sec, status.st_mtim.tv_nsec});
    }
  }
  std::vector<std::string> places;
  places.reserve(found.size());
  for (const auto& [place, when] : found) {
    places.push_back(place);
  }
  // Disks may have one time for all that is written within some milliseconds, or seconds.
  std::ranges::stable_sort(places, [&](const std::string& a, const std::string& b) {
    return found.at(a) != found.at(b) ? found.at(a) > found.at(b) : has_greater_number(a, b);
  });
  for (std::string& place : places) {
    place = place == own ? path : beside_file(path, place);
  }
  return places;
}

std::string part_name(const std::string& path, std::string_view kind, std::size_t part,
                      std::size_t parts) {
  const auto number = [](std::size_t n) {
    const std::string digits = std::to_string(n);
    return std::string(5 - std::min<std::size_t>(digits.size(), 5), '0') + digits;
  };
  std::string stem = name_of(path);
  if (stem.ends_with(kDefaultSuffix)) {
    stem.resize(stem.size() - kDefaultSuffix.size());
  }
  return stem + "-" + std::string(kind) + "-" + number(part) + "-of-" + number(parts) +
         std::string(kDefaultSuffix);
}

std::string beside_file(const std::string& path, const std::string& name) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? name : (folder / name).string();
}

}  // namespace mtf
