#include "runtime/execute/kernel/rank_kernel.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "runtime/kernels/thread_team.h"

namespace mtf {
namespace {

// Whether threads may have slices of the result. What reports to the host is done once.
bool has_slices(const KernelCall& call, const CallSlices& whole) {
  const OpDef& op = *call.call.op;
  const auto has_dims = [](const TensorView& view, const DimMap& map) {
    return view.shape.rank() == map.size();
  };
  return !op.threaded && !op.effect && op.file == FileUse::kNone && call.part == CallPart::kAll &&
         whole.out.shape.volume() > 0 && has_dims(whole.out, call.space.result) &&
         std::ranges::equal(whole.in, call.space.operands, has_dims);
}

// Where a loop is in a tensor.
struct LoopPlace {
  std::size_t dim = 0;
  std::int64_t inside = 1;  // so many indices of the dim for one of the loop
};

// The first loop with several indices here, of a tensor's first dim with several.
std::optional<std::size_t> leading_loop(const TensorView& view, const DimMap& map,
                                        std::span<const LoopShare> shares) {
  for (std::size_t d = 0; d < map.size(); ++d) {
    for (const std::size_t loop : map[d]) {
      if (shares[loop].extent > 1) {
        return loop;
      }
    }
    if (view.shape[d].size != 1) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// requires: the loop leads the tensor. nullopt: the rank has a part of a loop inside it, so that
// what it has of the dim is no range.
std::optional<LoopPlace> place_of(const DimMap& map, std::size_t loop,
                                  std::span<const LoopShare> shares) {
  for (std::size_t d = 0; d < map.size(); ++d) {
    const auto found = std::ranges::find(map[d], loop);
    if (found == map[d].end()) {
      continue;
    }
    LoopPlace place{.dim = d};
    for (auto inner = std::next(found); inner != map[d].end(); ++inner) {
      if (shares[*inner].parts > 1) {
        return std::nullopt;
      }
      place.inside *= shares[*inner].extent;
    }
    return place;
  }
  return std::nullopt;
}

// Of an operand that is moved or read through windows the kernel finds what it needs.
bool stays_whole(const IterationSpace& space, std::size_t operand, std::size_t loop) {
  if (!space.moved.empty() || !runs_over(space.operands[operand], loop)) {
    return true;
  }
  return std::ranges::any_of(windows_of(space, operand), [&](const WindowDim& window) {
    return runs_over({space.operands[operand][window.dim]}, loop);
  });
}

// A loop along which all that is cut lies in slices behind each other, and where it is in each
// tensor; none in those that stay whole.
struct Cut {
  std::size_t loop = 0;
  LoopPlace out;
  std::vector<std::optional<LoopPlace>> in;
};

// Whether each slice would take as long as all of them: what is computed of a whole operand, as a
// factor of a matrix, has no part that is less work.
bool is_of_whole(const KernelCall& call, std::size_t loop) {
  const IterationSpace& space = call.space;
  return call.call.op->flops != nullptr &&
         std::ranges::find(space.loops, DimRole::kWhole, &LoopDim::role) != space.loops.end() &&
         std::ranges::none_of(space.operands,
                              [loop](const DimMap& map) { return runs_over(map, loop); });
}

std::optional<Cut> cut_of(const CallSlices& slices, const KernelCall& call) {
  const IterationSpace& space = call.space;
  const std::optional<std::size_t> loop = leading_loop(slices.out, space.result, slices.shares);
  if (!loop || space.loops[*loop].role != DimRole::kKept || is_of_whole(call, *loop)) {
    return std::nullopt;
  }
  const std::optional<LoopPlace> out = place_of(space.result, *loop, slices.shares);
  if (!out) {
    return std::nullopt;
  }
  Cut cut{.loop = *loop, .out = *out, .in = {}};
  for (std::size_t i = 0; i < slices.in.size(); ++i) {
    std::optional<LoopPlace>& place = cut.in.emplace_back();
    if (stays_whole(space, i, *loop)) {
      continue;
    }
    const DimMap& map = space.operands[i];
    place = leading_loop(slices.in[i], map, slices.shares) == loop
                ? place_of(map, *loop, slices.shares)
                : std::nullopt;
    if (!place) {
      return std::nullopt;
    }
  }
  return cut;
}

// Makes `view` its own part of the leading loop, of which it has `extent` indices; where that
// begins, in bytes.
std::int64_t take_part(TensorView& view, const LoopPlace& place, std::int64_t extent,
                       Interval part) {
  const auto width = static_cast<std::int64_t>(bytes_of(view.dtype));
  const std::int64_t first = view.shape.volume() / extent * part.begin * width;
  std::vector<Dim> dims(view.shape.dims().begin(), view.shape.dims().end());
  dims[place.dim].size = part.extent * place.inside;
  view.shape = Shape(std::move(dims));
  if (!view.offset.empty()) {
    view.offset[place.dim] += part.begin * place.inside;
  }
  return first;
}

std::int64_t elements_of(const CallSlices& slices) {
  std::int64_t most = slices.out.shape.volume();
  for (const TensorView& view : slices.in) {
    most = std::max(most, view.shape.volume());
  }
  return most;
}

}  // namespace

std::vector<RankKernel::Part> RankKernel::cut(const Part& part, const KernelCall& call,
                                              std::int64_t threads) {
  std::vector<Part> parts;
  const std::optional<Cut> found = threads > 1 ? cut_of(part.slices, call) : std::optional<Cut>();
  const auto copy = [&] { return Part{.slices = part.slices, .in = part.in, .out = part.out}; };
  if (!found) {
    parts.push_back(copy());
    return parts;
  }
  const std::int64_t extent = part.slices.shares[found->loop].extent;
  const std::int64_t count = std::min(threads, extent);
  for (std::int64_t i = 0; i < count; ++i) {
    const Interval range = nth_part(extent, i, count);
    Part slice = copy();
    for (std::size_t o = 0; o < found->in.size(); ++o) {
      if (found->in[o]) {
        slice.in[o] += take_part(slice.slices.in[o], *found->in[o], extent, range);
      }
    }
    slice.out += take_part(slice.slices.out, found->out, extent, range);
    LoopShare& share = slice.slices.shares[found->loop];
    share = {.parts = share.parts * count,
             .index = share.index * count + i,
             .offset = share.offset + range.begin,
             .extent = range.extent};
    const std::int64_t inside = nth_part(threads, i, count).extent;
    std::ranges::move(cut(slice, call, range.extent == 1 ? inside : 1), std::back_inserter(parts));
  }
  return parts;
}

RankKernel::RankKernel(CallSlices slices, const KernelCall& call, double work)
    : whole_(std::move(slices)) {
  const auto elements =
      std::max(elements_of(whole_), static_cast<std::int64_t>(std::min(work, 0x1p62)));
  const int threads = has_slices(call, whole_) ? threads_for(call.host.cpu(), elements) : 1;
  const Part all{.slices = whole_, .in = std::vector<std::int64_t>(whole_.in.size(), 0)};
  parts_ = cut(all, call, threads);
  for (Part& part : parts_) {
    part.call = std::make_unique<KernelCall>(call);
    part.call->in = part.slices.in;
    part.call->out = part.slices.out;
    part.call->shares = part.slices.shares;
    part.call->notes = std::make_shared<KernelNotes>();
  }
}

void RankKernel::run(std::span<void* const> in, void* out, const Ends& ends) {
  const auto address = [](void* data, std::int64_t first) {
    return data == nullptr ? nullptr : static_cast<std::byte*>(data) + first;
  };
  for (std::size_t i = 0; i < in.size(); ++i) {
    whole_.in[i].data = in[i];
  }
  for (Part& part : parts_) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      part.slices.in[i].data = address(in[i], part.in[i]);
    }
    part.call->out.data = address(out, part.out);
    part.call->epilogue = parts_.size() == 1 ? ends.epilogue : nullptr;
    part.call->runs = parts_.size() == 1 ? ends.runs : nullptr;
  }
  run_on_team(static_cast<int>(parts_.size()), [this](int thread) {
    const KernelCall& call = *parts_[static_cast<std::size_t>(thread)].call;
    call.call.op->kernel(call);
  });
}

}  // namespace mtf
