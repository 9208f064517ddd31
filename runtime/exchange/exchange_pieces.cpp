#include "runtime/exchange/exchange_pieces.h"

#include <algorithm>

#include "runtime/exchange/exchange.h"

namespace mtf {
namespace {

// Of a result that passes in pieces, what a rank works on at a time.
Slice piece_of(const Mesh& mesh, const PieceSpec& spec, const Stream& stream, std::int64_t rank,
               std::int64_t time) {
  Slice slice = slice_of(spec.type.shape, spec.to, mesh, rank);
  const Interval part = stream.part_of(slice.extent[spec.cut], stream.part_at(mesh, rank, time));
  slice.offset[spec.cut] += part.begin;
  slice.extent[spec.cut] = part.extent;
  return slice;
}

// Whether the box's bytes need to be put together.
bool is_scattered(const BoxIn& box) {
  return !box.copy.is_contiguous();
}

std::int64_t message_bytes(const BoxIn& box) {
  return box.copy.block_bytes();
}

}  // namespace

PieceExchange::PieceExchange(Communicator& communicator, const Mesh& mesh, const PieceSpec& spec,
                             const Stream& stream)
    : group_(&communicator.group(mesh, spec.axes)), mail_(communicator.local_ranks().size()) {
  const auto width = static_cast<std::int64_t>(bytes_of(spec.type.dtype));
  for (std::size_t i = 0; i < mail_.size(); ++i) {
    const std::int64_t rank = group_->members[i][static_cast<std::size_t>(group_->index[i])];
    handed_.push_back(volume_of(slice_of(spec.type.shape, spec.from, mesh, rank)) * width);
    std::vector<OnRank>& times = ranks_.emplace_back(static_cast<std::size_t>(stream.parts));
    for (std::int64_t time = 0; time < stream.parts; ++time) {
      plan(times[static_cast<std::size_t>(time)], mesh, spec, stream, i, time);
    }
  }
}

void PieceExchange::plan(OnRank& here, const Mesh& mesh, const PieceSpec& spec,
                         const Stream& stream, std::size_t index, std::int64_t time) {
  const auto width = static_cast<std::int64_t>(bytes_of(spec.type.dtype));
  const std::vector<std::int64_t>& members = group_->members[index];
  const auto me = static_cast<std::size_t>(group_->index[index]);
  const auto slice = [&](std::size_t member) {
    return slice_of(spec.type.shape, spec.from, mesh, members[member]);
  };
  const auto piece = [&](std::size_t member) {
    return piece_of(mesh, spec, stream, members[member], time);
  };
  here.piece = piece(me);
  const Slice mine = slice(me);
  const Slice own = intersection(mine, here.piece);
  here.is_own = volume_of(own) == volume_of(here.piece);
  if (!here.is_own && volume_of(own) > 0) {
    here.own = box_in(own, mine, width);
    here.own_place = box_in(own, here.piece, width);
  }
  const auto add = [&](std::vector<Part>& parts, std::size_t member, const Slice& box,
                       const Slice& whole) {
    if (member != me && volume_of(box) > 0) {
      parts.push_back(
          {.member = static_cast<std::int64_t>(member), .box = box_in(box, whole, width)});
    }
  };
  for (std::size_t other = 0; other < members.size(); ++other) {
    add(here.sent, other, intersection(mine, piece(other)), mine);
    add(here.received, other, intersection(slice(other), here.piece), here.piece);
  }
  sent_bytes_ = std::max(sent_bytes_, scattered_bytes(here.sent));
  received_bytes_ = std::max(
      received_bytes_, scattered_bytes(here.received) + (here.own ? message_bytes(*here.own) : 0));
}

// That are put together for messages, or taken apart.
std::int64_t PieceExchange::scattered_bytes(std::span<const Part> parts) {
  std::int64_t bytes = 0;
  for (const Part& part : parts) {
    bytes += is_scattered(part.box) ? message_bytes(part.box) : 0;
  }
  return bytes;
}

void PieceExchange::post(Communicator& communicator, std::int64_t time, Ins from, Outs windows,
                         Outs sent, Outs received) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const OnRank& here = at(i, time);
    const auto* slice = static_cast<const std::byte*>(from[i]);
    auto* window = static_cast<std::byte*>(windows[i]);
    auto* room = static_cast<std::byte*>(sent[i]);
    auto* landing = static_cast<std::byte*>(received[i]);
    Mail& mail = mail_[i];
    mail.sent.clear();
    mail.received.clear();
    mail.handed = time == 0 ? handed_[i] : 0;
    for (const Part& part : here.sent) {
      const std::int64_t bytes = message_bytes(part.box);
      const std::byte* data = slice + part.box.start;
      if (is_scattered(part.box)) {
        part.box.copy.pack(slice, part.box.start, 0, bytes, room);
        data = room;
        room += bytes;
      }
      mail.sent.push_back({.member = part.member, .data = data, .bytes = bytes});
    }
    for (const Part& part : here.received) {
      const std::int64_t bytes = message_bytes(part.box);
      std::byte* data = window + part.box.start;
      if (is_scattered(part.box)) {
        data = landing;
        landing += bytes;
      }
      mail.received.push_back({.member = part.member, .data = data, .bytes = bytes});
    }
    if (here.own) {
      const std::int64_t bytes = message_bytes(*here.own);
      here.own->copy.pack(slice, here.own->start, 0, bytes, landing);
      here.own_place.copy.unpack(landing, here.own_place.start, 0, bytes, window);
    }
  }
  communicator.post(*group_, mail_);
}

void PieceExchange::land(std::int64_t time, Outs windows, Outs received) const {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const auto* landing = static_cast<const std::byte*>(received[i]);
    for (const Part& part : at(i, time).received) {
      if (is_scattered(part.box)) {
        const std::int64_t bytes = message_bytes(part.box);
        part.box.copy.unpack(landing, part.box.start, 0, bytes,
                             static_cast<std::byte*>(windows[i]));
        landing += bytes;
      }
    }
  }
}

}  // namespace mtf
