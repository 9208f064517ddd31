// All ranks of a mesh in one process: messages are copies between their buffers.
//
// The first member of each group does the work for all of it.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "ir/support/index.h"
#include "runtime/communicator.h"
#include "runtime/communicator_group.h"

namespace mtf {
namespace {

void copy(void* to, std::int64_t to_offset, const void* from, std::int64_t from_offset,
          std::int64_t bytes) {
  if (bytes > 0) {
    std::memmove(static_cast<std::byte*>(to) + to_offset,
                 static_cast<const std::byte*>(from) + from_offset, at(bytes));
  }
}

class Simulated final : public Communicator {
 public:
  explicit Simulated(std::int64_t ranks) : ranks_(at(ranks)) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }

  [[nodiscard]] std::int64_t ranks() const override {
    return static_cast<std::int64_t>(ranks_.size());
  }
  [[nodiscard]] std::span<const std::int64_t> local_ranks() const override { return ranks_; }

  [[nodiscard]] const Group& group(const Mesh& mesh, const Axes& axes) override {
    return groups_.find(mesh, axes, ranks_, [](const Group&) {});
  }

  void all_reduce(const Group& group, Joining how, std::int64_t count, Ins in, Outs out) override {
    const std::int64_t bytes = count * static_cast<std::int64_t>(bytes_of(how.dtype));
    for (const std::vector<std::int64_t>& members : leaders_of(group)) {
      void* sum = out[at(members.front())];
      join_parts(how, parts_of(members, in, 0), count, sum);
      for (const std::int64_t rank : members) {
        if (out[at(rank)] != sum) {
          copy(out[at(rank)], 0, sum, 0, bytes);
        }
      }
    }
  }

  void reduce_scatter(const Group& group, Joining how, std::int64_t count, Ins in,
                      Outs out) override {
    const std::int64_t bytes = count * static_cast<std::int64_t>(bytes_of(how.dtype));
    for (const std::vector<std::int64_t>& members : leaders_of(group)) {
      for (std::size_t i = 0; i < members.size(); ++i) {
        const auto offset = static_cast<std::int64_t>(i) * bytes;
        join_parts(how, parts_of(members, in, offset), count, out[at(members[i])]);
      }
    }
  }

  void all_gather(const Group& group, std::int64_t bytes, Ins in, Outs out) override {
    each_pair(group,
              [&](std::int64_t from, std::int64_t from_index, std::int64_t to, std::int64_t) {
                copy(out[at(to)], from_index * bytes, in[at(from)], 0, bytes);
              });
  }

  void all_to_all(const Group& group, std::int64_t bytes, Ins in, Outs out) override {
    each_pair(group, [&](std::int64_t from, std::int64_t from_index, std::int64_t to,
                         std::int64_t to_index) {
      copy(out[at(to)], from_index * bytes, in[at(from)], to_index * bytes, bytes);
    });
  }

  void permute(const Group& group, std::int64_t bytes,
               std::span<const std::vector<std::int64_t>> sources, Ins in, Outs out) override {
    for (const std::int64_t rank : ranks_) {
      const std::int64_t source = sources[at(rank)][at(group.index[at(rank)])];
      copy(out[at(rank)], 0, in[at(group.members[at(rank)][at(source)])], 0, bytes);
    }
  }

  void broadcast(const Group& group, std::int64_t bytes, std::span<const std::int64_t> holders,
                 Ins in, Outs out) override {
    for (const std::int64_t rank : ranks_) {
      if (const std::int64_t holder = holders[at(rank)]; holder >= 0) {
        copy(out[at(rank)], 0, in[at(group.members[at(rank)][at(holder)])], 0, bytes);
      }
    }
  }

  void reduce(const Group& group, Joining how, std::int64_t count,
              std::span<const std::int64_t> holders, Ins in, Outs out) override {
    for (const std::vector<std::int64_t>& members : leaders_of(group)) {
      if (const std::int64_t holder = holders[at(members.front())]; holder >= 0) {
        join_parts(how, parts_of(members, in, 0), count, out[at(members[at(holder)])]);
      }
    }
  }

  void post(const Group& group, std::span<const Mail> mail) override {
    for (const std::int64_t rank : ranks_) {
      for (const Mail::Received& message : mail[at(rank)].received) {
        const std::int64_t from = group.members[at(rank)][at(message.member)];
        const auto sent =
            std::ranges::find(mail[at(from)].sent, group.index[at(rank)], &Mail::Sent::member);
        copy(message.data, 0, sent->data, 0, message.bytes);
      }
    }
  }

  void await() override {}

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

  [[nodiscard]] std::span<const void* const> parts_of(std::span<const std::int64_t> members, Ins in,
                                                      std::int64_t offset) {
    parts_.clear();
    for (const std::int64_t rank : members) {
      parts_.push_back(static_cast<const std::byte*>(in[at(rank)]) + offset);
    }
    return parts_;
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
};

}  // namespace

std::unique_ptr<Communicator> simulated_communicator(std::int64_t ranks) {
  return std::make_unique<Simulated>(ranks);
}

}  // namespace mtf
