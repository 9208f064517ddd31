// Places are taken in rounds, so that what waits to be sent to all members fits in staging memory.

#include "runtime/exchange/exchange_serve.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/exchange/exchange.h"

namespace mtf {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

TensorView view_on(const Mesh& mesh, const TensorType& type, const ValueLayout& layout,
                   std::int64_t rank) {
  Slice slice = slice_of(type.shape, layout, mesh, rank);
  return {.data = nullptr,
          .shape = shape_of(type.shape, slice),
          .offset = std::move(slice.offset),
          .dtype = type.dtype};
}

}  // namespace

ServeExchange::Owners::Owners(std::span<const ServedDim> served, std::span<const Slice> slices) {
  std::size_t combinations = 1;
  for (const ServedDim& one : served) {
    std::vector<Interval>& blocks = blocks_.emplace_back();
    for (const Slice& slice : slices) {
      if (slice.extent[one.dim] > 0) {
        blocks.push_back(slice.along(one.dim));
      }
    }
    std::ranges::sort(blocks, {}, &Interval::begin);
    const auto same = [](const Interval& a, const Interval& b) { return a.begin == b.begin; };
    blocks.erase(std::unique(blocks.begin(), blocks.end(), same), blocks.end());
    combinations *= blocks.size();
  }
  members_.assign(combinations, kNobody);
  for (std::size_t m = 0; m < slices.size(); ++m) {
    std::size_t number = 0;
    for (std::size_t s = 0; s < served.size(); ++s) {
      const auto block =
          std::ranges::find(blocks_[s], slices[m].offset[served[s].dim], &Interval::begin);
      number = number * blocks_[s].size() + static_cast<std::size_t>(block - blocks_[s].begin());
    }
    const bool has_any = std::ranges::all_of(
        served, [&](const ServedDim& one) { return slices[m].extent[one.dim] > 0; });
    if (has_any) {
      members_[number] = m;
    }
  }
}

std::size_t ServeExchange::Owners::of(const Served::Place& place) const {
  std::size_t number = 0;
  for (std::size_t s = 0; s < blocks_.size(); ++s) {
    const std::vector<Interval>& blocks = blocks_[s];
    const auto behind = std::ranges::upper_bound(blocks, place.at[s], {}, &Interval::begin);
    if (behind == blocks.begin() || place.at[s] >= std::prev(behind)->end()) {
      return kNobody;
    }
    number = number * blocks.size() + static_cast<std::size_t>(behind - blocks.begin()) - 1;
  }
  return members_[number];
}

ServeExchange::ServeExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                             std::span<const std::int64_t> ranks)
    : space_(spec.space), width_(static_cast<std::int64_t>(bytes_of(spec.type.dtype))) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    add_rank(mesh, spec, group.members[i], static_cast<std::size_t>(group.index[i]));
  }
}

void ServeExchange::add_rank(const Mesh& mesh, const ExchangeSpec& spec,
                             std::span<const std::int64_t> members, std::size_t self) {
  OnRank& here = ranks_.emplace_back();
  here.self = self;
  here.in.push_back(view_on(mesh, spec.type, spec.from, members[self]));
  for (const LaidOut& index : spec.indices) {
    here.in.push_back(view_on(mesh, index.type, index.layout, members[self]));
  }
  const TensorType result{.dtype = spec.type.dtype, .shape = spec.result};
  std::vector<Slice> slices;
  for (const std::int64_t member : members) {
    slices.push_back(slice_of(spec.type.shape, spec.from, mesh, member));
    here.asked.emplace_back(space_, here.in, view_on(mesh, result, spec.to, member));
    places_ = std::max(places_, here.asked.back().places());
    row_bytes_ = std::max(row_bytes_, here.asked.back().row_volume() * width_);
  }
  here.owners = Owners(space_.served, slices);
  here.handed = here.asked[self].places() * here.asked[self].row_volume() * width_;
}

void ServeExchange::run(Communicator& communicator, const Group& group, Staging& staging, Ins from,
                        Outs to, Ins indices) const {
  const std::int64_t rows = std::max<std::int64_t>(1, staging.limit / (group.size * row_bytes_));
  const std::int64_t room = group.size * std::min(rows, places_) * row_bytes_;
  grow(staging, staging.sent, ranks_.size(), room);
  grow(staging, staging.received, ranks_.size(), room);
  std::vector<ServedIndices> numbers;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    numbers.push_back(indices_on(i, indices));
  }
  for (Round round{.end = rows}; round.begin < places_; round = {round.end, round.end + rows}) {
    staging.mail.assign(ranks_.size(), {});
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      Mail& mail = staging.mail[i];
      mail.handed = round.begin == 0 ? ranks_[i].handed : 0;
      send(i, numbers[i], round, from[i], staging.sent[i].data(), mail);
      expect(i, numbers[i], round, staging.received[i].data(), mail);
    }
    communicator.post(group, staging.mail);
    communicator.await();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      unpack(i, numbers[i], round, from[i], staging.mail[i], to[i]);
    }
  }
}

ServedIndices ServeExchange::indices_on(std::size_t rank, Ins indices) const {
  std::vector<TensorView> in = ranks_[rank].in;
  for (std::size_t o = 1; o < in.size(); ++o) {
    in[o].data = const_cast<void*>(indices[rank * (in.size() - 1) + o - 1]);  // NOLINT: only read
  }
  return served_indices(space_, in);
}

// What this rank has of what others ask for.
void ServeExchange::send(std::size_t rank, const ServedIndices& indices, Round round,
                         const void* from, std::byte* room, Mail& mail) const {
  const OnRank& here = ranks_[rank];
  for (std::size_t m = 0; m < here.asked.size(); ++m) {
    const Served& asked = here.asked[m];
    if (m == here.self) {
      continue;
    }
    const RowCopy copy = RowCopy::packing(asked.row(), width_);
    const std::byte* message = room;
    asked.each(indices, round.begin, std::min(round.end, asked.places()),
               [&](const Served::Place& place) {
                 const std::int64_t at = asked.in_slice(place);
                 if (at >= 0) {
                   copy(static_cast<const std::byte*>(from) + at * width_, room);
                   room += asked.row_volume() * width_;
                 }
               });
    if (room != message) {
      mail.sent.push_back(
          {.member = static_cast<std::int64_t>(m), .data = message, .bytes = room - message});
    }
  }
}

void ServeExchange::expect(std::size_t rank, const ServedIndices& indices, Round round,
                           std::byte* room, Mail& mail) const {
  const OnRank& here = ranks_[rank];
  const Served& mine = here.asked[here.self];
  std::vector<std::int64_t> rows(here.asked.size(), 0);
  mine.each(indices, round.begin, std::min(round.end, mine.places()),
            [&](const Served::Place& place) {
              const std::size_t owner = here.owners.of(place);
              if (owner != kNobody) {
                ++rows[owner];
              }
            });
  for (std::size_t m = 0; m < rows.size(); ++m) {
    const std::int64_t bytes = rows[m] * mine.row_volume() * width_;
    if (m != here.self && bytes > 0) {
      mail.received.push_back(
          {.member = static_cast<std::int64_t>(m), .data = room, .bytes = bytes});
      room += bytes;
    }
  }
}

void ServeExchange::unpack(std::size_t rank, const ServedIndices& indices, Round round,
                           const void* from, const Mail& mail, void* to) const {
  const OnRank& here = ranks_[rank];
  const Served& mine = here.asked[here.self];
  std::vector<const std::byte*> messages(here.asked.size(), nullptr);
  for (const Mail::Received& received : mail.received) {
    messages[static_cast<std::size_t>(received.member)] =
        static_cast<const std::byte*>(received.data);
  }
  const RowCopy own(mine.row(), width_);
  const RowCopy landing = RowCopy::unpacking(mine.row(), width_);
  mine.each(indices, round.begin, std::min(round.end, mine.places()),
            [&](const Served::Place& place) {
              std::byte* row = static_cast<std::byte*>(to) + place.to * width_;
              const std::size_t owner = here.owners.of(place);
              if (owner == kNobody) {
                own.zero(row);
              } else if (owner == here.self) {
                own(static_cast<const std::byte*>(from) + mine.in_slice(place) * width_, row);
              } else {
                landing(messages[owner], row);
                messages[owner] += mine.row_volume() * width_;
              }
            });
}

}  // namespace mtf
