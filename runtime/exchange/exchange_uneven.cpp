#include "runtime/exchange/exchange_uneven.h"

#include <algorithm>
#include <cstring>

#include "runtime/exchange/exchange.h"

namespace mtf {

BoxIn box_in(const Slice& box, const Slice& slice, std::int64_t width) {
  BoxIn result{.copy = BoxCopy(slice.extent, box.extent, width), .start = 0};
  result.start = volume_of(box) == 0 ? 0 : result.copy.start_of(corner_in(box, slice));
  return result;
}

UnevenExchange::UnevenExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                               std::span<const std::int64_t> ranks)
    : kind_(spec.kind), width_(static_cast<std::int64_t>(bytes_of(spec.type.dtype))) {
  const auto from = [&](std::int64_t rank) {
    return slice_of(spec.type.shape, spec.from, mesh, rank);
  };
  const auto to = [&](std::int64_t rank) { return slice_of(spec.type.shape, spec.to, mesh, rank); };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    OnRank& here = ranks_.emplace_back();
    const Slice mine = from(ranks[i]);
    const Slice wanted = to(ranks[i]);
    for (const std::int64_t member : group.members[i]) {
      here.packed.push_back(box_in(intersection(mine, to(member)), mine, width_));
      here.unpacked.push_back(box_in(intersection(from(member), wanted), wanted, width_));
    }
  }
  if (kind_ == StepKind::kAllGather) {
    block_bytes_ = local_shape(spec.type.shape, spec.from, mesh).volume() * width_;
    return;
  }
  const Axes axes = kind_ == StepKind::kSlice ? Axes{} : spec.axes;
  for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    const Slice mine = from(rank);
    for (const std::int64_t member : mesh.group_of(rank, axes)) {
      block_bytes_ = std::max(block_bytes_, volume_of(intersection(mine, to(member))) * width_);
    }
  }
}

void UnevenExchange::run(Communicator& communicator, const Group& group, Combination joining,
                         Staging& staging, Ins from, Outs to) const {
  if (kind_ == StepKind::kSlice) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const BoxIn& part = ranks_[i].packed.front();
      part.copy.pack(static_cast<const std::byte*>(from[i]), part.start, 0, part.copy.block_bytes(),
                     static_cast<std::byte*>(to[i]));
    }
    return;
  }
  if (block_bytes_ == 0) {
    return;
  }
  if (kind_ == StepKind::kReduceScatter) {
    const Outs sums = room(staging, to.size(), block_bytes_);
    communicator.reduce_scatter(group, joining, block_bytes_ / width_, pack(staging, from), sums);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto& own = ranks_[i].unpacked;  // any member's: each has a sum of this box
      own.front().copy.unpack(staging.received[i].data(), 0, 0, own.front().copy.block_bytes(),
                              static_cast<std::byte*>(to[i]));
    }
    return;
  }
  const Outs landed = room(staging, to.size(), group.size * block_bytes_);
  if (kind_ == StepKind::kAllToAll) {
    send_blocks(communicator, group, staging, pack(staging, from), landed);
  } else {
    communicator.all_gather(group, block_bytes_, from, landed);
  }
  unpack(staging, to);
}

void UnevenExchange::send_blocks(Communicator& communicator, const Group& group, Staging& staging,
                                 Ins packed, Outs landed) const {
  std::vector<Mail>& mail = staging.mail;
  mail.resize(ranks_.size());
  for (Mail& one : mail) {
    one.sent.clear();
    one.received.clear();
    one.handed = 0;
  }
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    for (std::int64_t member = 0; member < group.size; ++member) {
      const auto which = static_cast<std::size_t>(member);
      const std::byte* block = static_cast<const std::byte*>(packed[i]) + member * block_bytes_;
      std::byte* place = static_cast<std::byte*>(landed[i]) + member * block_bytes_;
      const std::int64_t sent = ranks_[i].packed[which].copy.block_bytes();
      const std::int64_t received = ranks_[i].unpacked[which].copy.block_bytes();
      mail[i].handed += received;
      if (member == group.index[i]) {
        std::memcpy(place, block, static_cast<std::size_t>(sent));
        continue;
      }
      if (sent > 0) {
        mail[i].sent.push_back({.member = member, .data = block, .bytes = sent});
      }
      if (received > 0) {
        mail[i].received.push_back({.member = member, .data = place, .bytes = received});
      }
    }
  }
  communicator.post(group, mail);
  communicator.await();
}

Ins UnevenExchange::pack(Staging& staging, Ins from) const {
  const auto members = static_cast<std::int64_t>(ranks_.front().packed.size());
  grow(staging, staging.sent, from.size(), members * block_bytes_);
  staging.ins.clear();
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::byte* place = staging.sent[i].data();
    staging.ins.push_back(place);
    for (const BoxIn& part : ranks_[i].packed) {
      part.copy.pack(static_cast<const std::byte*>(from[i]), part.start, 0, part.copy.block_bytes(),
                     place);
      place += block_bytes_;
    }
  }
  return staging.ins;
}

Outs UnevenExchange::room(Staging& staging, std::size_t ranks, std::int64_t bytes) {
  grow(staging, staging.received, ranks, bytes);
  staging.outs.clear();
  for (const Buffer& buffer : staging.received) {
    staging.outs.push_back(buffer.data());
  }
  return staging.outs;
}

void UnevenExchange::unpack(const Staging& staging, Outs to) const {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::byte* place = staging.received[i].data();
    for (const BoxIn& part : ranks_[i].unpacked) {
      part.copy.unpack(place, part.start, 0, part.copy.block_bytes(),
                       static_cast<std::byte*>(to[i]));
      place += block_bytes_;
    }
  }
}

}  // namespace mtf
