// How ranks talk: one interface, carried by MPI or by the ranks of a mesh simulated in one process.
//
// A process executes its local ranks: one under MPI, all of them when simulated. Every operation
// takes one buffer per local rank, in the order of `local_ranks()`, and is called by all processes
// in the same order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/mesh.h"
#include "ir/op.h"

namespace mtf {

// The ranks that take part in a collective together with each local rank.
struct Group {
  std::int64_t size = 1;
  std::vector<std::vector<std::int64_t>> members;  // per local rank, ordered by Mesh::index_along
  std::vector<std::int64_t> index;                 // per local rank: its own place among them
  std::size_t handle = 0;                          // of the implementation
};

// How two messages become one. Sums and products of floats are taken in the tree of runtime/tree.h
// over the group's order, so the bits do not depend on the algorithm or the implementation.
struct Joining {
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
};

using Outs = std::span<void* const>;
using Ins = std::span<const void* const>;

class Communicator {
 public:
  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator(Communicator&&) = delete;
  Communicator& operator=(Communicator&&) = delete;

  [[nodiscard]] virtual std::int64_t ranks() const = 0;
  [[nodiscard]] virtual std::span<const std::int64_t> local_ranks() const = 0;
  [[nodiscard]] bool has_first_rank() const { return local_ranks().front() == 0; }

  // The groups along `axes`, made once; the reference stays valid. Collective on the first call.
  // requires: mesh.ranks() == ranks()
  [[nodiscard]] virtual const Group& group(const Mesh& mesh, const Axes& axes) = 0;

  // out = the join of all `in` of the group. `out` may be `in`.
  virtual void all_reduce(const Group& group, Joining how, std::int64_t count, Ins in,
                          Outs out) = 0;
  // `in` holds `count` elements per member, in group order; `out` the join of this rank's.
  virtual void reduce_scatter(const Group& group, Joining how, std::int64_t count, Ins in,
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
  virtual void reduce(const Group& group, Joining how, std::int64_t count,
                      std::span<const std::int64_t> holders, Ins in, Outs out) = 0;

  // Begins to send and receive, one Mail per local rank, and returns: the memory is in use, and
  // nothing else may be called, but `post`, until `await` ends all that was posted.
  virtual void post(const Group& group, std::span<const Mail> mail) = 0;
  virtual void await() = 0;

  // One text per rank, known to all afterwards. `local`: one per local rank.
  [[nodiscard]] virtual std::vector<std::string> share(std::span<const std::string> local) = 0;
  // Whether `flag` holds on any process.
  [[nodiscard]] virtual bool any(bool flag) = 0;
  virtual void barrier() = 0;

  // Ends the ranks' connection; nothing may be called afterwards. With status 0 it waits for all.
  // Otherwise `message` goes to standard error: from rank 0 when all ranks close with a failure,
  // from this one when the others do not follow within a second, and then all are stopped.
  virtual void close(int status, std::string_view message) = 0;
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
};

// Starts MPI in this process, with the settings of the launch (see runtime/world.h), and joins the
// other ranks. At most once. A process that ends otherwise than by `close` stops all ranks.
[[nodiscard]] std::unique_ptr<Communicator> mpi_communicator(const MpiOptions& options = {});

// out[i] = the join of parts[..][i] in the tree of runtime/tree.h. `out` may be one of the parts.
void join_parts(Joining how, Ins parts, std::int64_t count, void* out);

}  // namespace mtf
