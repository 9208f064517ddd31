// A step whose blocks are contiguous on both sides is one call of the communicator on the slices
// themselves. Others go through the staging memory, in parts that it can hold.

#include "runtime/exchange/exchange.h"

#include <algorithm>
#include <cassert>

#include "ir/support/index.h"
#include "lowering/layout/holders.h"

namespace mtf {
namespace {

std::vector<std::int64_t> sizes_of(const Shape& shape) {
  std::vector<std::int64_t> sizes;
  for (const Dim& dim : shape.dims()) {
    sizes.push_back(dim.size);
  }
  return sizes;
}

struct Slices {
  std::vector<Slice> from;  // per member of a group
  std::vector<Slice> to;
};

Slices slices_of(const Mesh& mesh, const ExchangeSpec& spec,
                 std::span<const std::int64_t> members) {
  Slices slices;
  for (const std::int64_t rank : members) {
    slices.from.push_back(slice_of(spec.type.shape, spec.from, mesh, rank));
    slices.to.push_back(slice_of(spec.type.shape, spec.to, mesh, rank));
  }
  return slices;
}

// For each member, who holds the slice that it needs: itself if it does, else the first holder that
// nobody else was given. -1: there is none.
std::vector<std::int64_t> sources_of(const Slices& slices) {
  const std::size_t size = slices.from.size();
  std::vector<std::int64_t> sources(size, -1);
  std::vector<char> taken(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    if (slices.from[i].offset == slices.to[i].offset) {
      sources[i] = static_cast<std::int64_t>(i);
      taken[i] = 1;
    }
  }
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size && sources[i] < 0; ++j) {
      if (taken[j] == 0 && slices.from[j].offset == slices.to[i].offset) {
        sources[i] = static_cast<std::int64_t>(j);
        taken[j] = 1;
      }
    }
  }
  return sources;
}

bool has_blocks(StepKind kind) {
  return kind != StepKind::kAllReduce && kind != StepKind::kPermute;
}

bool is_of_holders(StepKind kind) {
  return kind == StepKind::kBroadcast || kind == StepKind::kReduce;
}

// As if all ranks held slices: those that do are in one group, and so are those that do not.
ExchangeSpec on_all_ranks(ExchangeSpec spec) {
  for (ValueLayout* layout : {&spec.from, &spec.to}) {
    *layout = normal(*layout);
    layout->where.clear();
  }
  return spec;
}

}  // namespace

std::vector<std::int64_t> corner_in(const Slice& inner, const Slice& outer) {
  std::vector<std::int64_t> corner;
  for (std::size_t d = 0; d < inner.offset.size(); ++d) {
    corner.push_back(inner.offset[d] - outer.offset[d]);
  }
  return corner;
}

void grow(Staging& staging, std::vector<Buffer>& buffers, std::size_t ranks, std::int64_t bytes) {
  buffers.resize(ranks);
  for (Buffer& buffer : buffers) {
    if (buffer.bytes() < bytes) {
      buffer = Buffer();
      buffer = staging.pool->take(bytes);
    }
  }
}

Exchange::Exchange(Communicator& communicator, const Mesh& mesh, const ExchangeSpec& given)
    : kind_(given.kind),
      group_(&communicator.group(mesh, given.kind == StepKind::kSlice ? Axes{} : given.axes)),
      joining_{.combine = given.combine, .dtype = given.type.dtype, .exact = given.exact},
      width_(static_cast<std::int64_t>(bytes_of(given.type.dtype))),
      from_bytes_(local_shape(given.type.shape, given.from, mesh).volume() * width_) {
  if (kind_ == StepKind::kHaloExchange || !given.to.reach.empty()) {
    halo_.emplace(mesh, given, *group_, communicator.local_ranks());
    return;
  }
  if (kind_ == StepKind::kServe) {
    serve_.emplace(mesh, given, *group_, communicator.local_ranks());
    return;
  }
  if (kind_ == StepKind::kExclusiveScan) {
    scan_.emplace(mesh, given, *group_, communicator.local_ranks());
    return;
  }
  if (kind_ == StepKind::kSortExchange) {
    sort_.emplace(mesh, given, *group_, communicator.local_ranks());
    return;
  }
  assert(problem_with(mesh, given).empty());
  if (is_of_holders(kind_)) {
    holders_.emplace(mesh, given, *group_, communicator.local_ranks());
    return;
  }
  const bool partly = !given.from.where.empty() || !given.to.where.empty();
  if (partly && kind_ == StepKind::kSlice) {
    uneven_.emplace(mesh, given, *group_, communicator.local_ranks());
    return;
  }
  if (partly) {
    for (const std::int64_t rank : communicator.local_ranks()) {
      holds_.push_back(holds(given.from, mesh, rank));
    }
    padding_ =
        std::max(from_bytes_, local_shape(given.type.shape, given.to, mesh).volume() * width_);
  }
  const ExchangeSpec spec = partly ? on_all_ranks(given) : given;
  if (has_blocks(kind_) && mesh.uneven) {
    uneven_.emplace(mesh, spec, *group_, communicator.local_ranks());
  } else if (has_blocks(kind_)) {
    plan_blocks(mesh, spec, communicator.local_ranks());
  }
  if (kind_ == StepKind::kPermute) {
    for (const std::vector<std::int64_t>& members : group_->members) {
      sources_.push_back(sources_of(slices_of(mesh, spec, members)));
    }
  }
}

void Exchange::plan_blocks(const Mesh& mesh, const ExchangeSpec& spec,
                           std::span<const std::int64_t> ranks) {
  const auto from_sizes = sizes_of(local_shape(spec.type.shape, spec.from, mesh));
  const auto to_sizes = sizes_of(local_shape(spec.type.shape, spec.to, mesh));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Slices slices = slices_of(mesh, spec, group_->members[i]);
    const std::size_t me = at(group_->index[i]);
    std::vector<std::int64_t>& packed = packed_.starts.emplace_back();
    std::vector<std::int64_t>& unpacked = unpacked_.starts.emplace_back();
    for (std::size_t j = 0; j < slices.from.size(); ++j) {
      const Slice out = intersection(slices.from[me], slices.to[j]);
      const Slice in = intersection(slices.from[j], slices.to[me]);
      if (i == 0 && j == 0) {
        packed_.copy = BoxCopy(from_sizes, out.extent, width_);
        unpacked_.copy = BoxCopy(to_sizes, in.extent, width_);
      }
      packed.push_back(packed_.copy.start_of(corner_in(out, slices.from[me])));
      unpacked.push_back(unpacked_.copy.start_of(corner_in(in, slices.to[me])));
    }
  }
  for (Blocks* blocks : {&packed_, &unpacked_}) {
    blocks->in_place = blocks->copy.is_contiguous();
    for (const std::vector<std::int64_t>& starts : blocks->starts) {
      for (std::size_t j = 0; j < starts.size(); ++j) {
        const std::int64_t place = static_cast<std::int64_t>(j) * blocks->copy.block_bytes();
        blocks->in_place = blocks->in_place && starts[j] == place;
      }
    }
  }
}

std::int64_t Exchange::block_bytes() const {
  return packed_.copy.block_bytes();
}

// How much of each block a part moves: all of it where nothing is staged.
std::int64_t Exchange::part_bytes(const Staging& staging) const {
  if (packed_.in_place && unpacked_.in_place) {
    return block_bytes();
  }
  // One of the two divides the other: both are products of inner extents of the block.
  const std::int64_t unit = std::max(packed_.copy.run_bytes(), unpacked_.copy.run_bytes());
  const std::int64_t fitting = staging.limit / group_->size / unit * unit;
  return std::clamp(fitting, unit, block_bytes());
}

void Exchange::run(Communicator& communicator, Staging& staging, Ins from, Outs to,
                   Ins indices) const {
  if (halo_) {
    halo_->run(communicator, *group_, staging, from, to);
    return;
  }
  if (serve_) {
    serve_->run(communicator, *group_, staging, from, to, indices);
    return;
  }
  if (sort_) {
    sort_->run(communicator, *group_, staging, from, to);
    return;
  }
  if (scan_) {
    scan_->run(communicator, *group_, staging, from, to);
    return;
  }
  if (holders_) {
    holders_->run(communicator, *group_, joining_, from, to);
    return;
  }
  if (holds_.empty()) {
    run_all(communicator, staging, from, to);
    return;
  }
  if (std::ranges::count(holds_, true) == 0) {
    return;
  }
  grow(staging, staging.padding, holds_.size(), padding_);
  staging.all_ins.assign(from.begin(), from.end());
  staging.all_outs.assign(to.begin(), to.end());
  for (std::size_t i = 0; i < holds_.size(); ++i) {
    if (!holds_[i]) {
      staging.all_ins[i] = staging.padding[i].data();
      staging.all_outs[i] = staging.padding[i].data();
    }
  }
  run_all(communicator, staging, staging.all_ins, staging.all_outs);
}

void Exchange::run_all(Communicator& communicator, Staging& staging, Ins from, Outs to) const {
  if (kind_ == StepKind::kAllReduce) {
    communicator.all_reduce(*group_, joining_, from_bytes_ / width_, from, to);
    return;
  }
  if (kind_ == StepKind::kPermute) {
    communicator.permute(*group_, from_bytes_, sources_, from, to);
    return;
  }
  if (uneven_) {
    uneven_->run(communicator, *group_, joining_, staging, from, to);
    return;
  }
  if (block_bytes() == 0) {
    return;
  }
  if (kind_ == StepKind::kSlice) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      packed_.copy.pack(static_cast<const std::byte*>(from[i]), packed_.starts[i][0], 0,
                        block_bytes(), static_cast<std::byte*>(to[i]));
    }
    return;
  }
  const std::int64_t part = part_bytes(staging);
  for (std::int64_t begin = 0; begin < block_bytes(); begin += part) {
    run_part(communicator, staging, begin, std::min(begin + part, block_bytes()), from, to);
  }
}

// Bytes begin..end of every block, behind each other.
Ins Exchange::pack(Staging& staging, std::int64_t begin, std::int64_t end, Ins from) const {
  const std::int64_t part = end - begin;
  if (packed_.in_place && (part == block_bytes() || group_->size == 1)) {
    return from;
  }
  grow(staging, staging.sent, from.size(), group_->size * part);
  staging.ins.clear();
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::byte* place = staging.sent[i].data();
    for (const std::int64_t start : packed_.starts[i]) {
      packed_.copy.pack(static_cast<const std::byte*>(from[i]), start, begin, end, place);
      place += part;
    }
    staging.ins.push_back(staging.sent[i].data());
  }
  return staging.ins;
}

// Where received blocks land: in the result itself if they belong there as they come.
Outs Exchange::landing(Staging& staging, std::int64_t begin, std::int64_t end, Outs to) const {
  if (unpacked_.in_place && end - begin == block_bytes()) {
    return to;
  }
  grow(staging, staging.received, to.size(), group_->size * (end - begin));
  staging.outs.clear();
  for (const Buffer& buffer : staging.received) {
    staging.outs.push_back(buffer.data());
  }
  return staging.outs;
}

void Exchange::unpack(const Staging& staging, std::int64_t begin, std::int64_t end, Outs to) const {
  if (unpacked_.in_place && end - begin == block_bytes()) {
    return;
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::byte* place = staging.received[i].data();
    for (const std::int64_t start : unpacked_.starts[i]) {
      unpacked_.copy.unpack(place, start, begin, end, static_cast<std::byte*>(to[i]));
      place += end - begin;
    }
  }
}

void Exchange::run_part(Communicator& communicator, Staging& staging, std::int64_t begin,
                        std::int64_t end, Ins from, Outs to) const {
  if (kind_ == StepKind::kReduceScatter) {
    const Ins packed = pack(staging, begin, end, from);
    staging.outs.clear();
    for (void* out : to) {
      staging.outs.push_back(static_cast<std::byte*>(out) + begin);
    }
    communicator.reduce_scatter(*group_, joining_, (end - begin) / width_, packed, staging.outs);
    return;
  }
  const Outs landed = landing(staging, begin, end, to);
  if (kind_ == StepKind::kAllToAll) {
    communicator.all_to_all(*group_, end - begin, pack(staging, begin, end, from), landed);
  } else {  // all-gather: every block handed over is the whole slice
    staging.ins.clear();
    for (const void* slice : from) {
      staging.ins.push_back(static_cast<const std::byte*>(slice) + begin);
    }
    communicator.all_gather(*group_, end - begin, staging.ins, landed);
  }
  unpack(staging, begin, end, to);
}

namespace {

// "" or what is wrong with the blocks that a rank receives.
std::string problem_of_blocks(const Mesh& mesh, const ExchangeSpec& spec, const Slices& slices,
                              std::size_t me) {
  if (spec.kind == StepKind::kReduceScatter) {
    const std::int64_t kept = volume_of(intersection(slices.from[me], slices.to[me]));
    return kept == volume_of(slices.to[me]) ? "" : "would receive sums of what it does not hold";
  }
  std::int64_t received = 0;
  const Slice first = intersection(slices.from[0], slices.to[me]);
  for (const Slice& slice : slices.from) {
    const Slice block = intersection(slice, slices.to[me]);
    if (block.extent != first.extent && !mesh.uneven) {
      return "would receive blocks of several shapes";
    }
    received += volume_of(block);
  }
  return received == volume_of(slices.to[me]) ? "" : "would not receive all of its slice";
}

std::string problem_of(const Mesh& mesh, const ExchangeSpec& spec, const Slices& slices,
                       std::size_t me) {
  if (has_blocks(spec.kind)) {
    return problem_of_blocks(mesh, spec, slices, me);
  }
  if (spec.kind == StepKind::kPermute) {
    const std::vector<std::int64_t> sources = sources_of(slices);
    return std::ranges::count(sources, -1) == 0 ? "" : "needs a slice that nobody holds";
  }
  const bool same = slices.from[me].offset == slices.to[me].offset &&
                    slices.from[me].extent == slices.to[me].extent;
  return same ? "" : "would hold another slice";
}

}  // namespace

std::string problem_with(const Mesh& mesh, const ExchangeSpec& spec) {
  const Axes axes = spec.kind == StepKind::kSlice ? Axes{} : spec.axes;
  for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    const std::vector<std::int64_t> members = mesh.group_of(rank, axes);
    const Slices slices = slices_of(mesh, spec, members);
    const std::string problem =
        is_of_holders(spec.kind) ? HolderExchange::problem(mesh, spec, members)
                                 : problem_of(mesh, spec, slices, at(mesh.index_along(rank, axes)));
    if (!problem.empty()) {
      return "rank " + std::to_string(rank) + " " + problem;
    }
  }
  return "";
}

}  // namespace mtf
