// Messages hold boxes behind each other, each with its elements in the order of the operand's dims;
// a message of one box that is such a run already is sent, or lands, where it is.

#include "runtime/exchange/exchange_halo.h"

#include <algorithm>
#include <utility>

#include "runtime/exchange/exchange.h"

namespace mtf {
namespace {

// The box with its elements behind each other on one side.
std::vector<StridedDim> packed_in(const MovedBox& box, std::int64_t StridedDim::*side) {
  std::vector<StridedDim> dims = box.dims;
  std::int64_t next = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    dims[d].*side = next;
    next *= dims[d].extent;
  }
  return dims;
}

}  // namespace

// Adds a message that carries anything; `staged` counts what is not sent, or does not land, where
// it lies.
void HaloExchange::take(std::vector<Message>& messages, std::int64_t& staged, Message message) {
  staged += message.in_place ? 0 : message.bytes;
  if (message.bytes > 0) {
    messages.push_back(std::move(message));
  }
}

HaloExchange::HaloExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                           std::span<const std::int64_t> ranks)
    : reads_(spec.reads),
      operand_(spec.type.shape),
      dtype_(spec.type.dtype),
      width_(static_cast<std::int64_t>(bytes_of(spec.type.dtype))) {
  const auto held = [&](std::int64_t rank) { return slice_of(operand_, spec.from, mesh, rank); };
  const auto read = [&](std::int64_t rank) { return slice_of(spec.result, spec.to, mesh, rank); };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    OnRank& here = ranks_.emplace_back();
    here.from = held(ranks[i]);
    here.to = read(ranks[i]);
    here.own = boxes_between(slices(here.from, here.to));
    here.handed = volume_of(here.from) * width_;
    for (std::int64_t m = 0; m < group.size; ++m) {
      const std::int64_t other = group.members[i][static_cast<std::size_t>(m)];
      if (other == ranks[i]) {
        continue;
      }
      take(here.sent, here.packed, message(m, here.from, read(other), /*is_sent=*/true));
      take(here.received, here.landed, message(m, held(other), here.to, /*is_sent=*/false));
    }
  }
}

HaloExchange::Message HaloExchange::message(std::int64_t member, const Slice& from, const Slice& to,
                                            bool is_sent) const {
  Message message{.member = member, .boxes = boxes_between(slices(from, to))};
  for (const MovedBox& box : message.boxes) {
    message.bytes += box.volume() * width_;
  }
  message.in_place = message.boxes.size() == 1 && (is_sent ? message.boxes.front().is_run_in_from()
                                                           : message.boxes.front().is_run_in_to());
  return message;
}

void HaloExchange::run(Communicator& communicator, const Group& group, Staging& staging, Ins from,
                       Outs to) const {
  const auto most = [this](std::int64_t OnRank::*bytes) {
    std::int64_t result = 0;
    for (const OnRank& here : ranks_) {
      result = std::max(result, here.*bytes);
    }
    return result;
  };
  grow(staging, staging.sent, ranks_.size(), most(&OnRank::packed));
  grow(staging, staging.received, ranks_.size(), most(&OnRank::landed));
  staging.mail.assign(ranks_.size(), {});
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    auto* out = static_cast<std::byte*>(to[i]);
    fill_border(slices(ranks_[i].from, ranks_[i].to), dtype_, out);
    send(ranks_[i], static_cast<const std::byte*>(from[i]), staging.sent[i].data(),
         staging.mail[i]);
    receive(ranks_[i], out, staging.received[i].data(), staging.mail[i]);
  }
  communicator.post(group, staging.mail);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    for (const MovedBox& box : ranks_[i].own) {
      copy_strided(box.dims, bytes_of(dtype_),
                   static_cast<const std::byte*>(from[i]) + box.from * width_,
                   static_cast<std::byte*>(to[i]) + box.to * width_);
    }
  }
  communicator.await();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    unpack(ranks_[i], staging.received[i].data(), static_cast<std::byte*>(to[i]));
  }
}

void HaloExchange::send(const OnRank& here, const std::byte* from, std::byte* room,
                        Mail& mail) const {
  mail.handed = here.handed;
  for (const Message& message : here.sent) {
    if (message.in_place) {
      mail.sent.push_back({.member = message.member,
                           .data = from + message.boxes.front().from * width_,
                           .bytes = message.bytes});
      continue;
    }
    mail.sent.push_back({.member = message.member, .data = room, .bytes = message.bytes});
    for (const MovedBox& box : message.boxes) {
      copy_strided(packed_in(box, &StridedDim::to), bytes_of(dtype_), from + box.from * width_,
                   room);
      room += box.volume() * width_;
    }
  }
}

void HaloExchange::receive(const OnRank& here, std::byte* to, std::byte* room, Mail& mail) const {
  for (const Message& message : here.received) {
    std::byte* place = message.in_place ? to + message.boxes.front().to * width_ : room;
    mail.received.push_back({.member = message.member, .data = place, .bytes = message.bytes});
    room += message.in_place ? 0 : message.bytes;
  }
}

void HaloExchange::unpack(const OnRank& here, const std::byte* room, std::byte* to) const {
  for (const Message& message : here.received) {
    if (message.in_place) {
      continue;
    }
    for (const MovedBox& box : message.boxes) {
      copy_strided(packed_in(box, &StridedDim::from), bytes_of(dtype_), room, to + box.to * width_);
      room += box.volume() * width_;
    }
  }
}

}  // namespace mtf
