// The micro-kernels of the product: one output tile, held in registers.
//
// Elements of a tile are independent chains, so neither the size of a tile nor the instruction set
// shows in the bits.

#pragma once

#include <array>
#include <cstdint>

#include "ir/dtype.h"
#include "runtime/kernels/cpu.h"
#include "runtime/products/gemm_plan.h"

namespace mtf {

// All parts of a panel for one tile. Tiles in memory are row-major.
template <typename T>
struct TileRun {
  const ChainPart* parts = nullptr;
  std::int64_t count = 0;
  const T* a = nullptr;    // of the panel's first index and the tile's first row
  std::int64_t a_row = 0;  // one of these two is 1
  std::int64_t a_inner = 0;
  const T* b = nullptr;  // a tile's columns lie side by side
  std::int64_t b_inner = 0;
  T* const* places = nullptr;  // of the stack; rows are kGemmVectors registers apart
  T* result = nullptr;         // where the last part goes, if not to its place
  std::int64_t result_stride = 0;
  bool prefetches = false;  // the lines of the result, which are far away
  // Where a is gathered: its rows, four by four, each `a_row` elements apart, for which `inner` has
  // what to add for each index, in elements as they are stored.
  const T* const* fours = nullptr;
  const std::int64_t* inner = nullptr;
};

inline constexpr int kGemmMaxRows = 12;
inline constexpr int kGemmVectors = 2;  // a tile is one or two registers wide

template <typename T>
struct GemmKernel {
  using Run = void (*)(const TileRun<T>&);
  using ByRows = std::array<Run, kGemmMaxRows>;  // [rows - 1]

  // For parts of one leaf, or of two or four side by side.
  struct Tiles {
    std::int64_t rows = 0;                           // of the tallest
    std::array<ByRows, kGemmVectors> adjacent = {};  // [vectors - 1]; a_row = 1
    std::array<ByRows, kGemmVectors> apart = {};     // a_inner = 1
  };

  std::int64_t rows = 0;            // of a packed tile
  std::int64_t lanes = 0;           // of one register
  std::int64_t together = 1;        // inner indices that are packed as one
  std::array<Tiles, 3> tiles = {};  // of one leaf, two and four
  std::array<ByRows, kGemmVectors> gathered = {};
  ByRows gathered_fours = {};  // for parts of four leaves, of one register's width
};

[[nodiscard]] const GemmKernel<float>& gemm_kernel(Isa isa, float);
[[nodiscard]] const GemmKernel<double>& gemm_kernel(Isa isa, double);
// Of bf16 that was widened, or of pairs of them (GemmKernel::together).
[[nodiscard]] const GemmKernel<float>& gemm_kernel(Isa isa, BFloat16);

extern const GemmKernel<float> kGemmAvx512F32;
extern const GemmKernel<double> kGemmAvx512F64;
extern const GemmKernel<float> kGemmAvx2F32;
extern const GemmKernel<double> kGemmAvx2F64;
extern const GemmKernel<float> kGemmPairsBf16;
extern const GemmKernel<float> kGemmAvx512Bf16;
extern const GemmKernel<float> kGemmAvx2Bf16;
extern const GemmKernel<float> kGemmPortableBf16;
extern const GemmKernel<float> kGemmPortableF32;
extern const GemmKernel<double> kGemmPortableF64;

}  // namespace mtf
