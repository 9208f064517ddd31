#include "frontend/driver/originals/original.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "ir/support/file.h"

namespace mtf {
namespace {

namespace fs = std::filesystem;

bool have_same_bytes(const std::string& a, const std::string& b) {
  const PlainFile first(a);
  const PlainFile second(b);
  if (!first.problem().empty() || !second.problem().empty() || first.size() != second.size()) {
    return false;
  }
  std::vector<std::byte> of_first(1 << 16);
  std::vector<std::byte> of_second(1 << 16);
  for (std::int64_t at = 0; at < first.size(); at += static_cast<std::int64_t>(of_first.size())) {
    const auto left = static_cast<std::size_t>(first.size() - at);
    of_first.resize(std::min(of_first.size(), left));
    of_second.resize(of_first.size());
    if (!first.read(at, of_first) || !second.read(at, of_second) || of_first != of_second) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string full_path(const std::string& path) {
  std::error_code error;
  const fs::path full = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : full.string();
}

// "SIZE lines|whole|new", KEPT_AS and PATH, each ended by a zero, which no path has.
std::string to_text(const Original& original) {
  const std::string kind = !original.size ? "new" : original.gets_lines ? "lines" : "whole";
  return std::to_string(original.size.value_or(0)) + " " + kind + '\0' + original.kept_as + '\0' +
         original.path + '\0';
}

std::vector<Original> originals_in(std::string_view list) {
  std::vector<Original> originals;
  std::istringstream texts{std::string(list)};
  std::string what;
  std::string kept_as;
  std::string path;
  while (std::getline(texts, what, '\0') && std::getline(texts, kept_as, '\0') &&
         std::getline(texts, path, '\0') && !texts.eof()) {  // that is written to its end
    const bool is_new = what.ends_with(" new");
    const std::uintmax_t size = std::strtoull(what.c_str(), nullptr, /*base=*/10);
    originals.push_back({.path = path,
                         .size = is_new ? std::nullopt : std::optional(size),
                         .gets_lines = what.ends_with(" lines"),
                         .kept_as = kept_as});
  }
  return originals;
}

bool is_changed(const Original& original) {
  std::error_code error;
  if (!original.size) {
    return fs::exists(original.path, error);
  }
  if (original.gets_lines) {
    const std::uintmax_t size = fs::file_size(original.path, error);
    return !error && size > *original.size;
  }
  return fs::exists(original.kept_as, error) &&
         !fs::equivalent(original.kept_as, original.path, error) &&
         !have_same_bytes(original.kept_as, original.path);
}

std::error_code put_back(const Original& original) {
  std::error_code error;
  if (!original.size) {
    fs::remove(original.path, error);
  } else if (original.gets_lines) {
    const bool is_longer = fs::file_size(original.path, error) != *original.size;
    if (is_longer) {
      fs::resize_file(original.path, *original.size, error);
    }
  } else {
    fs::rename(original.kept_as, original.path, error);
    if (error == std::errc::cross_device_link) {
      const std::string whole = beside(original.path);
      fs::copy_file(original.kept_as, whole, fs::copy_options::overwrite_existing, error);
      if (!error) {
        fs::rename(whole, original.path, error);
      }
    }
  }
  return error;
}

}  // namespace mtf
