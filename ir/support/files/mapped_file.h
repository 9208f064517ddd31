// A part of a file as memory that is only read: its pages are fetched when they are touched, and
// all processes of a machine share them.
//
// To touch what a file no longer has would end the process (SIGBUS). Here such pages become zeros,
// and `change` says so: who reads asks it before anything is done with what was read.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mtf {

class MappedFile {
 public:
  // Bytes [first, first + bytes). requires: bytes > 0
  MappedFile(const std::string& path, std::int64_t first, std::int64_t bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& problem() const {
    return problem_;
  }  // "" or why it is not there
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  // "" or what has become of the file since: "was cut short while it was in use".
  [[nodiscard]] std::string change() const;

 private:
  // What a file looks like from outside.
  struct Look {
    std::int64_t size = 0;
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;

    friend bool operator==(const Look&, const Look&) = default;
  };
  [[nodiscard]] bool look(Look& look) const;
  void map(std::int64_t first);

  std::string path_;
  std::string problem_;
  int file_ = -1;
  Look begun_;
  const std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  void* pages_ = nullptr;  // whole ones, around the data
  std::size_t page_bytes_ = 0;
  std::size_t place_ = 0;  // among those that are watched
};

}  // namespace mtf
