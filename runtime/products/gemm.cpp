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
#include <utility>

#include "runtime/kernels/thread_team.h"
#include "runtime/products/gemm_block.h"
#include "runtime/products/gemm_blocking.h"
#include "runtime/products/gemm_scratch.h"
#include "runtime/products/gemm_share.h"
#include "runtime/products/thin/gemm_pairs.h"
#include "runtime/products/thin/gemm_thin.h"

namespace mtf {
namespace {

constexpr std::size_t kTableBytes = std::size_t{32} << 10;  // of offsets that need no allocation
constexpr double kThreadedProducts = 4e6;                   // below, waking threads takes longer

// Bytes of a result, or of a band, that is not asked for ahead.
constexpr std::int64_t kNearResult = 192 << 10;

// Elements of packed_a, packed_b, carried, local and band.
template <typename T>
void allocate(GemmWork<T>& work, std::array<std::int64_t, 5> sizes) {
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
  work.band = work.local + sizes[3];
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
  for (std::int64_t n = share.batch.begin; n < share.batch.end(); ++n) {
    for (std::int64_t j = share.cols.begin; j < share.cols.end(); j += cols) {
      for (std::int64_t i = 0; i < blocking.rows; ++i) {
        run_block(work, GemmBlock<T, S>{
                            .rows = part_in_tiles(share.rows, work.row_unit(), i, blocking.rows),
                            .cols = from_to(j, std::min(j + cols, share.cols.end())),
                            .a = tensors.a + plan.a_batch.at(n),
                            .b = tensors.b + plan.b_batch.at(n),
                            .out = tensors.out + plan.out_batch.at(n)});
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
  if (work.epilogue == nullptr && is_for_thin<T, S>(plan, share)) {
    return run_thin_share(work, share, tensors);
  }
  const Blocking blocking = choose_blocking(work, share.rows.extent, share.cols.extent);
  choose_groups(work, blocking);
  if (kIsStored) {
    choose_packing(work, share.rows.extent, share.cols.extent);
  }
  const std::int64_t all_rows = work.epilogue == nullptr ? blocking.row_tiles : work.band_tiles;
  const std::int64_t all_cols = work.epilogue == nullptr ? work.group : blocking.col_tiles;
  const std::int64_t packed_rows = work.one_group ? 1 : all_rows;
  const Offsets in_band = {.step = share.cols.extent};
  const std::int64_t band = work.band_tiles * work.kernel.rows;  // rows
  work.out_row = work.epilogue == nullptr ? work.out_row : &in_band;
  const std::int64_t result =
      work.epilogue == nullptr ? plan.rows() * plan.cols() : band * in_band.step;
  work.far_result = result * static_cast<std::int64_t>(sizeof(T)) > kNearResult;
  allocate(work,
           {work.reads_rows() ? 0 : packed_rows * work.kernel.rows * blocking.panel,
            all_cols * work.width() * blocking.panel,
            work.chain.carried_depth * blocking.row_tiles * blocking.col_tiles * work.tile_size(),
            work.chain.max_depth * work.tile_size(), band * in_band.step});
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
    GemmWork<T> mine = work;
    mine.thread = i;
    run_share(mine, share_of(work, whole, i, threads), tensors);
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

  void run(Tensors<T, S> tensors, const GemmEpilogue<T>* epilogue = nullptr) const {
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
                              .out_row = &plan.out_row,
                              .chain = block_chain ? *block_chain : chain,
                              .thin_chain = chain,
                              .kernel = kernel,
                              .a_gathered = gathers_rows,
                              .line = gathers_rows ? line_of_tiles(plan, kernel) : 0,
                              .epilogue = epilogue};
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

  // Whether it is done block by block and the result lies row by row.
  [[nodiscard]] bool goes_to_epilogue() const {
    const bool in_blocks =
        leaves == nullptr && !is_for_pairs<T, S>(plan) && !is_for_thin<T, S>(plan, whole());
    const bool by_rows = plan.out_row.even && plan.out_row.step == plan.cols() &&
                         plan.out_col.even && plan.out_col.step == 1;
    const Chain& used = block_chain ? *block_chain : chain;
    const std::int64_t packed = plan.cols() * used.panels.front().length;
    return in_blocks && by_rows && plan.batches() == 1 && !plan.accumulate &&
           used.panels.size() == 1 && packed * static_cast<std::int64_t>(sizeof(T)) <= kBandedBytes;
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
bool PreparedGemm<T, S>::run_to(const S* a, const S* b, const GemmEpilogue<T>& epilogue) const {
  if (!state_->goes_to_epilogue()) {
    return false;
  }
  state_->run(Tensors<T, S>{.a = a, .b = b}, &epilogue);
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
