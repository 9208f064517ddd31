#include "frontend/driver/originals/left_originals.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/driver/originals/kept_copy.h"
#include "ir/support/diag.h"
#include "ir/support/file.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

// Whether somebody holds the lock on the list; not where there is none.
bool is_in_use(const std::string& list) {
  const int file = ::open(list.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return false;
  }
  const bool is_free = ::flock(file, LOCK_SH | LOCK_NB) == 0;
  ::close(file);
  return !is_free;
}

bool is_of_this_user(const fs::path& path) {
  struct stat facts = {};
  return lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid();
}

// A process that has just begun has no list yet.
bool is_new(const fs::path& path) {
  constexpr std::chrono::minutes kSettled{1};
  std::error_code error;
  return fs::file_time_type::clock::now() - fs::last_write_time(path, error) < kSettled;
}

std::string put_back_beside(const Original& original) {
  std::error_code error;
  std::string aside;
  if (fs::exists(original.path, error)) {
    aside = kept_copy(original.path, error);
  }
  if (!error) {
    error = put_back(original);
  }
  if (error) {
    return in_backticks(original.path) + " cannot be put back as it was: " + error.message() +
           (original.kept_as.empty() ? "" : "; it is kept as " + in_backticks(original.kept_as));
  }
  return in_backticks(original.path) + (original.size ? " is as it was" : " is away, as it was") +
         (aside.empty() ? "" : ", what the run left is " + in_backticks(aside));
}

}  // namespace

std::vector<LeftFolder> left_originals() {
  std::vector<LeftFolder> left;
  std::error_code error;
  const fs::path among = fs::temp_directory_path(error);
  for (fs::directory_iterator entry(among, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string list = (path / kOriginals).string();
    if (!path.filename().string().starts_with(kVerifyFolder) || !is_of_this_user(path) ||
        is_in_use(list)) {
      continue;
    }
    const std::optional<std::string> text = text_of(list);
    if (!text && is_new(path)) {
      continue;
    }
    std::vector<Original> originals = originals_in(text.value_or(""));
    std::erase_if(originals, [](const Original& original) { return !is_changed(original); });
    std::error_code ignored;
    left.push_back({.path = path.string(),
                    .is_listed = text.has_value() || fs::is_empty(path, ignored),
                    .changed = std::move(originals)});
  }
  return left;
}

bool is_left(std::span<const LeftFolder> folders, const std::string& full_path) {
  return std::ranges::any_of(folders, [&](const LeftFolder& folder) {
    return std::ranges::find(folder.changed, full_path, &Original::path) != folder.changed.end();
  });
}

std::vector<std::string> put_back(const LeftFolder& folder) {
  std::vector<std::string> said;
  for (const Original& original : folder.changed) {
    said.push_back(put_back_beside(original));
  }
  if (folder.is_listed && std::ranges::none_of(folder.changed, is_changed)) {
    std::error_code error;
    fs::remove_all(folder.path, error);
  }
  return said;
}

}  // namespace mtf
