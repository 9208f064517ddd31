// All ranks of a mesh in one process: messages are copies between their buffers, or what a rank
// reads of another's while it adds up.
//
// The first member of each group does the work for all of it.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "ir/support/index.h"
#include "runtime/ranks/communicator.h"
#include "runtime/ranks/communicator_group.h"

namespace mtf {
namespace {

const std::byte* offset(const void* data, std::int64_t bytes) {
  return static_cast<const std::byte*>(data) + bytes;
}
std::byte* offset(void* data, std::int64_t bytes) {
  return static_cast<std::byte*>(data) + bytes;
}

class Simulated final : public Communicator {
 public:
  explicit Simulated(std::int64_t ranks) : Communicator(at(ranks)), ranks_(at(ranks)) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }

  [[nodiscard]] std::int64_t ranks() const override {
    return static_cast<std::int64_t>(ranks_.size());
  }
  [[nodiscard]] std::span<const std::int64_t> local_ranks() const override { return ranks_; }

  [[nodiscard]] const Group& group(const Mesh& mesh, const Axes& axes) override {
    return groups_.find(mesh, axes, ranks_, [](const Group&) {});
  }

  // Each member adds up its part of the elements and gives it to the others, as ranks do that send
  // as little as can be.
  void all_reduce(const Group& group, Combination how, std::int64_t count, Ins in,
                  Outs out) override {
    const auto width = static_cast<std::int64_t>(bytes_of(how.dtype));
    for (const std::vector<std::int64_t>& members : leaders_of(group)) {
      hand_over(members, count * width);
      const Pieces parts{.count = count, .ranks = group.size};
      for (std::int64_t i = 0; i < group.size; ++i) {
        const std::int64_t own = members[at(i)];
        const std::int64_t begin = parts.begin(i) * width;
        join(how, members, in, begin, parts.size(i), own, offset(out[at(own)], begin));
        for (const std::int64_t rank : members) {
          send(own, out[at(own)], begin, rank, out[at(rank)], begin, parts.size(i) * width);
        }
      }
    }
  }

  void reduce_scatter(const Group& group, Combination how, std::int64_t count, Ins in,
                      Outs out) override {
    const std::int64_t bytes = count * static_cast<std::int64_t>(bytes_of(how.dtype));
    for (const std::vector<std::int64_t>& members : leaders_of(group)) {
      hand_over(members, group.size * bytes);
      for (std::int64_t i = 0; i < group.size; ++i) {
        const std::int64_t own = members[at(i)];
        join(how, members, in, i * bytes, count, own, out[at(own)]);
      }
    }
  }

  void all_gather(const Group& group, std::int64_t bytes, Ins in, Outs out) override {
    hand_over(ranks_, bytes);
    each_pair(group,
              [&](std::int64_t from, std::int64_t from_index, std::int64_t to, std::int64_t) {
                send(from, in[at(from)], 0, to, out[at(to)], from_index * bytes, bytes);
              });
  }

  void all_to_all(const Group& group, std::int64_t bytes, Ins in, Outs out) override {
    hand_over(ranks_, group.size * bytes);
    each_pair(group, [&](std::int64_t from, std::int64_t from_index, std::int64_t to,
                         std::int64_t to_index) {
      send(from, in[at(from)], to_index * bytes, to, out[at(to)], from_index * bytes, bytes);
    });
  }

  void permute(const Group& group, std::int64_t bytes,
               std::span<const std::vector<std::int64_t>> sources, Ins in, Outs out) override {
    hand_over(ranks_, bytes);
    for (const std::int64_t rank : ranks_) {
      const std::int64_t source = sources[at(rank)][at(group.index[at(rank)])];
      const std::int64_t from = group.members[at(rank)][at(source)];
      send(from, in[at(from)], 0, rank, out[at(rank)], 0, bytes);
    }
  }

  void broadcast(const Group& group, std::int64_t bytes, std::span<const std::int64_t> holders,
                 Ins in, Outs out) override {
    for (const std::int64_t rank : ranks_) {
      if (const std::int64_t holder = holders[at(rank)]; holder >= 0) {
        const std::int64_t from = group.members[at(rank)][at(holder)];
        traffic_of(at(rank)).handed += bytes;
        send(from, in[at(from)], 0, rank, out[at(rank)], 0, bytes);
      }
    }
  }

  void reduce(const Group& group, Combination how, std::int64_t count,
              std::span<const std::int64_t> holders, Ins in, Outs out) override {
    for (const std::vector<std::int64_t>& members : leaders_of(group)) {
      if (const std::int64_t holder = holders[at(members.front())]; holder >= 0) {
        hand_over(members, count * static_cast<std::int64_t>(bytes_of(how.dtype)));
        const std::int64_t own = members[at(holder)];
        join(how, members, in, 0, count, own, out[at(own)]);
      }
    }
  }

  void post(const Group& group, std::span<const Mail> mail) override {
    for (const std::int64_t rank : ranks_) {
      traffic_of(at(rank)).handed += mail[at(rank)].handed;
      for (const Mail::Received& message : mail[at(rank)].received) {
        const std::int64_t from = group.members[at(rank)][at(message.member)];
        const auto sent =
            std::ranges::find(mail[at(from)].sent, group.index[at(rank)], &Mail::Sent::member);
        send(from, sent->data, 0, rank, message.data, 0, message.bytes);
      }
    }
  }

  void await() override {}

  // Ranks that take turns have nothing to hide anything behind. It is done as late as can be: who
  // reads or writes that memory too early computes something else.
  [[nodiscard]] std::size_t start(const Group& group, Combination how, std::int64_t count,
                                  Outs data) override {
    started_[next_] = {
        .group = &group, .how = how, .count = count, .data = {data.begin(), data.end()}};
    return next_++;
  }
  [[nodiscard]] FinishedReduce finish(std::size_t number) override {
    const Started started = std::move(started_.extract(number).mapped());
    FinishedReduce finished{.moved = {traffic().begin(), traffic().end()}};
    const std::vector<const void*> terms(started.data.begin(), started.data.end());
    all_reduce(*started.group, started.how, started.count, terms, started.data);
    for (std::size_t rank = 0; rank < finished.moved.size(); ++rank) {
      finished.moved[rank] = traffic()[rank] - finished.moved[rank];
    }
    return finished;
  }
  void progress() override {}

  [[nodiscard]] std::vector<std::string> share(std::span<const std::string> local) override {
    return {local.begin(), local.end()};
  }
  [[nodiscard]] bool any(bool flag) override { return flag; }
  void barrier() override {}

  void close(int status, std::string_view message) override {
    if (status != 0) {
      std::fwrite(message.data(), 1, message.size(), stderr);
    }
  }

 private:
  // An asynchronous all-reduce that is not done yet.
  struct Started {
    const Group* group = nullptr;
    Combination how;
    std::int64_t count = 0;
    std::vector<void*> data;
  };

  // The members of each group, once.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> leaders_of(const Group& group) const {
    std::vector<std::vector<std::int64_t>> leaders;
    for (const std::int64_t rank : ranks_) {
      if (group.index[at(rank)] == 0) {
        leaders.push_back(group.members[at(rank)]);
      }
    }
    return leaders;
  }

  void hand_over(std::span<const std::int64_t> members, std::int64_t bytes) {
    for (const std::int64_t rank : members) {
      traffic_of(at(rank)).handed += bytes;
    }
  }

  // A message, or a rank's copy of its own; `begin`s in bytes.
  void send(std::int64_t from, const void* data, std::int64_t from_begin, std::int64_t to,
            void* place, std::int64_t to_begin, std::int64_t bytes) {
    if (from != to) {
      traffic_of(at(from)).sent += bytes;
      traffic_of(at(to)).received += bytes;
    }
    if (bytes > 0 && offset(place, to_begin) != offset(data, from_begin)) {
      std::memmove(offset(place, to_begin), offset(data, from_begin), at(bytes));
    }
  }

  // `count` elements, from a byte on, of all members, sent to one of them, which joins them.
  void join(Combination how, std::span<const std::int64_t> members, Ins in, std::int64_t begin,
            std::int64_t count, std::int64_t own, void* out) {
    const std::int64_t bytes = count * static_cast<std::int64_t>(bytes_of(how.dtype));
    parts_.clear();
    for (const std::int64_t rank : members) {
      parts_.push_back(offset(in[at(rank)], begin));
      if (rank != own) {
        traffic_of(at(rank)).sent += bytes;
        traffic_of(at(own)).received += bytes;
      }
    }
    combine_parts(how, parts_, count, out);
  }

  template <typename F>
  void each_pair(const Group& group, F&& f) const {
    for (const std::int64_t to : ranks_) {
      const std::vector<std::int64_t>& members = group.members[at(to)];
      for (std::size_t i = 0; i < members.size(); ++i) {
        f(members[i], static_cast<std::int64_t>(i), to, group.index[at(to)]);
      }
    }
  }

  std::vector<std::int64_t> ranks_;
  GroupTable groups_;
  std::vector<const void*> parts_;
  std::map<std::size_t, Started> started_;
  std::size_t next_ = 0;  // number of what is started
};

}  // namespace

std::unique_ptr<Communicator> simulated_communicator(std::int64_t ranks) {
  return std::make_unique<Simulated>(ranks);
}

}  // namespace mtf
