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

}  // namespace mtf
