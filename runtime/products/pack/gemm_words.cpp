#include "runtime/products/pack/gemm_words.h"

#include <algorithm>
#include <utility>

namespace mtf {

void turn_to_words(BFloat16* x, std::int64_t size) {
  for (std::int64_t i = 0; i + 1 < size; i += 2) {
    std::swap(x[i].bits, x[i + 1].bits);
  }
}

void make_words(const BFloat16* x, std::int64_t size, std::int64_t step, BFloat16* words) {
  const std::int64_t paired = std::max<std::int64_t>(size - step, 0);
  for (std::int64_t i = 0; i < paired; ++i) {
    words[2 * i].bits = x[i + step].bits;
    words[2 * i + 1].bits = x[i].bits;
  }
  for (std::int64_t i = paired; i < size; ++i) {
    words[2 * i].bits = 0;
    words[2 * i + 1].bits = x[i].bits;
  }
}

}  // namespace mtf
