// Sizes and layouts drawn at random, the same ones each time.

#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "ir/layout/layout.h"

namespace mtf::tests {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::size_t below(std::size_t count) { return engine_() % count; }

  std::int64_t size() {
    constexpr std::array<std::int64_t, 8> kSizes = {2, 4, 6, 8, 8, 12, 16, 64};
    return kSizes[below(kSizes.size())];
  }

  // Each axis splits some dim that it divides, or none; in any order.
  ValueLayout layout(const Shape& shape, const Mesh& mesh) {
    ValueLayout layout = replicated(shape);
    for (std::size_t a = 0; a < mesh.axes.size(); ++a) {
      const std::size_t d = below(shape.rank() + 1);
      if (d == shape.rank()) {
        continue;
      }
      Axes& axes = layout.dims[d];
      if (shape[d].size % (mesh.size_of(axes) * mesh.axes[a].size) == 0) {
        axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(below(axes.size() + 1)),
                    static_cast<AxisId>(a));
      }
    }
    return layout;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace mtf::tests
