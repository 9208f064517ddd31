// How ranks talk: one interface, carried by MPI or by the ranks of a mesh simulated in one process.
//
// A process executes its local ranks: one under MPI, all of them when simulated. Every operation
// takes one buffer per local rank, in the order of `local_ranks()`, and is called by all processes
// in the same order.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/dtype.h"
#include "ir/layout/mesh.h"
#include "ir/op.h"
#include "runtime/ranks/cores.h"

namespace mtf {

// The ranks that take part in a collective together with each local rank.
struct Group {
  std::int64_t size = 1;
  std::vector<std::vector<std::int64_t>> members;  // per local rank, ordered by Mesh::index_along
  std::vector<std::int64_t> index;                 // per local rank: its own place among them
  std::size_t handle = 0;                          // of the implementation
};

// How two messages become one. Sums and products of floats are taken in the tree of
// runtime/kernels/tree.h over the group's order, so the bits do not depend on the algorithm or the
// implementation.
struct Combination {
  Combine combine = Combine::kSum;
  DType dtype = DType::kF32;
  bool exact = true;  // otherwise any order
};

// The messages of one rank, at most one to each member of its group and one from each.
struct Mail {
  struct Sent {
    std::int64_t member = 0;
    const void* data = nullptr;
    std::int64_t bytes = 0;
  };
  struct Received {
    std::int64_t member = 0;
    void* data = nullptr;
    std::int64_t bytes = 0;
  };
  std::vector<Sent> sent;
  std::vector<Received> received;
  std::int64_t handed = 0;  // bytes of the slice that the messages are parts of, once for all of it
};

// What a rank has sent to others and received from them, in bytes, counted message by message; what
// stays on a rank is none. An algorithm may send more than the collective needs: a short all-reduce
// does, to wait less often.
struct Traffic {
  std::int64_t handed = 0;  // to collectives, whatever of it moved
  std::int64_t sent = 0;
  std::int64_t received = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
  friend Traffic operator+(const Traffic& a, const Traffic& b) {
    return {.handed = a.handed + b.handed,
            .sent = a.sent + b.sent,
            .received = a.received + b.received};
  }
  friend Traffic operator-(const Traffic& a, const Traffic& b) {
    return {.handed = a.handed - b.handed,
            .sent = a.sent - b.sent,
            .received = a.received - b.received};
  }
};

// Of an asynchronous all-reduce.
struct FinishedReduce {
  std::vector<Traffic> moved;  // per local rank
  // When its first messages went, and when it was done, on this process's clock
  // (runtime/execute/step_time.h).
  std::int64_t started = 0;
  std::int64_t done = 0;
};

using Outs = std::span<void* const>;
using Ins = std::span<const void* const>;

class Communicator {
 public:
  explicit Communicator(std::size_t local_ranks);
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) = delete;
  Communicator& operator=(Communicator&&) = delete;

  [[nodiscard]] virtual std::int64_t ranks() const = 0;
  [[nodiscard]] virtual std::span<const std::int64_t> local_ranks() const = 0;
  [[nodiscard]] bool has_first_rank() const { return local_ranks().front() == 0; }
  [[nodiscard]] bool has_all_ranks() const { return std::ssize(local_ranks()) == ranks(); }
  // What this process has of its machine.
  [[nodiscard]] const Cores& cores() const { return cores_; }
  // Per local rank, since the beginning, of all collectives and of what was posted.
  [[nodiscard]] std::span<const Traffic> traffic() const { return traffic_; }

  // The groups along `axes`, made once; the reference stays valid. Collective on the first call.
  // requires: mesh.ranks() == ranks()
  [[nodiscard]] virtual const Group& group(const Mesh& mesh, const Axes& axes) = 0;

  // out = the join of all `in` of the group. `out` may be `in`.
  virtual void all_reduce(const Group& group, Combination how, std::int64_t count, Ins in,
                          Outs out) = 0;
  // `in` holds `count` elements per member, in group order; `out` the join of this rank's.
  virtual void reduce_scatter(const Group& group, Combination how, std::int64_t count, Ins in,
                              Outs out) = 0;
  // `out` holds `bytes` per member, in group order. `in` may lie in its place in `out`.
  virtual void all_gather(const Group& group, std::int64_t bytes, Ins in, Outs out) = 0;
  // Block j of `in` goes to member j; block i of `out` comes from member i. `bytes`: of a block.
  virtual void all_to_all(const Group& group, std::int64_t bytes, Ins in, Outs out) = 0;
  // sources[i]: per local rank, the member of its group whose `in` becomes its `out`; a bijection.
  virtual void permute(const Group& group, std::int64_t bytes,
                       std::span<const std::vector<std::int64_t>> sources, Ins in, Outs out) = 0;

  // `in` of one member of each group becomes the `out` of all its members; that of the others is
  // not read. holders[i]: per local rank the place of that member, or -1: the group does nothing.
  virtual void broadcast(const Group& group, std::int64_t bytes,
                         std::span<const std::int64_t> holders, Ins in, Outs out) = 0;
  // out = the join of all `in` of the group, on one member of each; elsewhere `out` is left alone.
  virtual void reduce(const Group& group, Combination how, std::int64_t count,
                      std::span<const std::int64_t> holders, Ins in, Outs out) = 0;

  // Begins to send and receive, one Mail per local rank, and returns: the memory is in use, and
  // nothing else may be called, but `post`, until `await` ends all that was posted.
  virtual void post(const Group& group, std::span<const Mail> mail) = 0;
  virtual void await() = 0;

  // Starts an all-reduce in place, of the same bits as `all_reduce`, and returns its number. Until
  // `finish` of that has returned, once, the memory is in use; everything else may be called.
  [[nodiscard]] virtual std::size_t start(const Group& group, Combination how, std::int64_t count,
                                          Outs data) = 0;
  [[nodiscard]] virtual FinishedReduce finish(std::size_t number) = 0;
  // Has what was started go on, as far as that takes no waiting.
  virtual void progress() = 0;

  // One text per rank, known to all afterwards. `local`: one per local rank.
  [[nodiscard]] virtual std::vector<std::string> share(std::span<const std::string> local) = 0;
  // Whether `flag` holds on any process.
  [[nodiscard]] virtual bool any(bool flag) = 0;
  virtual void barrier() = 0;

  // Ends the ranks' connection; nothing may be called afterwards. With status 0 it waits for all.
  // Otherwise `message` goes to standard error: from rank 0 when all ranks close with a failure,
  // from this one when the others do not follow within a second, and then all are stopped.
  virtual void close(int status, std::string_view message) = 0;

 protected:
  [[nodiscard]] Traffic& traffic_of(std::size_t local_rank) { return traffic_[local_rank]; }
  void share_cores(Cores cores) { cores_ = std::move(cores); }

 private:
  std::vector<Traffic> traffic_;
  Cores cores_;
};

// All ranks in this process.
[[nodiscard]] std::unique_ptr<Communicator> simulated_communicator(std::int64_t ranks);

struct MpiOptions {
  std::int64_t message_limit = 2147483647;  // bytes; a longer message goes in parts
  // From this many bytes on, an all-reduce scatters its sums before it gathers them; an eighth of
  // it where the number of ranks is no power of two.
  std::int64_t scatter_from = std::int64_t{1} << 18;
  // Reductions go through scratch memory in pieces of at most this many bytes.
  std::int64_t piece_bytes = std::int64_t{1} << 21;
  // Whether a thread of its own has what was started go on; unset: if the machine has a core for
  // it.
  std::optional<bool> own_thread = {};
};

// Of a rank that waits for others.
struct Patience {
  std::chrono::seconds limit{0};            // then it says for whom, and where; 0: it never does
  bool ends_all = false;                    // … and ends all ranks, with status 5
  std::function<std::string()> place = {};  // that the program is at; may give nothing
};

// Starts MPI in this process, with the settings of the launch (see runtime/ranks/mpi/launch.h), and
// joins the other ranks. At most once. A process that ends otherwise than by `close` stops all
// ranks.
[[nodiscard]] std::unique_ptr<Communicator> mpi_communicator(const MpiOptions& options = {},
                                                             Patience patience = {});

// out[i] = the join of parts[..][i] in the tree of runtime/kernels/tree.h. `out` may be one of the
// parts.
void combine_parts(Combination how, Ins parts, std::int64_t count, void* out);

}  // namespace mtf
