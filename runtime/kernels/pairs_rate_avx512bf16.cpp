#include <algorithm>
#include <chrono>
#include <immintrin.h>

#include "runtime/kernels/pairs_rate.h"

namespace mtf {
namespace {

constexpr int kTurns = 200;    // a few microseconds: most are not interrupted
constexpr int kAttempts = 10;  // the first are done before the registers are at full speed

__m512 pair(__m512 sum, __m512 x) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(x));
}

__m512 two(__m512 sum, __m512 x) {
  return _mm512_fmadd_ps(x, x, _mm512_fmadd_ps(x, x, sum));
}

// Seconds of so many multiply-adds in twelve chains, which hide how long one takes.
template <__m512 (*kAdd)(__m512, __m512)>
double seconds() {
  __m512 x = _mm512_setzero_ps();
  __m512 a = x;
  __m512 b = x;
  __m512 c = x;
  __m512 d = x;
  __m512 e = x;
  __m512 f = x;
  __m512 g = x;
  __m512 h = x;
  __m512 i = x;
  __m512 j = x;
  __m512 k = x;
  __m512 l = x;
  const auto begin = std::chrono::steady_clock::now();
  for (int turn = 0; turn < kTurns; ++turn) {
    a = kAdd(a, x), b = kAdd(b, x), c = kAdd(c, x), d = kAdd(d, x);
    e = kAdd(e, x), f = kAdd(f, x), g = kAdd(g, x), h = kAdd(h, x);
    i = kAdd(i, x), j = kAdd(j, x), k = kAdd(k, x), l = kAdd(l, x);
    // For all that the compiler knows, each turn goes on from other values.
    asm volatile(""
                 : "+v"(a), "+v"(b), "+v"(c), "+v"(d), "+v"(e), "+v"(f), "+v"(g), "+v"(h), "+v"(i),
                   "+v"(j), "+v"(k), "+v"(l), "+v"(x));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

bool pairs_are_faster() {
  double pairs = seconds<pair>();
  double twos = seconds<two>();
  for (int attempt = 1; attempt < kAttempts; ++attempt) {
    pairs = std::min(pairs, seconds<pair>());
    twos = std::min(twos, seconds<two>());
  }
  return pairs < twos;
}

}  // namespace mtf
