#include "stdlib/ops/source/npy.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/support/file.h"
#include "ir/support/files/file_form.h"
#include "runtime/vector_math/unsigned.h"
#include "stdlib/ops/source/npy_header.h"

namespace mtf {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint32_t kMaxHeader = 1U << 16U;
// Elements of the array; nullopt beyond what can be counted.
std::optional<std::int64_t> volume_of(const std::vector<std::int64_t>& sizes) {
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    dims.push_back({.name = std::to_string(i), .size = sizes[i]});
  }
  return Shape(std::move(dims)).checked_volume();
}

bool read_bytes(int file, std::int64_t at, std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got =
        ::pread(file, out.data() + done, out.size() - done, at + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    done += static_cast<std::size_t>(got);
  }
  return true;
}

constexpr const char* kUnknown = "is not a .npy file";
constexpr const char* kCut = "ends within its header";

// What begins otherwise is.
std::string other_file(std::span<const std::byte> start) {
  constexpr std::string_view kArchive = "PK\x03\x04";
  if (std::memcmp(start.data(), kArchive.data(), kArchive.size()) == 0) {
    return "is an archive of several arrays (.npz); `numpy.save(\"x.npy\", "
           "numpy.load(\"x.npz\")[\"NAME\"])` takes one out";
  }
  const std::string form = form_of(start.first(kFormBytes));
  return form.empty() ? kUnknown : form;
}

NpyInfo read_header(int file, std::int64_t file_size) {
  std::array<unsigned char, 12> start{};
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(start));
  const std::size_t there = std::min(bytes.size(), static_cast<std::size_t>(file_size));
  if (!read_bytes(file, 0, bytes.first(there)) ||
      std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    return {.problem = other_file(bytes)};
  }
  const bool small = start[6] == 1;
  if (there > kMagic.size() && (start[6] < 1 || start[6] > 3)) {
    return {.problem = "is in version " + std::to_string(start[6]) +
                       " of NumPy's format; what can be read is 1, 2 and 3"};
  }
  if (there < (small ? 10 : bytes.size())) {
    return {.problem = kCut};
  }
  std::uint32_t length = start[8] + (std::uint32_t{start[9]} << 8U);
  if (!small) {
    length += (std::uint32_t{start[10]} << 16U) + (std::uint32_t{start[11]} << 24U);
  }
  const std::int64_t begin = small ? 10 : 12;
  if (length > kMaxHeader) {
    return {.problem = "has a header of " + std::to_string(length) + " bytes, more than the " +
                       std::to_string(kMaxHeader) + " that are read"};
  }
  if (begin + std::int64_t{length} > file_size) {
    return {.problem = kCut};
  }
  std::string dict(length, ' ');
  if (!read_bytes(file, begin, std::as_writable_bytes(std::span(dict)))) {
    return {.problem = kUnknown};
  }
  NpyInfo info = parse_npy_dict(dict);
  info.data_begin = begin + length;
  const std::int64_t room =
      (file_size - info.data_begin) / std::max<std::int64_t>(1, info.stored_bytes);
  if (info.problem.empty() && room < volume_of(info.sizes).value_or(INT64_MAX)) {
    info.problem = "is shorter than the " + to_string(info.sizes) + " elements it announces";
  }
  return info;
}

std::string header_text(const TensorType& type) {
  std::string dict = npy_dict(type);
  constexpr std::size_t kAlign = 64;
  const std::size_t used = kMagic.size() + 4 + dict.size() + 1;
  dict += std::string((kAlign - used % kAlign) % kAlign, ' ') + "\n";
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(dict.size() & 0xFFU),
             static_cast<char>(dict.size() >> 8U)};
  return header + dict;
}

}  // namespace

std::string to_string(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) {
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  return "[" + text + "]";
}

NpyFile::NpyFile(const std::string& path) {
  struct stat status {};
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0 || ::fstat(file_, &status) != 0) {
    info_.missing = errno == ENOENT;
    info_.problem = std::string("cannot be opened: ") + std::strerror(errno);
    return;
  }
  if (!S_ISREG(status.st_mode)) {
    info_.problem = "is not a file";
    return;
  }
  info_ = read_header(file_, status.st_size);
}

NpyFile::~NpyFile() {
  if (file_ >= 0) {
    ::close(file_);
  }
}

bool NpyFile::read_stored(std::int64_t first, std::span<std::byte> out) const {
  if (!read_bytes(file_, info_.data_begin + first * info_.stored_bytes, out)) {
    return false;
  }
  for (auto at = out.begin(); info_.is_big_endian && at != out.end(); at += info_.stored_bytes) {
    std::reverse(at, at + info_.stored_bytes);
  }
  return true;
}

std::string NpyFile::read(std::int64_t first, std::span<std::byte> out) const {
  constexpr const char* kEnded = "ended while it was read";
  if (!info_.is_unsigned) {
    return read_stored(first, out) ? "" : kEnded;
  }
  const std::size_t count = out.size() / bytes_of(info_.dtype);
  std::vector<std::byte> stored(count * static_cast<std::size_t>(info_.stored_bytes));
  if (!read_stored(first, stored)) {
    return kEnded;
  }
  const std::string problem = widen_unsigned(info_.stored_bytes, stored, first, out.data());
  return problem.empty() ? "" : problem + "; `.astype(\"<f8\")` makes it readable, rounded";
}

std::string write_npy(const std::string& path, const TensorType& type,
                      std::span<const std::byte> data) {
  std::string other =
      is_device(path) ? "it is not a file" : another_there(path, std::array{kMagic}, ".npy file");
  if (!other.empty()) {
    return other;
  }
  const auto write = [&](std::ostream& out) {
    out << header_text(type);
    out.write(reinterpret_cast<const char*>(data.data()),
              static_cast<std::streamsize>(data.size()));
  };
  return replace_file(path, write);
}

std::string write_npy_row(const std::string& path, DType dtype,
                          const std::function<void(const PutElements&)>& produce) {
  const auto header = [dtype](std::int64_t count) {
    return header_text({dtype, Shape({{.name = "row", .size = count}})});
  };
  return replace_file(path, [&](std::ostream& out) {
    std::size_t bytes = 0;
    out << header(INT64_MAX);  // as long as that of any count
    produce([&](std::span<const std::byte> piece) {
      out.write(reinterpret_cast<const char*>(piece.data()),
                static_cast<std::streamsize>(piece.size()));
      bytes += piece.size();
    });
    out.seekp(0);
    out << header(static_cast<std::int64_t>(bytes / bytes_of(dtype)));
  });
}

}  // namespace mtf
