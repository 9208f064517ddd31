// Packing moves elements: each lane's, index by index, where they belong, whatever lies side by
// side in memory.

#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/products/offsets.h"
#include "runtime/products/pack/gemm_pack.h"

namespace mtf {
namespace {

// Inner indices in blocks of `run` channels, under `taps` taps each, of rows of pixels.
struct Windows {
  std::int64_t channels = 0;
  std::int64_t run = 0;
  std::int64_t taps = 0;
  std::int64_t row = 0;  // pixels of a row; a window's taps lie beside its pixel

  [[nodiscard]] Offsets inner() const {
    return offsets_of(std::vector<GemmDim>{{.extent = channels / run, .a = run},
                                           {.extent = taps, .a = channels},
                                           {.extent = run, .a = 1}},
                      &GemmDim::a);
  }
  [[nodiscard]] Offsets lanes(std::int64_t rows) const {
    return offsets_of(std::vector<GemmDim>{{.extent = rows, .a = (row + taps) * channels},
                                           {.extent = row, .a = channels}},
                      &GemmDim::a);
  }
};

template <typename T>
void check_pack(const Windows& windows, const PackRange& range) {
  const Offsets inner = windows.inner();
  const Offsets lanes = windows.lanes(4);
  std::vector<T> x(
      static_cast<std::size_t>(lanes.at(lanes.size - 1) + inner.at(inner.size - 1) + 1));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(static_cast<float>(i % 251));  // which bf16 has as well
  }
  using Packed = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr Packed kUntouched = -1;
  std::vector<Packed> out(static_cast<std::size_t>(range.inner * range.width) + 8, kUntouched);
  pack(x.data(), lanes, inner, range, out.data());
  bool same = true;
  for (std::int64_t k = 0; k < range.inner; ++k) {
    for (std::int64_t lane = 0; lane < range.width; ++lane) {
      const std::int64_t at = lanes.at(range.first_lane + std::min(lane, range.lanes - 1)) +
                              inner.at(range.first_inner + k);
      const auto expected =
          lane < range.lanes
              ? static_cast<Packed>(static_cast<float>(x[static_cast<std::size_t>(at)]))
              : Packed(0);
      same = same && out[static_cast<std::size_t>(k * range.width + lane)] == expected;
    }
  }
  CHECK(same);
  CHECK(std::all_of(out.end() - 8, out.end(), [](Packed end) { return end == kUntouched; }));
}

}  // namespace

TEMPLATE_TEST_CASE("windows are packed for any run of channels and number of lanes", "[gemm]",
                   float, double, BFloat16) {
  for (const std::int64_t run : {1, 2, 3, 4, 6, 8, 12}) {
    for (const std::int64_t width : {6, 8, 14, 16, 32}) {
      for (const std::int64_t lanes : {width, width - 1, width - 3}) {
        CAPTURE(run, width, lanes);
        const Windows windows = {.channels = 24, .run = run, .taps = 3, .row = 11};
        check_pack<TestType>(windows, {.first_lane = 5,
                                       .lanes = lanes,
                                       .first_inner = run,
                                       .inner = 3 * 24 - 2 * run - 1,
                                       .width = width});
      }
    }
  }
}

TEST_CASE("lanes that lie side by side are packed as they are", "[gemm]") {
  for (const std::int64_t width : {2, 4, 6, 8, 12, 16, 24, 32}) {
    CAPTURE(width);
    const std::vector<GemmDim> rows = {{.extent = 7, .a = 40}};
    const std::vector<GemmDim> cols = {{.extent = 40, .a = 1}};
    std::vector<float> x(280);
    std::iota(x.begin(), x.end(), 0.0F);
    std::vector<float> out(static_cast<std::size_t>(7 * width) + 1, -1.0F);
    pack(x.data(), offsets_of(cols, &GemmDim::a), offsets_of(rows, &GemmDim::a),
         {.first_lane = 3, .lanes = width, .inner = 7, .width = width}, out.data());
    for (std::int64_t k = 0; k < 7; ++k) {
      CHECK(out[static_cast<std::size_t>(k * width)] == static_cast<float>(40 * k + 3));
      CHECK(out[static_cast<std::size_t>((k + 1) * width - 1)] ==
            static_cast<float>(40 * k + 2 + width));
    }
    CHECK(out.back() == -1.0F);
  }
}

TEMPLATE_TEST_CASE("tiles that lie side by side are packed one behind the other", "[gemm]", float,
                   double) {
  const auto [width, inner] = GENERATE(table<std::int64_t, std::int64_t>(
      {{6, 1}, {12, 8}, {8, 7}, {16, 9}, {32, 31}, {12, 40}, {6, 0}, {32, 8}}));
  const auto [tiles, row] =
      GENERATE(table<std::int64_t, std::int64_t>({{1, 40}, {2, 70}, {3, 96}, {5, 1024}}));
  CAPTURE(width, inner, tiles, row);
  const std::int64_t lanes = tiles * width;
  const std::int64_t apart = std::max(row, lanes);
  const Offsets rows =
      offsets_of(std::vector<GemmDim>{{.extent = inner + 3, .a = apart}}, &GemmDim::a);
  std::vector<TestType> x(static_cast<std::size_t>((inner + 3) * apart));
  std::iota(x.begin(), x.end(), TestType(0));
  std::vector<TestType> out(static_cast<std::size_t>(inner * lanes) + 1, TestType(-1));
  const bool packs =
      pack_tiles(x.data(), rows, {.count = tiles, .width = width, .first_inner = 2, .inner = inner},
                 out.data());
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(TestType));
  REQUIRE(packs == (width * kSize <= 128 && width * kSize != 32));  // as many as kernels ask for
  bool same = true;
  for (std::int64_t i = 0; packs && i < inner * lanes; ++i) {
    const std::int64_t tile = i / (inner * width);
    const std::int64_t k = i / width % inner;
    same = same && out[static_cast<std::size_t>(i)] ==
                       static_cast<TestType>((k + 2) * apart + tile * width + i % width);
  }
  CHECK(same);
  CHECK(out.back() == TestType(-1));
}

}  // namespace mtf
