#include "lowering/unlike/block_cuts.h"

#include <algorithm>
#include <optional>

namespace mtf {
namespace {

using Lengths = std::vector<std::int64_t>;

// What parts of a width may be left of blocks of these lengths, in order.
Lengths lengths_of_parts(const Lengths& lengths, std::int64_t width, std::int64_t ways) {
  Lengths parts;
  for (const std::int64_t length : lengths) {
    const std::int64_t whole = width == 0 ? 0 : std::min(length / width, ways);
    const std::int64_t rest = whole < ways ? length - whole * width : 0;
    if (whole > 0) {
      parts.push_back(width);
    }
    if (whole < ways) {
      parts.push_back(rest);
    }
    if (whole + 1 < ways) {
      parts.push_back(0);
    }
  }
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

class Cutting {
 public:
  Cutting(const Mesh& mesh, std::int64_t size, const Axes& list, std::size_t first)
      : list_(list), first_(first), known_(list.size() + 1), begins_(list.size() + 1) {
    lengths_ = {{size}};
    std::int64_t width = size;
    for (const AxisId axis : list) {
      const std::int64_t ways = mesh.axes[axis].size;
      width = (width + ways - 1) / ways;
      widths_.push_back(width);
      lengths_.push_back(lengths_of_parts(lengths_.back(), width, ways));
    }
  }

  BlockCuts run(const Axes& order) {
    for (std::size_t step = 0; step < order.size(); ++step) {
      const auto at =
          static_cast<std::size_t>(std::ranges::find(list_, order[step]) - list_.begin());
      if (at < list_.size()) {
        add(step, at);
      }
    }
    return std::move(result_);
  }

 private:
  // The axis at a place of the list joins the run before it and the one behind it.
  void add(std::size_t step, std::size_t at) {
    known_[at] = true;
    std::size_t begin = at;
    while (begin > 0 && known_[begin - 1]) {
      --begin;
    }
    const bool is_last = std::ranges::count(known_, true) == std::ssize(list_);
    BlockCut cut{.step = step,
                 .width = widths_[at],
                 .first = kept_from(begin),
                 .count = lengths_[begin].size(),
                 .last = is_last};
    if (known_[at + 1]) {
      cut.behind = kept_from(at + 1);
      cut.left = lengths_[at + 1];
    }
    result_.cuts.push_back(std::move(cut));
  }

  // What the run that begins there leaves of each length; before it is known, all.
  std::size_t kept_from(std::size_t begin) {
    std::optional<std::size_t>& kept = begins_[begin];
    if (!kept) {
      kept = first_ + result_.kept.size();
      result_.kept.insert(result_.kept.end(), lengths_[begin].begin(), lengths_[begin].end());
    }
    return *kept;
  }

  const Axes& list_;
  std::size_t first_;
  std::vector<bool> known_;                         // of each axis; none behind the last
  std::vector<std::optional<std::size_t>> begins_;  // where runs that begin there are kept
  std::vector<Lengths> lengths_;                    // that may be left before each axis
  Lengths widths_;
  BlockCuts result_;
};

}  // namespace

std::int64_t BlockCut::cut(std::int64_t length, std::int64_t place,
                           const std::vector<std::int64_t>& kept) const {
  const std::int64_t part = std::clamp<std::int64_t>(length - place * width, 0, width);
  if (left.empty()) {
    return part;
  }
  const auto known = std::ranges::lower_bound(left, part) - left.begin();
  return kept[behind + static_cast<std::size_t>(known)];
}

BlockCuts cuts_of(const Mesh& mesh, std::int64_t size, const Axes& list, const Axes& order,
                  std::size_t first) {
  return Cutting(mesh, size, list, first).run(order);
}

}  // namespace mtf
