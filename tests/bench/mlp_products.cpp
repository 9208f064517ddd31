// The five bare products of one training step of a two-layer network, in milliseconds:
// y = x w, z = y v, dv = y' dz, dy = dz v', dw = x' dy. One line per library: its name, the median.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <vector>

#include "runtime/kernels/cpu.h"
#include "runtime/products/gemm.h"

namespace {

using mtf::Gemm;
using mtf::GemmDim;

constexpr std::int64_t kBatch = 512;
constexpr std::int64_t kIo = 1024;
constexpr std::int64_t kHidden = 4096;

// c[m, n] = a[m, k] b[k, n], each stored transposed if so asked; k in 16 canonical blocks.
Gemm product(std::int64_t m, std::int64_t n, std::int64_t k, bool a_transposed, bool b_transposed) {
  Gemm gemm;
  gemm.rows = {{.extent = m, .a = a_transposed ? 1 : k, .b = 0, .out = n}};
  gemm.cols = {{.extent = n, .a = 0, .b = b_transposed ? k : 1, .out = 1}};
  gemm.inner = {
      {.extent = k, .a = a_transposed ? m : 1, .b = b_transposed ? 1 : n, .out = 0, .blocks = 16}};
  return gemm;
}

template <typename Product>
double median_ms(const Product& run) {
  std::vector<float> x(kBatch * kIo, 0.5F);
  std::vector<float> y(kBatch * kHidden, 0.25F);
  std::vector<float> w(kIo * kHidden, 0.125F);
  std::vector<float> z(kBatch * kIo);
  std::vector<float> dw(kIo * kHidden);
  std::vector<double> times;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    run(product(kBatch, kHidden, kIo, false, false), x, w, y);
    run(product(kBatch, kIo, kHidden, false, false), y, w, z);
    run(product(kHidden, kIo, kBatch, true, false), y, z, dw);
    run(product(kBatch, kHidden, kIo, false, true), z, w, y);
    run(product(kIo, kHidden, kBatch, true, false), x, y, dw);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    times.push_back(time.count());
  }
  std::ranges::nth_element(times, times.begin() + 4);
  return times[4];
}

}  // namespace

int main() {
  const mtf::Cpu cpu{.isa = mtf::host_isa()};
  using Data = std::vector<float>;
  const auto library = [&](const Gemm& gemm, const Data& a, const Data& b, Data& c) {
    mtf::gemm_fast(gemm, a.data(), b.data(), c.data(), cpu);
  };
  const auto canonical = [&](const Gemm& gemm, const Data& a, const Data& b, Data& c) {
    mtf::gemm(gemm, a.data(), b.data(), c.data(), cpu);
  };
  std::cout << "onednn " << median_ms(library) << "\n";
  std::cout << "canonical " << median_ms(canonical) << "\n";
}
