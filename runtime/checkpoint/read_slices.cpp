// Slices of a tensor from its file. Runs that lie close together are read in one piece.

#include <algorithm>
#include <cstring>

#include "runtime/checkpoint/read.h"
#include "runtime/checkpoint/slice_place.h"

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

struct Reading {
  const PlainFile& file;
  std::int64_t begin;
  std::int64_t end;
  DType from;
  DType to;
  ConvertElements convert;

  bool read(const SlicePlace& place, std::byte* out) const {
    constexpr std::int64_t kPiece = std::int64_t{1} << 20;
    const auto width = static_cast<std::int64_t>(bytes_of(from));
    const auto wide = static_cast<std::int64_t>(bytes_of(to));
    Window window(file, begin, end);
    std::vector<std::byte> piece;
    bool is_read = true;
    place.runs(0, end - begin, [&](std::int64_t at, std::int64_t in_slice, std::int64_t bytes) {
      if (from == to) {
        is_read = is_read && window.read(at, bytes, out + in_slice);
        return;
      }
      for (std::int64_t i = 0; is_read && i < bytes; i += kPiece) {
        const std::int64_t count = std::min(kPiece, bytes - i);
        piece.resize(static_cast<std::size_t>(count));
        is_read = window.read(at + i, count, piece.data());
        convert(from, to, piece.data(), static_cast<std::size_t>(count / width),
                out + (in_slice + i) / width * wide);
      }
    });
    return is_read;
  }
};

}  // namespace

bool CheckpointFile::read(std::string_view name, const Communicator& communicator, const Mesh& mesh,
                          ConvertElements convert, RankTensor& tensor) const {
  const Place& place = places_.find(name)->second;
  const Part& part = parts_[place.part];
  const FileTensor& stored = part.header.tensors[place.tensor];
  const Reading reading{.file = *part.file,
                        .begin = part.header.data_begin + stored.begin,
                        .end = part.header.data_begin + stored.end,
                        .from = *dtype_of_word(stored.dtype),
                        .to = tensor.type.dtype,
                        .convert = convert};
  const TensorType in_file{.dtype = reading.from, .shape = tensor.type.shape};
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    const Slice slice = slice_of(in_file.shape, tensor.layout, mesh, communicator.local_ranks()[i]);
    if (!reading.read(SlicePlace(in_file, slice), tensor.parts[i].data())) {
      return false;
    }
  }
  return true;
}

}  // namespace mtf
