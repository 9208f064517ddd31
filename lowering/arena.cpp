#include "lowering/arena.h"

#include <iterator>

namespace mtf {

std::int64_t Arena::take(std::int64_t bytes) {
  const std::int64_t need = rounded(bytes);
  auto best = gaps_.end();
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
    if (gap->second >= need && (best == gaps_.end() || gap->second < best->second)) {
      best = gap;
    }
  }
  if (best != gaps_.end()) {
    const auto [offset, size] = *best;
    gaps_.erase(best);
    if (size > need) {
      gaps_.emplace(offset + need, size - need);
    }
    return offset;
  }
  // The last gap may reach the end: it only has to grow.
  if (!gaps_.empty()) {
    const auto last = std::prev(gaps_.end());
    if (last->first + last->second == size_) {
      const std::int64_t offset = last->first;
      gaps_.erase(last);
      size_ = offset + need;
      return offset;
    }
  }
  const std::int64_t offset = size_;
  size_ += need;
  return offset;
}

void Arena::give_back(std::int64_t offset, std::int64_t bytes) {
  if (bytes == 0) {
    return;
  }
  const auto here = gaps_.emplace(offset, rounded(bytes)).first;
  const auto next = std::next(here);
  if (next != gaps_.end() && here->first + here->second == next->first) {
    here->second += next->second;
    gaps_.erase(next);
  }
  if (here != gaps_.begin()) {
    const auto before = std::prev(here);
    if (before->first + before->second == here->first) {
      before->second += here->second;
      gaps_.erase(here);
    }
  }
}

}  // namespace mtf
