// Slices of a tensor from its file. Runs that lie close together are read in one piece.

#include <algorithm>
#include <cstring>

#include "ir/support/diag.h"
#include "runtime/checkpoint/read.h"
#include "runtime/checkpoint/slice_place.h"
#include "runtime/vector_math/unsigned.h"

namespace mtf {
namespace {

// Bytes of one tensor, asked for from the front to the back.
class Window {
 public:
  Window(const PlainFile& file, std::int64_t begin, std::int64_t end)
      : file_(file), begin_(begin), end_(end) {}

  // False if the file ends before. `at`: in the tensor.
  bool read(std::int64_t at, std::int64_t bytes, std::byte* out) {
    const bool is_far = at - last_ > kNear;
    last_ = at + bytes;
    if (bytes >= kNear || is_far) {
      return file_.read(begin_ + at, {out, static_cast<std::size_t>(bytes)});
    }
    const auto held = static_cast<std::int64_t>(held_.size());
    if (at < from_ || at + bytes > from_ + held) {
      from_ = at;
      held_.resize(static_cast<std::size_t>(std::min(kWindow, end_ - begin_ - at)));
      if (!file_.read(begin_ + at, held_)) {
        return false;
      }
    }
    std::memcpy(out, held_.data() + (at - from_), static_cast<std::size_t>(bytes));
    return true;
  }

 private:
  static constexpr std::int64_t kNear = std::int64_t{1} << 14;
  static constexpr std::int64_t kWindow = std::int64_t{1} << 18;

  const PlainFile& file_;
  std::int64_t begin_;  // of the tensor, in the file
  std::int64_t end_;
  std::int64_t last_ = 0;  // where the last run ended
  std::int64_t from_ = 0;  // what is held begins
  std::vector<std::byte> held_;
};

constexpr const char* kEnded = "ended while it was read";

struct Source {
  const PlainFile& file;
  std::string_view name;
  std::int64_t begin;
  std::int64_t end;
  StoredType from;
  DType to;
  ConvertElements convert;
};

class Reading : private Source {
 public:
  explicit Reading(const Source& source) : Source(source) {}

  // "" or what is wrong with the file.
  std::string read(const SlicePlace& place, std::byte* out) {
    const auto wide = static_cast<std::int64_t>(bytes_of(to));
    Window window(file, begin, end);
    std::string problem;
    place.runs(0, end - begin, [&](std::int64_t at, std::int64_t in_slice, std::int64_t bytes) {
      if (problem.empty()) {
        std::byte* const place_of_run = out + in_slice / from.bytes * wide;
        problem = is_as_stored() ? (window.read(at, bytes, place_of_run) ? "" : kEnded)
                                 : read_converted(window, at, bytes, place_of_run);
      }
    });
    return problem;
  }

 private:
  // Bools of another program may be other bytes than 0 and 1.
  [[nodiscard]] bool is_as_stored() const {
    return from.dtype == to && !from.is_unsigned && to != DType::kBool;
  }

  std::string read_converted(Window& window, std::int64_t at, std::int64_t bytes, std::byte* out) {
    constexpr std::int64_t kPiece = std::int64_t{1} << 20;
    for (std::int64_t i = 0; i < bytes; i += kPiece) {
      piece_.resize(static_cast<std::size_t>(std::min(kPiece, bytes - i)));
      if (!window.read(at + i, static_cast<std::int64_t>(piece_.size()), piece_.data())) {
        return kEnded;
      }
      const std::size_t count = piece_.size() / static_cast<std::size_t>(from.bytes);
      if (from.is_unsigned) {
        wider_.resize(count * bytes_of(from.dtype));
        const std::string problem =
            widen_unsigned(from.bytes, piece_, (at + i) / from.bytes, wider_.data());
        if (!problem.empty()) {
          return "cannot be restored: " + in_backticks(name) + " " + problem +
                 "; stored as F64 it can be read, rounded";
        }
        piece_.swap(wider_);
      }
      convert(from.dtype, to, piece_.data(), count, out);
      out += count * bytes_of(to);
    }
    return "";
  }

  std::vector<std::byte> piece_;  // of the file
  std::vector<std::byte> wider_;
};

}  // namespace

std::string CheckpointFile::read(std::string_view name, const Communicator& communicator,
                                 const Mesh& mesh, ConvertElements convert,
                                 RankTensor& tensor) const {
  const Place& place = places_.find(name)->second;
  const Part& part = parts_[place.part];
  const FileTensor& stored = part.header.tensors[place.tensor];
  const Source source{.file = *part.file,
                      .name = name,
                      .begin = part.header.data_begin + stored.begin,
                      .end = part.header.data_begin + stored.end,
                      .from = *stored_type(stored.dtype),
                      .to = tensor.type.dtype,
                      .convert = convert};
  Reading reading(source);
  const Shape& shape = tensor.type.shape;
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    const Slice slice = slice_of(shape, tensor.layout, mesh, communicator.local_ranks()[i]);
    std::string problem =
        reading.read(SlicePlace(shape, source.from.bytes, slice), tensor.parts[i].data());
    if (!problem.empty()) {
      return problem;
    }
  }
  return "";
}

}  // namespace mtf
