#include "runtime/exchange/exchange_scan.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/exchange/exchange.h"

namespace mtf {
namespace {

// Whether any rank of the subtree of 2^round that the place is in has elements.
bool any_of_subtree(const std::vector<char>& has, std::int64_t place, std::size_t round) {
  const auto begin = static_cast<std::size_t>(place) >> round << round;
  const std::size_t end = std::min(has.size(), begin + (std::size_t{1} << round));
  for (std::size_t i = begin; i < end; ++i) {
    if (has[i] != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

ScanExchange::ScanExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                           std::span<const std::int64_t> ranks)
    : how_{.combine = spec.combine,
           .dtype = spec.type.dtype,
           .isa = spec.isa,
           .width = spec.type.shape[spec.type.shape.rank() - 1].size},
      line_bytes_(how_.width * static_cast<std::int64_t>(bytes_of(how_.dtype))) {
  const auto turned = [&](std::int64_t place) {
    return spec.from_end ? group.size - 1 - place : place;
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::vector<char> has;  // by place
    for (std::int64_t place = 0; place < group.size; ++place) {
      const std::int64_t member = group.members[i][static_cast<std::size_t>(turned(place))];
      has.push_back(mesh.part_of(spec.scanned, spec.axes, member).extent > 0 ? 1 : 0);
    }
    const std::int64_t place = turned(group.index[i]);
    OnRank& here = ranks_.emplace_back();
    here.bytes = volume_of(slice_of(spec.type.shape, spec.from, mesh, ranks[i])) *
                 static_cast<std::int64_t>(bytes_of(how_.dtype));
    here.rounds = scan_rounds(group.size, place);
    rounds_ = here.rounds.size();
    for (std::size_t k = 0; k < rounds_; ++k) {
      here.partner_has.push_back(any_of_subtree(has, here.rounds[k].partner, k) ? 1 : 0);
      here.own_has.push_back(any_of_subtree(has, place, k) ? 1 : 0);
      here.rounds[k].partner = turned(here.rounds[k].partner);
    }
  }
}

void ScanExchange::run(Communicator& communicator, const Group& group, Staging& staging, Ins from,
                       Outs to) const {
  std::int64_t most = 0;
  for (const OnRank& here : ranks_) {
    most = std::max(most, here.bytes);
  }
  grow(staging, staging.sent, ranks_.size(), most);
  grow(staging, staging.received, ranks_.size(), most * static_cast<std::int64_t>(rounds_));
  const auto way = [&](std::size_t i) {
    return Way{.joined = staging.sent[i].data(),
               .came = staging.received[i].data(),
               .bytes = ranks_[i].bytes};
  };
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    std::memcpy(way(i).joined, from[i], static_cast<std::size_t>(ranks_[i].bytes));
  }
  for (std::size_t k = 0; k < rounds_; ++k) {
    staging.mail.clear();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      staging.mail.push_back(mail(ranks_[i], k, way(i)));
    }
    communicator.post(group, staging.mail);
    communicator.await();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      join(ranks_[i], k, way(i));
    }
  }
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    finish(ranks_[i], way(i), static_cast<std::byte*>(to[i]));
  }
}

Mail ScanExchange::mail(const OnRank& here, std::size_t round, const Way& way) const {
  const ScanRound& now = here.rounds[round];
  Mail mail;
  mail.handed = round == 0 ? here.bytes : 0;
  if (now.sends && way.bytes > 0) {
    mail.sent.push_back({.member = now.partner, .data = way.joined, .bytes = way.bytes});
  }
  if (now.receives && way.bytes > 0) {
    mail.received.push_back({.member = now.partner,
                             .data = way.came + static_cast<std::int64_t>(round) * way.bytes,
                             .bytes = way.bytes});
  }
  return mail;
}

// The subtree of this round, of which nothing is sent before the next one.
void ScanExchange::join(const OnRank& here, std::size_t round, const Way& way) const {
  const ScanRound& now = here.rounds[round];
  if (!now.receives || here.partner_has[round] == 0) {
    return;
  }
  std::byte* came = way.came + static_cast<std::int64_t>(round) * way.bytes;
  if (here.own_has[round] == 0) {
    std::memcpy(way.joined, came, static_cast<std::size_t>(way.bytes));
  } else {
    join(here, now.before ? came : way.joined, now.before ? way.joined : came, way.joined);
  }
}

// The largest subtree before the rank is the first.
void ScanExchange::finish(const OnRank& here, const Way& way, std::byte* to) const {
  std::memset(to, 0, static_cast<std::size_t>(here.bytes));
  bool any = false;
  for (std::size_t k = rounds_; k-- > 0;) {
    if (!here.rounds[k].before || here.partner_has[k] == 0) {
      continue;
    }
    const std::byte* came = way.came + static_cast<std::int64_t>(k) * way.bytes;
    if (std::exchange(any, true)) {
      join(here, to, came, to);
    } else {
      std::memcpy(to, came, static_cast<std::size_t>(way.bytes));
    }
  }
}

void ScanExchange::join(const OnRank& here, const std::byte* before, const std::byte* behind,
                        std::byte* out) const {
  join_digests(how_, here.bytes / line_bytes_, before, behind, out);
}

}  // namespace mtf
