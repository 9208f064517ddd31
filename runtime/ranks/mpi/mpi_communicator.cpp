// One rank per process, joined by Open MPI.
//
// Everything but `share` and `any` is made of one primitive: all messages of a step posted at once
// and awaited. MPI's own reductions are not used, because they add in other orders.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include <mpi.h>

#include "ir/support/index.h"
#include "runtime/kernels/thread_team.h"
#include "runtime/ranks/async/async_reduces.h"
#include "runtime/ranks/async/reduce_rounds.h"
#include "runtime/ranks/communicator.h"
#include "runtime/ranks/communicator_group.h"
#include "runtime/ranks/gathered_texts.h"
#include "runtime/ranks/mpi/launch.h"
#include "runtime/ranks/mpi/long_wait.h"
#include "runtime/ranks/mpi/process.h"
#include "runtime/ranks/mpi/wire.h"

namespace mtf {
namespace {

constexpr int kTag = 1;
constexpr int kAsyncTags =
    1 << 14;  // of asynchronous all-reduces: each has its own, among the latest

class Mpi final : public Communicator {
 public:
  Mpi(const MpiOptions& options, Patience patience)
      : Communicator(1),
        options_(options),
        patience_(std::move(patience)),
        async_(/*own_thread=*/false),
        wire_(MPI_COMM_NULL, kTag, options.message_limit) {
    if (const std::optional<Launch> launch = launched()) {
      prepare_environment(*launch);
    }
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    stop_all_when_this_stops();
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    rank_ = rank;
    share_cores(with_asked_threads(cores_among_ranks()));
    place_team(cores().own);  // who starts several jobs on one machine has mpirun bind them
    const bool may_use_thread =
        provided >= MPI_THREAD_SERIALIZED;  // else the rank calls `progress`
    if (may_use_thread && options.own_thread.value_or(cores().has_spare)) {
      async_.use_thread();
    }
  }
  ~Mpi() override {
    async_.stop();
    stop_all_if_running();
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  Mpi(Mpi&&) = delete;
  Mpi& operator=(Mpi&&) = delete;

  [[nodiscard]] std::int64_t ranks() const override { return ranks_; }
  [[nodiscard]] std::span<const std::int64_t> local_ranks() const override { return {&rank_, 1}; }

  [[nodiscard]] const Group& group(const Mesh& mesh, const Axes& axes) override {
    const auto lock = async_.hold();
    return groups_.find(mesh, axes, local_ranks(), [this](Group& fresh) {
      meet();  // a split that waits for a rank would never say so
      fresh.handle = comms_.size();
      MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(fresh.members[0].front()),
                     static_cast<int>(fresh.index[0]), &comms_.emplace_back(MPI_COMM_NULL));
      started_.push_back(0);
    });
  }

  void all_reduce(const Group& group, Combination how, std::int64_t count, Ins in,
                  Outs out) override {
    hand_over(count * static_cast<std::int64_t>(bytes_of(how.dtype)));
    ReduceRounds rounds(group, how, count, in[0], out[0], options_);
    std::byte* received = scratch(rounds.scratch_bytes());
    const auto lock = async_.hold();
    wire_.use(comms_[group.handle]);
    while (rounds.next(wire_, received)) {
      wait();
    }
  }

  void reduce_scatter(const Group& group, Combination how, std::int64_t count, Ins in,
                      Outs out) override {
    const auto lock = async_.hold();
    hand_over(group.size * count * static_cast<std::int64_t>(bytes_of(how.dtype)));
    scatter_in_pieces(
        group, how, count, in[0], out[0], [count](std::int64_t member, Interval piece) {
          return Interval{.begin = member * count + piece.begin, .extent = piece.extent};
        });
  }

  void all_gather(const Group& group, std::int64_t bytes, Ins in, Outs out) override {
    const auto lock = async_.hold();
    const std::int64_t me = group.index[0];
    hand_over(bytes);
    move_bytes(offset(out[0], me * bytes), in[0], bytes);
    for_others(group, [&](std::int64_t other) {
      receive(group, other, offset(out[0], other * bytes), bytes);
    });
    for_others(group,
               [&](std::int64_t other) { send(group, other, offset(out[0], me * bytes), bytes); });
    wait();
  }

  void all_to_all(const Group& group, std::int64_t bytes, Ins in, Outs out) override {
    const auto lock = async_.hold();
    const std::int64_t me = group.index[0];
    hand_over(group.size * bytes);
    move_bytes(offset(out[0], me * bytes), offset(in[0], me * bytes), bytes);
    for_others(group, [&](std::int64_t other) {
      receive(group, other, offset(out[0], other * bytes), bytes);
    });
    for_others(group, [&](std::int64_t other) {
      send(group, other, offset(in[0], other * bytes), bytes);
    });
    wait();
  }

  void permute(const Group& group, std::int64_t bytes,
               std::span<const std::vector<std::int64_t>> sources, Ins in, Outs out) override {
    const auto lock = async_.hold();
    const std::int64_t me = group.index[0];
    const std::vector<std::int64_t>& source = sources[0];
    hand_over(bytes);
    if (source[at(me)] == me) {
      move_bytes(out[0], in[0], bytes);
      return;
    }
    const auto target = std::ranges::find(source, me) - source.begin();
    receive(group, source[at(me)], out[0], bytes);
    send(group, target, in[0], bytes);
    wait();
  }

  // What few ranks hold is small: it goes straight from one to the others, and back.
  void broadcast(const Group& group, std::int64_t bytes, std::span<const std::int64_t> holders,
                 Ins in, Outs out) override {
    const std::int64_t holder = holders[0];
    if (holder < 0) {
      return;
    }
    const auto lock = async_.hold();
    hand_over(bytes);
    if (holder != group.index[0]) {
      receive(group, holder, out[0], bytes);
    } else {
      move_bytes(out[0], in[0], bytes);
      for_others(group, [&](std::int64_t other) { send(group, other, in[0], bytes); });
    }
    wait();
  }

  void reduce(const Group& group, Combination how, std::int64_t count,
              std::span<const std::int64_t> holders, Ins in, Outs out) override {
    const std::int64_t holder = holders[0];
    if (holder < 0) {
      return;
    }
    const auto lock = async_.hold();
    hand_over(count * static_cast<std::int64_t>(bytes_of(how.dtype)));
    scatter_in_pieces(
        group, how, count, in[0], out[0], [holder](std::int64_t member, Interval piece) {
          return Interval{.begin = piece.begin, .extent = member == holder ? piece.extent : 0};
        });
  }

  void post(const Group& group, std::span<const Mail> mail) override {
    const auto lock = async_.hold();
    hand_over(mail[0].handed);
    for (const Mail::Received& message : mail[0].received) {
      receive(group, message.member, message.data, message.bytes);
    }
    for (const Mail::Sent& message : mail[0].sent) {
      send(group, message.member, message.data, message.bytes);
    }
    add(wire_.take_moved());
  }

  void await() override {
    const auto lock = async_.hold();
    wait();
  }

  // In the order in which the ranks of a group start them, each has the same tag on all.
  [[nodiscard]] std::size_t start(const Group& group, Combination how, std::int64_t count,
                                  Outs data) override {
    const auto lock = async_.hold();
    const int tag = kTag + 1 + started_[group.handle]++ % kAsyncTags;
    Traffic handed{.handed = count * static_cast<std::int64_t>(bytes_of(how.dtype))};
    return async_.start(
        ReduceRounds(group, how, count, data[0], data[0], options_),
        std::make_unique<MpiWire>(comms_[group.handle], tag, options_.message_limit, handed));
  }
  [[nodiscard]] FinishedReduce finish(std::size_t number) override {
    const auto lock = async_.hold();
    wait_until([&] { return async_.is_done(number); }, [&] { return async_.missing(number); });
    FinishedReduce finished = async_.finish(number);
    add(finished.moved[0]);
    return finished;
  }
  void progress() override {
    const auto lock = async_.hold();
    async_.progress();
  }

  [[nodiscard]] std::vector<std::string> share(std::span<const std::string> local) override {
    const auto lock = async_.hold();
    const std::string& mine = local.front();
    const auto length = static_cast<std::int64_t>(mine.size());
    std::vector<std::int64_t> lengths(at(ranks_));
    complete([&](MPI_Request* request) {
      MPI_Iallgather(&length, 1, MPI_INT64_T, lengths.data(), 1, MPI_INT64_T, MPI_COMM_WORLD,
                     request);
    });
    const TextPlaces places = text_places(lengths);  // or all ranks throw
    std::string all(places.bytes, '\0');
    complete([&](MPI_Request* request) {
      MPI_Iallgatherv(mine.data(), static_cast<int>(length), MPI_CHAR, all.data(),
                      places.lengths.data(), places.begins.data(), MPI_CHAR, MPI_COMM_WORLD,
                      request);
    });
    return texts_at(places, all);
  }

  [[nodiscard]] bool any(bool flag) override {
    const auto lock = async_.hold();
    int all = flag ? 1 : 0;
    complete([&](MPI_Request* request) {
      MPI_Iallreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, request);
    });
    return all != 0;
  }

  void barrier() override {
    const auto lock = async_.hold();
    meet();
  }

  void close(int status, std::string_view message) override {
    async_.stop();
    std::fflush(nullptr);
    if (status != 0) {
      stop_together(status, message, rank_ == 0);
    }
    barrier();
    for (MPI_Comm& comm : comms_) {
      MPI_Comm_free(&comm);
    }
    comms_.clear();
    MPI_Finalize();
  }

 private:
  static const std::byte* offset(const void* data, std::int64_t bytes) {
    return static_cast<const std::byte*>(data) + bytes;
  }
  static std::byte* offset(void* data, std::int64_t bytes) {
    return static_cast<std::byte*>(data) + bytes;
  }
  static void move_bytes(void* to, const void* from, std::int64_t bytes) {
    if (to != from && bytes > 0) {
      std::memmove(to, from, at(bytes));
    }
  }

  void meet() {
    complete([](MPI_Request* request) { MPI_Ibarrier(MPI_COMM_WORLD, request); });
  }
  void hand_over(std::int64_t bytes) { traffic_of(0).handed += bytes; }

  // ---- messages ----------------------------------------------------------------------------

  template <typename F>
  static void for_others(const Group& group, F&& f) {
    for (std::int64_t i = 1; i < group.size; ++i) {
      f((group.index[0] + i) % group.size);
    }
  }

  void receive(const Group& group, std::int64_t from, void* data, std::int64_t bytes) {
    wire_.use(comms_[group.handle]);
    wire_.receive(from, data, bytes);
  }

  void send(const Group& group, std::int64_t to, const void* data, std::int64_t bytes) {
    wire_.use(comms_[group.handle]);
    wire_.send(to, data, bytes);
  }

  // For all messages but those of asynchronous all-reduces.
  void wait() {
    wait_until([&] { return wire_.is_done(); }, [&] { return wire_.missing(); });
    add(wire_.take_moved());
  }

  // For one of MPI's own collectives among all ranks, which `begin` gives a request.
  template <typename F>
  void complete(F&& begin) {
    MPI_Request request = MPI_REQUEST_NULL;
    begin(&request);
    const auto is_done = [&] {
      int done = 0;
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      return done != 0;
    };
    wait_until(is_done, [this] { return others_here(rank_); });
  }

  template <typename Done, typename Missing>
  void wait_until(Done&& is_done, Missing&& missing) {
    LongWait waiting(patience_, rank_);
    while (!is_done()) {
      async_.progress();
      waiting.look(missing);
    }
  }

  void add(const Traffic& moved) { traffic_of(0) = traffic_of(0) + moved; }

  std::byte* scratch(std::int64_t bytes) {
    if (static_cast<std::int64_t>(scratch_.size()) < bytes) {
      scratch_.resize(at(bytes));
    }
    return scratch_.data();
  }

  // ---- reductions --------------------------------------------------------------------------

  // This rank's range of the sums: everybody sends everybody its part of `in`, and each joins what
  // it got in the tree's order. Waits for what was posted before as well.
  template <typename RangeOf>
  void scatter_sums(const Group& group, Combination how, const void* in, RangeOf&& range_of,
                    void* out) {
    const auto width = static_cast<std::int64_t>(bytes_of(how.dtype));
    const std::int64_t me = group.index[0];
    const Interval mine = range_of(me);
    std::byte* received = scratch(group.size * mine.extent * width);
    parts_.assign(at(group.size), nullptr);
    parts_[at(me)] = offset(in, mine.begin * width);
    for_others(group, [&](std::int64_t other) {
      std::byte* place = received + other * mine.extent * width;
      parts_[at(other)] = place;
      receive(group, other, place, mine.extent * width);
    });
    for_others(group, [&](std::int64_t other) {
      const Interval theirs = range_of(other);
      send(group, other, offset(in, theirs.begin * width), theirs.extent * width);
    });
    wait();
    combine_parts(how, parts_, mine.extent, out);
  }

  // Sums of `count` elements, through little memory; `range_of` says where a member's part of a
  // piece of them is.
  template <typename RangeOf>
  void scatter_in_pieces(const Group& group, Combination how, std::int64_t count, const void* in,
                         void* out, RangeOf&& range_of) {
    const auto width = static_cast<std::int64_t>(bytes_of(how.dtype));
    const std::int64_t most = std::max<std::int64_t>(options_.piece_bytes / width / group.size, 1);
    for (std::int64_t begin = 0; begin < count; begin += most) {
      const Interval piece{.begin = begin, .extent = std::min(most, count - begin)};
      scatter_sums(
          group, how, in, [&](std::int64_t member) { return range_of(member, piece); },
          offset(out, begin * width));
    }
  }

  MpiOptions options_;
  Patience patience_;
  std::int64_t rank_ = 0;
  int ranks_ = 1;
  GroupTable groups_;
  std::vector<MPI_Comm> comms_;  // by Group::handle
  std::vector<int> started_;     // the same: asynchronous all-reduces so far
  AsyncReduces async_;
  MpiWire wire_;
  std::vector<std::byte> scratch_;
  std::vector<const void*> parts_;
};

}  // namespace

std::unique_ptr<Communicator> mpi_communicator(const MpiOptions& options, Patience patience) {
  return std::make_unique<Mpi>(options, std::move(patience));
}

}  // namespace mtf
