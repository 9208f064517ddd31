// Between whole tensors and their slices.

#include "runtime/execute/tensor.h"

#include <atomic>
#include <cassert>

#include "runtime/exchange/exchange.h"

namespace mtf {

std::uint64_t new_version() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

void make_parts(BufferPool& pool, const Communicator& communicator, const Mesh& mesh,
                RankTensor& tensor) {
  tensor.parts.clear();
  for (const std::int64_t rank : communicator.local_ranks()) {
    tensor.parts.push_back(pool.take(holds(tensor.layout, mesh, rank) ? tensor.local.bytes() : 0));
  }
  tensor.version = new_version();
}

RankTensor make_tensor(BufferPool& pool, const Communicator& communicator, const Mesh& mesh,
                       const TensorType& type, const ValueLayout& layout) {
  RankTensor tensor{.type = type,
                    .layout = layout,
                    .local = {type.dtype, local_shape(type.shape, layout, mesh)},
                    .parts = {}};
  make_parts(pool, communicator, mesh, tensor);
  return tensor;
}

namespace {

BoxCopy slice_copy(const TensorType& type, const Shape& local) {
  std::vector<std::int64_t> whole;
  std::vector<std::int64_t> extent;
  for (std::size_t d = 0; d < type.shape.rank(); ++d) {
    whole.push_back(type.shape[d].size);
    extent.push_back(local[d].size);
  }
  return {whole, extent, static_cast<std::int64_t>(bytes_of(type.dtype))};
}

}  // namespace

RankTensor scatter(BufferPool& pool, const Communicator& communicator, const Mesh& mesh,
                   const TensorType& type, const ValueLayout& layout,
                   std::span<const std::byte> whole) {
  assert(static_cast<std::int64_t>(whole.size()) == type.bytes());
  RankTensor tensor = make_tensor(pool, communicator, mesh, type, layout);
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    const Slice slice = slice_of(type.shape, layout, mesh, communicator.local_ranks()[i]);
    const BoxCopy copy = slice_copy(type, shape_of(type.shape, slice));
    copy.pack(whole.data(), copy.start_of(slice.offset), 0, copy.block_bytes(),
              tensor.parts[i].data());
  }
  return tensor;
}

namespace {

// The slices of a group, one behind the other. requires: the process has one rank.
std::vector<std::byte> gather_slices(Communicator& communicator, const Group& group,
                                     const RankTensor& tensor) {
  assert(tensor.parts.size() == 1);
  const std::int64_t bytes = tensor.local.bytes();
  const Buffer& mine = tensor.parts.front();
  const std::vector<std::byte> nothing(static_cast<std::size_t>(bytes));  // from who holds none
  std::vector<std::byte> slices(static_cast<std::size_t>(group.size * bytes));
  const void* const in = mine.bytes() == bytes ? mine.data() : nothing.data();
  void* const out = slices.data();
  communicator.all_gather(group, bytes, {&in, 1}, {&out, 1});
  return slices;
}

}  // namespace

std::vector<std::byte> gather(Communicator& communicator, const Mesh& mesh,
                              const RankTensor& tensor) {
  assert(tensor.layout.partial.empty());
  Axes axes;
  for (const Axes& of_dim : tensor.layout.dims) {
    axes.insert(axes.end(), of_dim.begin(), of_dim.end());
  }
  for (const Condition& condition : tensor.layout.where) {
    axes.push_back(condition.axis);
  }
  const Group& group = communicator.group(mesh, axes);
  // A process that has all ranks has their slices: gathered, each rank would have a whole tensor.
  const bool are_here = communicator.has_all_ranks();
  const std::vector<std::byte> slices =
      are_here ? std::vector<std::byte>() : gather_slices(communicator, group, tensor);
  const std::byte* received = slices.data();
  std::vector<std::byte> whole(static_cast<std::size_t>(tensor.type.bytes()));
  for (const std::int64_t member : group.members.front()) {
    const std::byte* block = received;
    if (are_here) {
      block = tensor.parts[static_cast<std::size_t>(member)].data();
    } else {
      received += tensor.local.bytes();
    }
    if (holds(tensor.layout, mesh, member)) {
      const Slice slice = slice_of(tensor.type.shape, tensor.layout, mesh, member);
      const BoxCopy copy = slice_copy(tensor.type, shape_of(tensor.type.shape, slice));
      copy.unpack(block, copy.start_of(slice.offset), 0, copy.block_bytes(), whole.data());
    }
  }
  return whole;
}

}  // namespace mtf
