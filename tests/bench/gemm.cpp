// Canonical products against oneDNN and, where it is installed, OpenBLAS: square sizes, the shapes
// of an MLP step, attention, thin ones, all operand orders. A canonical product is prepared once,
// as the executor does it; the libraries are called directly, and prepare what they need in the
// call.
//
// Microseconds are medians of processor time. Ratios are medians over turns of all libraries, since
// what else the machine does lasts longer than a turn; above 1 the canonical product is faster.

#include "runtime/products/gemm.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <dnnl.h>
#include <functional>
#include <new>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/cpu.h"

namespace {

struct Shape {
  std::string name;
  std::int64_t batch = 1;
  std::int64_t m = 1;
  std::int64_t k = 1;
  std::int64_t n = 1;
  bool a_transposed = false;
  bool b_transposed = false;
  std::int64_t blocks = 0;  // 0: as the operations choose for one contracted dim
  bool odd = false;         // thin or tiny: reported apart
};

// Aligned to cache lines, as the executor's tensors are.
template <typename T>
struct Aligned {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  T* allocate(std::size_t n) { return static_cast<T*>(operator new(n * sizeof(T), kLine)); }
  void deallocate(T* at, std::size_t) { operator delete(at, kLine); }
  bool operator==(const Aligned&) const = default;
};

using Floats = std::vector<float, Aligned<float>>;

struct Data {
  Floats a;
  Floats b;
  Floats out;
};

using CblasSgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*,
                            int, float, float*, int);

double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

mtf::Gemm product_of(const Shape& s) {
  const std::int64_t blocks = s.blocks != 0 ? s.blocks : std::gcd(std::int64_t{16}, s.k);
  return {.batch = {{.extent = s.batch, .a = s.m * s.k, .b = s.k * s.n, .out = s.m * s.n}},
          .rows = {{.extent = s.m, .a = s.a_transposed ? 1 : s.k, .out = s.n}},
          .cols = {{.extent = s.n, .b = s.b_transposed ? s.k : 1, .out = 1}},
          .inner = {{.extent = s.k,
                     .a = s.a_transposed ? s.m : 1,
                     .b = s.b_transposed ? 1 : s.n,
                     .blocks = blocks}}};
}

void run_onednn(const Shape& s, Data& data) {
  for (std::int64_t i = 0; i < s.batch; ++i) {
    dnnl_sgemm(s.a_transposed ? 'T' : 'N', s.b_transposed ? 'T' : 'N', s.m, s.n, s.k, 1,
               data.a.data() + i * s.m * s.k, s.a_transposed ? s.m : s.k,
               data.b.data() + i * s.k * s.n, s.b_transposed ? s.k : s.n, 0,
               data.out.data() + i * s.m * s.n, s.n);
  }
}

void run_openblas(CblasSgemm sgemm, const Shape& s, Data& data) {
  constexpr int kRowMajor = 101;
  constexpr int kNormal = 111;
  constexpr int kTransposed = 112;
  const auto length = [](std::int64_t x) { return static_cast<int>(x); };
  for (std::int64_t i = 0; i < s.batch; ++i) {
    sgemm(kRowMajor, s.a_transposed ? kTransposed : kNormal, s.b_transposed ? kTransposed : kNormal,
          length(s.m), length(s.n), length(s.k), 1, data.a.data() + i * s.m * s.k,
          length(s.a_transposed ? s.m : s.k), data.b.data() + i * s.k * s.n,
          length(s.b_transposed ? s.k : s.n), 0, data.out.data() + i * s.m * s.n, length(s.n));
  }
}

double median(std::vector<double> list) {
  const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
  std::ranges::nth_element(list, middle);
  return *middle;
}

// Microseconds of each, in turns, for about `budget` seconds.
std::vector<std::vector<double>> take_turns(const std::vector<std::function<void()>>& runs,
                                            double flops, double budget) {
  std::vector<std::vector<double>> times(runs.size());
  const int repeats = std::max(1, static_cast<int>(1e7 / flops));
  const double end = seconds() + budget;
  while (seconds() < end || times[0].size() < 7) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const double start = seconds();
      for (int r = 0; r < repeats; ++r) {
        runs[i]();
      }
      times[i].push_back((seconds() - start) / repeats * 1e6);
    }
  }
  return times;
}

double median_ratio(const std::vector<double>& other, const std::vector<double>& own) {
  std::vector<double> ratios;
  for (std::size_t turn = 0; turn < own.size(); ++turn) {
    ratios.push_back(other[turn] / own[turn]);
  }
  return median(std::move(ratios));
}

std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes;
  for (const std::int64_t n : {64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048}) {
    shapes.push_back({.name = "square " + std::to_string(n), .m = n, .k = n, .n = n});
  }
  shapes.push_back({.name = "mlp y=xw", .m = 512, .k = 1024, .n = 4096});
  shapes.push_back({.name = "mlp z=yv", .m = 512, .k = 4096, .n = 1024});
  shapes.push_back({.name = "mlp dv=y'dz", .m = 4096, .k = 512, .n = 1024, .a_transposed = true});
  shapes.push_back({.name = "mlp dy=dzv'", .m = 512, .k = 1024, .n = 4096, .b_transposed = true});
  shapes.push_back({.name = "mlp dw=x'dy", .m = 1024, .k = 512, .n = 4096, .a_transposed = true});
  shapes.push_back(
      {.name = "attention qk'", .batch = 64, .m = 128, .k = 64, .n = 128, .b_transposed = true});
  shapes.push_back({.name = "attention pv", .batch = 64, .m = 128, .k = 128, .n = 64});
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      const std::string name = std::string("order ") + (a ? "T" : "N") + (b ? "T" : "N");
      shapes.push_back(
          {.name = name, .m = 640, .k = 640, .n = 640, .a_transposed = a, .b_transposed = b});
    }
  }
  shapes.push_back({.name = "vector-matrix", .m = 1, .k = 1024, .n = 1024, .odd = true});
  shapes.push_back({.name = "matrix-vector", .m = 1024, .k = 1024, .n = 1, .odd = true});
  shapes.push_back({.name = "few classes", .m = 512, .k = 1024, .n = 10, .odd = true});
  shapes.push_back({.name = "outer", .m = 512, .k = 2, .n = 512, .odd = true});
  shapes.push_back({.name = "tiny", .m = 16, .k = 16, .n = 16, .odd = true});
  return shapes;
}

double report(const Shape& shape, CblasSgemm sgemm, mtf::Cpu cpu) {
  const auto size = [&shape](std::int64_t x) { return static_cast<std::size_t>(shape.batch * x); };
  Data data = {.a = Floats(size(shape.m * shape.k), 0.5F),
               .b = Floats(size(shape.k * shape.n), 0.25F),
               .out = Floats(size(shape.m * shape.n))};
  const mtf::PreparedGemm<float> product(product_of(shape), cpu);
  std::vector<std::function<void()>> runs = {
      [&] { product.run(data.a.data(), data.b.data(), data.out.data()); },
      [&] { run_onednn(shape, data); }};
  if (sgemm != nullptr) {
    runs.emplace_back([&] { run_openblas(sgemm, shape, data); });
  }
  const double flops = 2.0 * static_cast<double>(shape.batch * shape.m) *
                       static_cast<double>(shape.k) * static_cast<double>(shape.n);
  const std::vector<std::vector<double>> times = take_turns(runs, flops, 0.4);
  const double own = median(times[0]);
  const double ratio = median_ratio(times[1], times[0]);
  std::printf("%-14s %4ld x %4ld x %4ld x %4ld  %10.2f us %6.1f GF/s  onednn %5.2f",
              shape.name.c_str(), shape.batch, shape.m, shape.k, shape.n, own, flops / own * 1e-3,
              ratio);
  if (sgemm != nullptr) {
    std::printf("  openblas %5.2f", median_ratio(times[2], times[0]));
  }
  std::printf("\n");
  return ratio;
}

// One thread each, whatever the libraries would take.
CblasSgemm find_openblas() {
  void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return nullptr;
  }
  using SetThreads = void (*)(int);
  const auto set_threads = reinterpret_cast<SetThreads>(dlsym(library, "openblas_set_num_threads"));
  if (set_threads != nullptr) {
    set_threads(1);
  }
  return reinterpret_cast<CblasSgemm>(dlsym(library, "cblas_sgemm"));
}

void summarise(const char* what, const std::vector<double>& ratios) {
  if (ratios.empty()) {
    return;
  }
  double logs = 0;
  for (const double ratio : ratios) {
    logs += std::log(ratio);
  }
  std::printf("%s: geometric mean of onednn %.3f, worst %.3f\n", what,
              std::exp(logs / static_cast<double>(ratios.size())), std::ranges::min(ratios));
}

}  // namespace

// bench_gemm [PART…]: all shapes, or those whose name has one of these parts.
int main(int argc, char** argv) {
  const std::span<char*> parts(argv + 1, static_cast<std::size_t>(argc - 1));
  const mtf::Cpu cpu = {.isa = mtf::host_isa(), .threads = 1};
  float one = 1;
  mtf::gemm_fast({.rows = {{}}, .cols = {{}}, .inner = {{}}}, &one, &one, &one, cpu);  // one thread
  const CblasSgemm sgemm = find_openblas();
  std::vector<Shape> shapes = all_shapes();
  std::erase_if(shapes, [parts](const Shape& shape) {
    return !parts.empty() && std::ranges::none_of(parts, [&shape](const char* part) {
      return shape.name.find(part) != std::string::npos;
    });
  });
  std::vector<double> usual;
  std::vector<double> odd;
  for (const Shape& shape : shapes) {
    (shape.odd ? odd : usual).push_back(report(shape, sgemm, cpu));
  }
  summarise("squares, mlp, attention, orders (goal 0.90, none below 0.75)", usual);
  summarise("thin and tiny", odd);
}
