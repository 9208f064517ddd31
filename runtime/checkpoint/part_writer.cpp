#include "runtime/checkpoint/part_writer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include "ir/layout/line.h"
#include "ir/support/file.h"
#include "ir/support/number.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/notes.h"
#include "runtime/checkpoint/read.h"

namespace mtf {
namespace {

// Whether no rank with a lower number has the same slice.
bool is_first_holder(const ValueLayout& layout, const Mesh& mesh, std::int64_t rank) {
  const std::vector<std::int64_t> place = mesh.coordinates(rank);
  for (std::size_t axis = 0; axis < place.size(); ++axis) {
    if (place[axis] != 0 && !layout.uses(static_cast<AxisId>(axis))) {
      return false;
    }
  }
  return holds(layout, mesh, rank);
}

}  // namespace

PartWriter::PartWriter(Communicator& communicator, const Mesh& mesh,
                       std::span<const NamedTensor> tensors, SafetensorsHeader header)
    : communicator_(communicator), tensors_(tensors), header_(std::move(header)) {
  for (const NamedTensor& named : tensors_) {
    const RankTensor& tensor = *named.tensor;
    std::vector<Holder>& holders = holders_.emplace_back();
    for (std::int64_t rank = 0; rank < communicator_.ranks(); ++rank) {
      if (is_first_holder(tensor.layout, mesh, rank)) {
        const Slice slice = slice_of(tensor.type.shape, tensor.layout, mesh, rank);
        const auto width = static_cast<std::int64_t>(bytes_of(tensor.type.dtype));
        holders.push_back({.rank = rank, .place = SlicePlace(tensor.type.shape, width, slice)});
      }
    }
  }
  data_bytes_ = header_.tensors.empty() ? 0 : header_.tensors.back().end;
  chunks_ = (data_bytes_ + kChunk - 1) / kChunk;
  sums_.resize(static_cast<std::size_t>(chunks_));
  header_.notes[std::string(notes::kChunk)] = std::to_string(kChunk);
  header_.notes[std::string(notes::kSums)] = std::string(sums_.size() * 16, '0');
  header_.notes[std::string(notes::kHeaderSum)] = std::string(16, '0');
  header_.data_begin = static_cast<std::int64_t>(header_bytes(header_).size());
}

PartWriter::Range PartWriter::chunk(std::int64_t number) const {
  return {.begin = number * kChunk, .end = std::min((number + 1) * kChunk, data_bytes_)};
}

// Calls f(tensor, place in the range, place in the slice, bytes) for what the rank has of it.
template <typename F>
void PartWriter::each_run(std::int64_t rank, Range range, F&& f) const {
  const auto first = std::ranges::partition_point(
      header_.tensors, [&](const FileTensor& tensor) { return tensor.end <= range.begin; });
  for (auto at = first; at != header_.tensors.end() && at->begin < range.end; ++at) {
    const auto number = static_cast<std::size_t>(at - header_.tensors.begin());
    const auto holder = std::ranges::lower_bound(holders_[number], rank, {}, &Holder::rank);
    if (holder == holders_[number].end() || holder->rank != rank) {
      continue;
    }
    holder->place.runs(range.begin - at->begin, range.end - at->begin,
                       [&](std::int64_t in_tensor, std::int64_t in_slice, std::int64_t bytes) {
                         f(number, at->begin + in_tensor - range.begin, in_slice, bytes);
                       });
  }
}

const std::byte* PartWriter::slice(std::size_t tensor, std::size_t local) const {
  return tensors_[tensor].tensor->parts[local].data();
}

void PartWriter::put(std::int64_t number, std::span<const std::byte> bytes) {
  sums_[static_cast<std::size_t>(number)] = hex16(xxh64(bytes));
  if (problem_.empty()) {
    const int error = write_all_at(file_, bytes, header_.data_begin + number * kChunk);
    problem_ = error == 0 ? "" : std::strerror(error);
  }
}

void PartWriter::round_of_one_process(std::int64_t number) {
  const Range range = chunk(number);
  std::vector<std::byte> bytes(static_cast<std::size_t>(range.end - range.begin));
  const std::span<const std::int64_t> ranks = communicator_.local_ranks();
  for (std::size_t local = 0; local < ranks.size(); ++local) {
    each_run(ranks[local], range,
             [&](std::size_t tensor, std::int64_t at, std::int64_t in_slice, std::int64_t count) {
               std::memcpy(bytes.data() + at, slice(tensor, local) + in_slice,
                           static_cast<std::size_t>(count));
             });
  }
  put(number, bytes);
}

// As many chunks as there are ranks: rank i puts the one behind the first i together.
void PartWriter::round_of_many(std::int64_t first) {
  const std::int64_t me = communicator_.local_ranks().front();
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received(static_cast<std::size_t>(communicator_.ranks()));
  Mail mail;
  for (std::int64_t i = 0; i < communicator_.ranks() && first + i < chunks_; ++i) {
    std::vector<std::byte>& packed = sent.emplace_back();
    each_run(
        me, chunk(first + i),
        [&](std::size_t tensor, std::int64_t /*at*/, std::int64_t in_slice, std::int64_t count) {
          const std::byte* data = slice(tensor, 0) + in_slice;
          packed.insert(packed.end(), data, data + count);
        });
    if (i != me && !packed.empty()) {
      mail.sent.push_back(
          {.member = i, .data = packed.data(), .bytes = static_cast<std::int64_t>(packed.size())});
    }
  }
  const bool has_chunk = first + me < chunks_;
  const Range mine = has_chunk ? chunk(first + me) : Range{};
  for (std::int64_t rank = 0; has_chunk && rank < communicator_.ranks(); ++rank) {
    std::int64_t bytes = 0;
    each_run(rank, mine,
             [&](std::size_t /*tensor*/, std::int64_t /*at*/, std::int64_t /*in_slice*/,
                 std::int64_t count) { bytes += count; });
    std::vector<std::byte>& packed = received[static_cast<std::size_t>(rank)];
    if (rank != me && bytes > 0) {
      packed.resize(static_cast<std::size_t>(bytes));
      mail.received.push_back({.member = rank, .data = packed.data(), .bytes = bytes});
    }
  }
  const Group& all = communicator_.group(all_in_line(communicator_.ranks()), {0});
  communicator_.post(all, {&mail, 1});
  communicator_.await();
  if (!has_chunk) {
    return;
  }
  received[static_cast<std::size_t>(me)] = std::move(sent[static_cast<std::size_t>(me)]);
  std::vector<std::byte> bytes(static_cast<std::size_t>(mine.end - mine.begin));
  for (std::int64_t rank = 0; rank < communicator_.ranks(); ++rank) {
    const std::byte* packed = received[static_cast<std::size_t>(rank)].data();
    each_run(rank, mine,
             [&](std::size_t /*tensor*/, std::int64_t at, std::int64_t /*in_slice*/,
                 std::int64_t count) {
               std::memcpy(bytes.data() + at, packed, static_cast<std::size_t>(count));
               packed += count;
             });
  }
  put(first + me, bytes);
}

std::string PartWriter::write(int file, std::string problem) {
  file_ = file;
  problem_ = std::move(problem);
  const std::int64_t ranks = communicator_.ranks();
  const bool has_all = communicator_.has_all_ranks();
  for (std::int64_t i = 0; has_all && i < chunks_; ++i) {
    round_of_one_process(i);
  }
  for (std::int64_t i = 0; !has_all && i < chunks_; i += ranks) {
    round_of_many(i);
  }
  if (problem_.empty() && ::fsync(file_) != 0) {
    problem_ = std::strerror(errno);
  }
  if (!has_all) {
    std::string mine;
    for (const std::string& sum : sums_) {
      mine += sum;
    }
    const std::array<std::string, 1> local = {mine};
    const std::vector<std::string> all = communicator_.share(local);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const auto count = static_cast<std::size_t>(ranks);
      sums_[i] = all[i % count].substr(i / count * 16, 16);
    }
  }
  return first_problem(communicator_, problem_);
}

std::string PartWriter::header() const {
  SafetensorsHeader header = header_;
  std::string& sums = header.notes[std::string(notes::kSums)];
  sums.clear();
  for (const std::string& sum : sums_) {
    sums += sum;
  }
  const std::string bytes = header_bytes(header);
  const std::string_view json = std::string_view(bytes).substr(8);
  header.notes[std::string(notes::kHeaderSum)] =
      hex16(xxh64(std::as_bytes(std::span(json.data(), json.size()))));
  return header_bytes(header);
}

}  // namespace mtf
