#include "lowering/known/content_key.h"

namespace mtf {

// Their number in the last byte of the first word, as many as there is room for before it, and the
// others eight by eight.
void ContentKey::add_axes(const Axes& axes) {
  constexpr std::size_t kFirst = 7;
  constexpr std::size_t kWord = 8;
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < axes.size() && i < kFirst; ++i) {
    word = (word << 8U) | axes[i];
  }
  add((word << 8U) | axes.size());
  for (std::size_t begin = kFirst; begin < axes.size(); begin += kWord) {
    word = 0;
    for (std::size_t i = begin; i < axes.size() && i < begin + kWord; ++i) {
      word = (word << 8U) | axes[i];
    }
    add(word);
  }
}

void ContentKey::add_layout(const ValueLayout& layout) {
  add(layout.dims.size());
  for (const Axes& axes : layout.dims) {
    add_axes(axes);
  }
  add_axes(layout.partial);
  add(layout.where.size());
  for (const Condition& condition : layout.where) {
    add(condition.axis);
    add(condition.same ? *condition.same : kMaxAxes);
    add(static_cast<std::uint64_t>(condition.at));
  }
  add(layout.reach.size());
  for (const Reach& reach : layout.reach) {
    for (const std::int64_t part : {static_cast<std::int64_t>(reach.dim), reach.size, reach.stride,
                                    reach.offset, reach.length, reach.up}) {
      add(static_cast<std::uint64_t>(part));
    }
  }
}

}  // namespace mtf
