#include "runtime/exchange/exchange_sort.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/exchange/exchange.h"

namespace mtf {
namespace {

// Of two lines of `count` entries in order, so many of the lowest, or of the highest, in order.
template <typename Entry>
void merge_line(const Entry* a, const Entry* b, std::int64_t count, bool low, Entry* out) {
  if (low) {
    std::int64_t i = 0;
    std::int64_t j = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      out[k] = b[j] < a[i] ? b[j++] : a[i++];
    }
    return;
  }
  std::int64_t i = count - 1;
  std::int64_t j = count - 1;
  for (std::int64_t k = count - 1; k >= 0; --k) {
    out[k] = a[i] < b[j] ? b[j--] : a[i--];
  }
}

// A key and a place.
struct Pair {
  std::uint64_t first;
  std::uint64_t second;
  friend bool operator<(const Pair& a, const Pair& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  }
};

template <typename F>
void with_entry(DType dtype, std::int64_t width, F&& f) {
  if (bytes_of(dtype) == 4) {
    f(std::uint32_t{});
  } else if (width == 1) {
    f(std::uint64_t{});
  } else {
    f(Pair{});
  }
}

}  // namespace

SortExchange::SortExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                           std::span<const std::int64_t> ranks)
    : dtype_(spec.type.dtype),
      width_(spec.entry),
      entry_bytes_(spec.entry * static_cast<std::int64_t>(bytes_of(spec.type.dtype))),
      entries_(mesh.longest_part(spec.scanned, spec.axes)) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    OnRank& here = ranks_.emplace_back();
    here.rounds = sort_rounds(group.size, group.index[i]);
    const std::int64_t volume = volume_of(slice_of(spec.type.shape, spec.from, mesh, ranks[i]));
    here.lines = entries_ == 0 ? 0 : volume / (entries_ * width_);
    for (std::int64_t member = 0; member < group.size; ++member) {
      const std::int64_t rank = group.members[i][static_cast<std::size_t>(member)];
      for (const SortedRun& run : settled_from(mesh, spec.scanned, spec.axes, rank)) {
        const bool comes = member == group.index[i];
        const bool goes = run.place == group.index[i];
        settles_ = settles_ || run.place != member || run.begin != run.at;
        if (comes && goes) {
          here.own.push_back(run);
        } else if (comes) {
          here.received.push_back({.member = run.place, .begin = run.at, .count = run.count});
        } else if (goes) {
          here.sent.push_back({.member = member, .begin = run.begin, .count = run.count});
        }
      }
    }
  }
}

void SortExchange::run(Communicator& communicator, const Group& group, Staging& staging, Ins from,
                       Outs to) const {
  std::int64_t most = 0;
  for (const OnRank& here : ranks_) {
    most = std::max(most, bytes(here));
  }
  grow(staging, staging.sent, ranks_.size(), most);
  grow(staging, staging.received, ranks_.size(), most);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    std::memcpy(to[i], from[i], static_cast<std::size_t>(bytes(ranks_[i])));
  }
  for (std::size_t round = 0; !ranks_.empty() && round < ranks_.front().rounds.size(); ++round) {
    swap_round(communicator, group, staging, round, to);
  }
  if (settles_) {
    settle(communicator, group, staging, to);
  }
}

void SortExchange::swap_round(Communicator& communicator, const Group& group, Staging& staging,
                              std::size_t round, Outs to) const {
  staging.mail.clear();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const OnRank& here = ranks_[i];
    Mail& mail = staging.mail.emplace_back();
    mail.handed = round == 0 ? bytes(here) : 0;
    const std::optional<std::int64_t> partner = here.rounds[round].partner;
    if (partner && bytes(here) > 0) {
      std::memcpy(staging.sent[i].data(), to[i], static_cast<std::size_t>(bytes(here)));
      mail.sent.push_back(
          {.member = *partner, .data = staging.sent[i].data(), .bytes = bytes(here)});
      mail.received.push_back(
          {.member = *partner, .data = staging.received[i].data(), .bytes = bytes(here)});
    }
  }
  communicator.post(group, staging.mail);
  communicator.await();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const SortRound& now = ranks_[i].rounds[round];
    if (now.partner) {
      merge(ranks_[i], now.keeps_low, staging.sent[i].data(), staging.received[i].data(),
            static_cast<std::byte*>(to[i]));
    }
  }
}

void SortExchange::merge(const OnRank& here, bool keeps_low, const std::byte* own,
                         const std::byte* came, std::byte* out) const {
  with_entry(dtype_, width_, [&](auto zero) {
    using Entry = decltype(zero);
    for (std::int64_t line = 0; line < here.lines; ++line) {
      const std::int64_t at = line * entries_;
      merge_line(reinterpret_cast<const Entry*>(own) + at,
                 reinterpret_cast<const Entry*>(came) + at, entries_, keeps_low,
                 reinterpret_cast<Entry*>(out) + at);
    }
  });
}

void SortExchange::copy_lines(const OnRank& here, const std::byte* from, std::int64_t from_step,
                              std::byte* to, std::int64_t to_step, std::int64_t bytes) const {
  for (std::int64_t line = 0; line < here.lines; ++line) {
    std::memcpy(to + line * to_step, from + line * from_step, static_cast<std::size_t>(bytes));
  }
}

// What the rounds leave is a part as long as the longest; where others begin elsewhere, they send
// each other the rest.
void SortExchange::settle(Communicator& communicator, const Group& group, Staging& staging,
                          Outs to) const {
  staging.mail.clear();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const OnRank& here = ranks_[i];
    Mail& mail = staging.mail.emplace_back();
    mail.handed = here.rounds.empty() ? bytes(here) : 0;
    std::byte* sent = staging.sent[i].data();
    for (const Run& run : here.sent) {
      const std::int64_t some = run.count * entry_bytes_;
      copy_lines(here, static_cast<const std::byte*>(to[i]) + run.begin * entry_bytes_,
                 line_bytes(), sent, some, some);
      if (here.lines > 0) {
        mail.sent.push_back({.member = run.member, .data = sent, .bytes = here.lines * some});
      }
      sent += here.lines * some;
    }
    std::byte* received = staging.received[i].data();
    for (const Run& run : here.received) {
      const std::int64_t some = here.lines * run.count * entry_bytes_;
      if (some > 0) {
        mail.received.push_back({.member = run.member, .data = received, .bytes = some});
      }
      received += some;
    }
  }
  communicator.post(group, staging.mail);
  communicator.await();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const OnRank& here = ranks_[i];
    auto* part = static_cast<std::byte*>(to[i]);
    for (std::int64_t line = 0; line < here.lines; ++line) {
      for (const SortedRun& run : here.own) {
        std::memmove(part + line * line_bytes() + run.at * entry_bytes_,
                     part + line * line_bytes() + run.begin * entry_bytes_,
                     static_cast<std::size_t>(run.count * entry_bytes_));
      }
    }
    const std::byte* received = staging.received[i].data();
    for (const Run& run : here.received) {
      const std::int64_t some = run.count * entry_bytes_;
      copy_lines(here, received, some, part + run.begin * entry_bytes_, line_bytes(), some);
      received += here.lines * some;
    }
  }
}

}  // namespace mtf
