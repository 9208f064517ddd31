// Products: how much is done at a time, where memory for it comes from, and who does it.

#include "runtime/products/gemm.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <memory_resource>
#include <optional>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include "runtime/kernels/thread_team.h"
#include "runtime/products/gemm_block.h"
#include "runtime/products/gemm_pairs.h"
#include "runtime/products/gemm_scratch.h"
#include "runtime/products/gemm_share.h"
#include "runtime/products/gemm_thin.h"

namespace mtf {
namespace {

constexpr std::size_t kTableBytes = std::size_t{32} << 10;  // of offsets that need no allocation
constexpr double kThreadedProducts = 4e6;                   // below, waking threads takes longer

// For cores with 48 KB of first-level and 1 MB or 2 MB of second-level cache (in_second_level).
constexpr std::int64_t kSecondLevel = 1 << 20;
constexpr std::int64_t kPanelBytes = 6144;     // of one lane in a panel
constexpr std::int64_t kThinPanelBytes = 512;  // the same where b is used but once
constexpr std::int64_t kBlockBytes = 4 << 20;  // of a panel of all rows of a block
constexpr std::int64_t kBlockCols = 2048;
// Of columns that are packed together, and of columns that are not packed: they stay in the
// second-level cache, from which they are read as fast as they are needed.
constexpr std::int64_t kGroupBytes = 1000 << 10;  // leaves half of that cache to rows
constexpr std::int64_t kInPlaceBytes = 640 << 10;
constexpr std::int64_t kInPlaceRow = 2048;        // bytes of a row: a tile of them stays near
constexpr std::int64_t kInPlaceTwice = 16 << 10;  // of columns that a tile reads twice
constexpr std::int64_t kRowsWorthPacking = 48;    // for such columns
constexpr std::int64_t kNearResult = 192 << 10;   // bytes of a result that need no prefetch
constexpr std::int64_t kFewCols = 96;             // in a group, where not all columns fit
// Tiles of columns for which rows side by side are gathered, and of leaves that would take turns.
constexpr std::int64_t kGatheredTiles = 4;
constexpr std::int64_t kGatheredTurns = 2;
constexpr std::int64_t kShortestLine = 4;  // of rows that are gathered
constexpr std::int64_t kWordElements = 2;
constexpr std::int64_t kConflict = 4096;  // bytes; lines that far apart displace one another

// Of what is to stay in the second-level cache, if that is smaller (on a Zen 3: half as large), as
// much less: 1.2 times as fast for columns that were read in place and did not stay.
std::int64_t in_second_level(std::int64_t bytes) {
  static const std::int64_t cache = sysconf(_SC_LEVEL2_CACHE_SIZE);  // 0 or -1: not known
  return cache > 0 ? bytes * std::min(cache, kSecondLevel) / kSecondLevel : bytes;
}

// Whether lines that are `step` elements apart have places of their own in the nearest cache.
bool is_spread(std::int64_t step, std::int64_t element) {
  return step * element % kConflict != 0;
}

// Bytes from the first to the last element of an operand.
std::int64_t span_bytes(const Offsets& lanes, const Offsets& inner, std::int64_t element) {
  const auto reach = [](const Offsets& x) { return std::abs(x.step) * (x.size - 1); };
  return (reach(lanes) + reach(inner) + 1) * element;
}

// Elements of packed_a, packed_b, carried and local.
template <typename T>
void allocate(GemmWork<T>& work, std::array<std::int64_t, 4> sizes) {
  constexpr std::int64_t kAligned = kScratchAlignment / static_cast<std::int64_t>(sizeof(T));
  std::int64_t total = 0;
  for (std::int64_t& size : sizes) {
    size = ceil_div(size, kAligned) * kAligned;
    total += size;
  }
  const auto bytes = total * static_cast<std::int64_t>(sizeof(T));
  work.packed_a = reinterpret_cast<T*>(thread_scratch(bytes));
  work.packed_b = work.packed_a + sizes[0];
  work.carried = work.packed_b + sizes[1];
  work.local = work.carried + sizes[2];
}

// How much of a product that is not empty is done at a time.
struct Blocking {
  std::int64_t panel = 1;  // inner indices
  std::int64_t rows = 1;   // blocks
  std::int64_t cols = 1;
  std::int64_t row_tiles = 0;  // of a block
  std::int64_t col_tiles = 0;
};

template <typename T>
Blocking choose_blocking(const GemmWork<T>& work, std::int64_t rows, std::int64_t cols) {
  Blocking result;
  for (const ChainPanel& panel : work.chain.panels) {
    result.panel = std::max(result.panel, panel.length);
  }
  const std::int64_t row_bytes = result.panel * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t units = ceil_div(rows, work.row_unit());
  result.rows =
      std::min(units, ceil_div(rows, std::max(kBlockBytes / row_bytes, work.kernel.rows)));
  result.cols = ceil_div(cols, rows <= kThinRows ? work.width() : kBlockCols);
  result.row_tiles = ceil_div(units, result.rows) * ceil_div(work.row_unit(), work.kernel.rows);
  result.col_tiles = ceil_div(ceil_div(cols, result.cols), work.width());
  return result;
}

// The lines that tiles of gathered rows must not cross; 0 where each four rows are in one.
template <typename T>
std::int64_t line_of_tiles(const GemmPlan& plan, const GemmKernel<T>& kernel) {
  const bool in_fours = plan.line % kGatheredRows == 0 && kernel.rows % kGatheredRows == 0;
  return in_fours || plan.line == plan.rows() ? 0 : plan.line;
}

// Whether rows of a are gathered, and not packed. Low tiles read columns more often, and rows that
// lie side by side are packed by copying, where each tile of columns would read lines anew of which
// it needs but a part: both are worth it for few columns, and fewer if short leaves that are packed
// would take turns (those of 8 words in 4 tiles: 1.45 times as fast packed). Words are packed by
// more than copying, which only turns are worth.
template <typename T>
bool gathers(const GemmPlan& plan, const GemmKernel<T>& kernel) {
  if (plan.line < kShortestLine || plan.leaf_length < kGatheredLeaf * kernel.together) {
    return false;
  }
  const std::int64_t line = line_of_tiles(plan, kernel);
  const bool is_low = 4 * line < 3 * kernel.rows * ceil_div(line, kernel.rows);
  const std::int64_t tiles = ceil_div(plan.cols(), kernel.lanes * kGemmVectors);
  const bool turns = leaves_together(plan, kernel.together) > 1;
  const bool side_by_side = plan.line_step == (plan.a_words && turns ? kWordElements : 1);
  return (!is_low || tiles == 1) &&
         (!side_by_side || tiles <= (turns ? kGatheredTurns : kGatheredTiles));
}

// What is used once or twice, or stays in a near cache as it is, is read where it is; so are long
// rows of a that no near cache would hold when they are packed. A tile has more rows than a cache
// has lines for one place (on a Zen 4: 8), so rows in conflict are packed: 1.07 times as fast.
template <typename T>
void choose_packing(GemmWork<T>& work, std::int64_t rows, std::int64_t cols) {
  const GemmPlan& plan = work.plan;
  const auto size = static_cast<std::int64_t>(sizeof(T));
  const bool apart = plan.a_inner.step == 1;
  const bool as_good = apart && is_spread(plan.a_row.step, size) &&
                       (!work.one_group || plan.inner() * size <= kInPlaceRow);
  work.a_in_place = plan.a_row.even && plan.a_inner.even && (apart || plan.a_row.step == 1) &&
                    (rows <= work.kernel.rows || cols <= 2 * work.width() || as_good);
  // Of leaves that share registers, half a tile's rows come after the other, and lines of columns
  // that are far apart displace one another between them: 1.05 to 1.4 times as fast.
  const bool twice = work.chain.leaves > 1 && rows > kRowsWorthPacking;
  const bool near = is_spread(plan.b_inner.step, size) &&
                    span_bytes(plan.b_col, plan.b_inner, size) <=
                        (twice ? kInPlaceTwice : in_second_level(kInPlaceBytes));
  work.b_in_place = plan.b_inner.even && (rows <= work.kernel.rows || near);
}

template <typename T>
void choose_groups(GemmWork<T>& work, const Blocking& blocking) {
  const std::int64_t bytes =
      blocking.col_tiles * work.width() * blocking.panel * static_cast<std::int64_t>(sizeof(T));
  work.one_group = bytes <= in_second_level(kGroupBytes);
  work.group = work.one_group ? blocking.col_tiles : kFewCols / work.width();
}

// Part `i` of `n`, of whole tiles but for the last one.
Interval part_in_tiles(Interval side, std::int64_t tile, std::int64_t i, std::int64_t n) {
  const Interval tiles = part_of(from_to(0, ceil_div(side.extent, tile)), i, n);
  return from_to(side.begin + tiles.begin * tile,
                 std::min(side.begin + tiles.end() * tile, side.end()));
}

template <typename T, typename S>
void run_blocks(const GemmWork<T>& work, const Blocking& blocking, const Share& share,
                const Tensors<T, S>& tensors) {
  const GemmPlan& plan = work.plan;
  const std::int64_t cols = blocking.col_tiles * work.width();
  const T* onto = tensors.onto == nullptr && plan.accumulate ? tensors.out : tensors.onto;
  for (std::int64_t n = share.batch.begin; n < share.batch.end(); ++n) {
    for (std::int64_t j = share.cols.begin; j < share.cols.end(); j += cols) {
      for (std::int64_t i = 0; i < blocking.rows; ++i) {
        run_block(work, GemmBlock<T, S>{
                            .rows = part_in_tiles(share.rows, work.row_unit(), i, blocking.rows),
                            .cols = from_to(j, std::min(j + cols, share.cols.end())),
                            .a = tensors.a + plan.a_batch.at(n),
                            .b = tensors.b + plan.b_batch.at(n),
                            .out = tensors.out + plan.out_batch.at(n),
                            .onto = onto == nullptr ? nullptr : onto + plan.out_batch.at(n),
                            .factor = tensors.factor});
      }
    }
  }
}

template <typename T, typename S>
void run_share(GemmWork<T> work, const Share& share, const Tensors<T, S>& tensors) {
  constexpr bool kIsStored = std::is_same_v<T, S>;
  const GemmPlan& plan = work.plan;
  if (share.rows.extent <= 0 || share.cols.extent <= 0) {
    return;
  }
  if (is_for_pairs<T, S>(plan)) {
    return run_pairs_share(work, share, tensors);
  }
  if (is_for_thin<T, S>(plan, share)) {
    return run_thin_share(work, share, tensors);
  }
  const Blocking blocking = choose_blocking(work, share.rows.extent, share.cols.extent);
  choose_groups(work, blocking);
  if (kIsStored) {
    choose_packing(work, share.rows.extent, share.cols.extent);
  }
  work.far_result = plan.rows() * plan.cols() * static_cast<std::int64_t>(sizeof(T)) > kNearResult;
  const std::int64_t packed_rows = work.one_group ? 1 : blocking.row_tiles;
  allocate(work,
           {work.reads_rows() ? 0 : packed_rows * work.kernel.rows * blocking.panel,
            work.group * work.width() * blocking.panel,
            work.chain.carried_depth * blocking.row_tiles * blocking.col_tiles * work.tile_size(),
            work.chain.max_depth * work.tile_size()});
  run_blocks(work, blocking, share, tensors);
}

// Part `i` of `n` of the longest side: batches, then rows or columns in whole tiles.
template <typename T>
Share share_of(const GemmWork<T>& work, const Share& whole, std::int64_t i, std::int64_t n) {
  Share share = whole;
  if (whole.batch.extent >= n) {
    share.batch = part_of(whole.batch, i, n);
    return share;
  }
  const bool by_cols = whole.cols.extent >= whole.rows.extent;
  Interval& side = by_cols ? share.cols : share.rows;
  side = part_in_tiles(side, by_cols ? work.width() : work.row_unit(), i, n);
  return share;
}

// Each thread writes its own elements, so threads do not show in the bits either.
template <typename T, typename S>
void run_threads(const GemmWork<T>& work, const Share& whole, const Tensors<T, S>& tensors,
                 int threads) {
  run_on_team(threads, [&work, &whole, &tensors, threads](int i) {
    run_share(work, share_of(work, whole, i, threads), tensors);
  });
}

// Operands are stored as S.
template <typename T, typename S>
struct Ready {
  Ready(const Gemm& product, Cpu on, std::pmr::memory_resource* memory)
      : kernel(gemm_kernel(on.isa, S())),
        plan(plan_gemm(product, kernel.lanes, memory)),
        gathers_rows(std::is_same_v<T, S> ? gathers(plan, kernel) : plan.a_words),
        chain(cut_chain(plan, {.panel_length = panel_length(plan)}, memory)) {
    const bool in_fours = chain.leaves == kLeavesTogether && plan.cols() <= kernel.lanes;
    const int most_leaves = gathers_rows && !in_fours ? 1 : kLeavesTogether;
    if (kernel.together > 1 || chain.leaves > most_leaves) {
      block_chain = cut_chain(plan,
                              {.panel_length = panel_length(plan),
                               .together = kernel.together,
                               .most_leaves = most_leaves},
                              memory);
    }
    const double products = static_cast<double>(plan.batches()) * static_cast<double>(plan.rows()) *
                            static_cast<double>(plan.cols()) * static_cast<double>(plan.inner());
    threads = products > kThreadedProducts ? on.threads : 1;
    const std::optional<Gemm> parts = std::is_same_v<T, S> ? by_leaves(product) : std::nullopt;
    if (parts && plan.inner() > 0) {
      leaves = std::make_unique<Ready>(*parts, on, memory);
      leaves = is_pairs<S>(leaves->plan) ? std::move(leaves) : nullptr;
    }
  }

  static std::int64_t panel_length(const GemmPlan& plan) {
    return (plan.rows() <= kThinRows ? kThinPanelBytes : kPanelBytes) /
           static_cast<std::int64_t>(sizeof(T));
  }

  void run(Tensors<T, S> tensors) const {
    if (leaves != nullptr) {
      std::vector<T> sums(plan.merges.size());
      leaves->run({.a = tensors.a, .b = tensors.b, .out = sums.data()});
      const T sum = sum_of_leaves<T>(sums, plan.merges);
      *tensors.out = plan.accumulate ? *tensors.out + sum : sum;
      return;
    }
    if (plan.swapped) {
      std::swap(tensors.a, tensors.b);
    }
    const GemmWork<T> work = {.plan = plan,
                              .chain = block_chain ? *block_chain : chain,
                              .thin_chain = chain,
                              .kernel = kernel,
                              .a_gathered = gathers_rows,
                              .line = gathers_rows ? line_of_tiles(plan, kernel) : 0};
    if (threads > 1) {
      run_threads(work, whole(), tensors, threads);
    } else {
      run_share(work, whole(), tensors);
    }
  }

  [[nodiscard]] Share whole() const {
    return {.batch = from_to(0, plan.batches()),
            .rows = from_to(0, plan.rows()),
            .cols = from_to(0, plan.cols())};
  }

  [[nodiscard]] bool is_in_blocks() const {
    return leaves == nullptr && threads == 1 && !is_for_pairs<T, S>(plan) &&
           !is_for_thin<T, S>(plan, whole());
  }

  const GemmKernel<T>& kernel;
  GemmPlan plan;
  bool gathers_rows = false;
  Chain chain;
  std::optional<Chain> block_chain;  // of words, or of rows that are gathered leaf by leaf
  int threads = 1;
  std::unique_ptr<Ready> leaves;  // of one product of two vectors
};

// For one use: tables that are small take no memory.
template <typename T, typename S>
void run_gemm(const Gemm& product, const Tensors<T, S>& tensors, Cpu cpu) {
  std::array<std::byte, kTableBytes> tables;  // NOLINT: filled where it is read
  std::pmr::monotonic_buffer_resource memory(tables.data(), tables.size());
  Ready<T, S>(product, cpu, &memory).run(tensors);
}

}  // namespace

template <typename T, typename S>
struct PreparedGemm<T, S>::State : Ready<T, S> {
  State(const Gemm& product, Cpu cpu)
      : Ready<T, S>(product, cpu, std::pmr::get_default_resource()) {}
};

template <typename T, typename S>
PreparedGemm<T, S>::PreparedGemm(const Gemm& product, Cpu cpu)
    : state_(std::make_unique<const State>(product, cpu)) {}

template <typename T, typename S>
PreparedGemm<T, S>::~PreparedGemm() = default;

template <typename T, typename S>
void PreparedGemm<T, S>::run(const S* a, const S* b, T* out) const {
  state_->run(Tensors<T, S>{.a = a, .b = b, .out = out});
}

template <typename T, typename S>
bool PreparedGemm<T, S>::run_onto(const S* a, const S* b, const T* onto, T factor, T* out) const {
  if (!state_->is_in_blocks()) {
    return false;
  }
  state_->run(Tensors<T, S>{.a = a, .b = b, .out = out, .onto = onto, .factor = factor});
  return true;
}

std::int64_t indices_in_word(Cpu cpu) {
  return gemm_kernel(cpu.isa, BFloat16()).together;
}

Cpu with_single_words(Cpu cpu) {
  cpu.isa = cpu.isa == Isa::kAvx512Bf16 ? Isa::kAvx512 : cpu.isa;
  return cpu;
}

bool reads_words(const Gemm& product, Cpu cpu) {
  std::pmr::monotonic_buffer_resource memory;
  const GemmKernel<float>& kernel = gemm_kernel(cpu.isa, BFloat16());
  const GemmPlan plan = plan_gemm(product, kernel.lanes, &memory);
  if (plan.swapped || plan.leaf_length % kernel.together != 0 || !plan.rows() || !plan.cols() ||
      is_pairs<BFloat16>(plan)) {
    return false;
  }
  return gathers(plan, kernel);
}

template class PreparedGemm<float>;
template class PreparedGemm<double>;
template class PreparedGemm<float, BFloat16>;

void gemm(const Gemm& product, const float* a, const float* b, float* out, Cpu cpu) {
  run_gemm<float, float>(product, {.a = a, .b = b, .out = out}, cpu);
}

void gemm(const Gemm& product, const double* a, const double* b, double* out, Cpu cpu) {
  run_gemm<double, double>(product, {.a = a, .b = b, .out = out}, cpu);
}

void gemm(const Gemm& product, const BFloat16* a, const BFloat16* b, float* out, Cpu cpu) {
  run_gemm<float, BFloat16>(product, {.a = a, .b = b, .out = out}, cpu);
}

}  // namespace mtf
