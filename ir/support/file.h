// Files. They are written whole or not at all: beside their place, then renamed, so that whatever
// ends the program leaves what was there. They are read as far as they reach: nothing is allocated
// by their word.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

namespace mtf {

using WriteText = std::function<void(std::ostream&)>;

// Whether it is there and neither a file nor a folder: a device, a pipe that may wait for a reader.
[[nodiscard]] bool is_device(const std::string& path);
// The file that a path names, behind symbolic links, also if it is not there yet. Of links in a
// ring, one of them.
[[nodiscard]] std::string behind_links(std::string path);
// Where a file is written until it is whole.
[[nodiscard]] std::string beside(const std::string& place);
// All of it, or errno; 0: it was written.
[[nodiscard]] int write_all(int file, std::span<const std::byte> bytes);
[[nodiscard]] int write_all_at(int file, std::span<const std::byte> bytes, std::int64_t at);
// Whole or not at all, also if the power goes. What was there leaves its permissions, and a link
// stays one: the file that it names is replaced. A pipe or /dev/null is written as it is. "" or why
// it failed.
[[nodiscard]] std::string replace_file(const std::string& place, const WriteText& write);
[[nodiscard]] std::string replace_file(const std::string& place, std::string_view text);
// "" or why a file of ours is not put there: one is that begins with none of these and is not
// empty.
[[nodiscard]] std::string another_there(const std::string& place,
                                        std::span<const std::string_view> openings,
                                        std::string_view kind);
// The same in a folder that is made if it is not there.
[[nodiscard]] std::string put_file(const std::string& place, std::string_view text);
// An SVG, where nothing else is.
[[nodiscard]] std::string put_picture(const std::string& place, std::string_view svg);
// Of a small file of our own; nullopt if it cannot be read.
[[nodiscard]] std::optional<std::string> text_of(const std::string& path);

// Behind the path of a checkpoint of several files: the file that names them.
inline constexpr std::string_view kIndexSuffix = ".index.json";
// Whether a file, a folder, or a checkpoint of several files is there.
[[nodiscard]] bool is_in_place(const std::string& path);

// mtf's own folder among the user's, by the rules of freedesktop.org: user_folder("XDG_CACHE_HOME",
// "/.cache"); "": there is none.
[[nodiscard]] std::string user_folder(const char* variable, std::string_view in_home);

// A new folder among the temporary files, as long as this is there.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  [[nodiscard]] bool is_made() const { return is_made_; }
  [[nodiscard]] const std::string& path() const { return path_; }  // or where it could not be made

 private:
  std::string path_;
  bool is_made_ = false;
};

// A line at the end of the file, which is made if it is not there: all of it or nothing. Returns ""
// or what went wrong.
[[nodiscard]] std::string append_line(const std::string& path, std::string_view line);
[[nodiscard]] std::string append_bytes(const std::string& path, std::string_view bytes);

// A file that is open for reading; closed when it goes.
class PlainFile {
 public:
  explicit PlainFile(const std::string& path);
  ~PlainFile();
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  PlainFile(PlainFile&&) = delete;
  PlainFile& operator=(PlainFile&&) = delete;

  [[nodiscard]] const std::string& problem() const { return problem_; }  // "" or why it is not open
  [[nodiscard]] std::int64_t size() const { return size_; }
  // False if the file ends before.
  [[nodiscard]] bool read(std::int64_t first, std::span<std::byte> out) const;

 private:
  int file_ = -1;
  std::int64_t size_ = 0;
  std::string problem_;
};

}  // namespace mtf
