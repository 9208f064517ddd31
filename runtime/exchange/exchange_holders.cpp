#include "runtime/exchange/exchange_holders.h"

#include <algorithm>

#include "runtime/exchange/exchange.h"

namespace mtf {
namespace {

const ValueLayout& held_layout(const ExchangeSpec& spec) {
  return spec.kind == StepKind::kBroadcast ? spec.from : spec.to;
}

}  // namespace

HolderExchange::HolderExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
                               std::span<const std::int64_t> ranks)
    : kind_(spec.kind),
      bytes_(local_shape(spec.type.shape, spec.from, mesh).volume() *
             static_cast<std::int64_t>(bytes_of(spec.type.dtype))) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::vector<std::int64_t>& members = group.members[i];
    const auto found = std::ranges::find_if(
        members, [&](std::int64_t rank) { return holds(held_layout(spec), mesh, rank); });
    holder_.push_back(found == members.end() ? -1 : found - members.begin());
  }
}

void HolderExchange::run(Communicator& communicator, const Group& group, Combination joining,
                         Ins from, Outs to) const {
  if (bytes_ == 0) {
    return;
  }
  if (kind_ == StepKind::kBroadcast) {
    communicator.broadcast(group, bytes_, holder_, from, to);
  } else {
    const auto width = static_cast<std::int64_t>(bytes_of(joining.dtype));
    communicator.reduce(group, joining, bytes_ / width, holder_, from, to);
  }
}

std::string HolderExchange::problem(const Mesh& mesh, const ExchangeSpec& spec,
                                    std::span<const std::int64_t> members) {
  const auto is_holder = [&](std::int64_t rank) { return holds(held_layout(spec), mesh, rank); };
  const auto holder = std::ranges::find_if(members, is_holder);
  if (holder == members.end()) {
    return "";
  }
  if (std::ranges::count_if(members, is_holder) > 1) {
    return "is in a group with several holders";
  }
  const Slice held = slice_of(spec.type.shape, held_layout(spec), mesh, *holder);
  const ValueLayout& other = spec.kind == StepKind::kBroadcast ? spec.to : spec.from;
  const bool same = std::ranges::all_of(members, [&](std::int64_t rank) {
    const Slice slice = slice_of(spec.type.shape, other, mesh, rank);
    return slice.offset == held.offset && slice.extent == held.extent;
  });
  return same ? "" : "would hold another slice";
}

}  // namespace mtf
