#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/kernels/reduce/reduce_kernel.h"
#include "runtime/kernels/strided.h"
#include "runtime/kernels/tree.h"
#include "runtime/products/pack/gemm_words.h"
#include "stdlib/ops/convolution/conv_plan.h"
#include "stdlib/ops/convolution/conv_rules.h"
#include "stdlib/ops/reduce/product_kernel.h"
#include "stdlib/ops/tiles.h"

namespace mtf {
namespace {

constexpr std::int64_t kWordBytes = 12 << 20;  // that are taken for words alone

// Words of one element each.
constexpr std::int64_t kApart = std::numeric_limits<std::int64_t>::max();

// The part reading words whose elements are `step` apart; nullopt: it cannot.
std::optional<ConvPart> reading_words(ConvPart part, std::int64_t step, Cpu cpu) {
  Gemm& product = part.product;
  const GemmDim last = product.inner.back();
  if (step != kApart && (last.a != step || last.extent / last.blocks % 2 != 0)) {
    return std::nullopt;
  }
  const std::int64_t room = step == 1 ? 1 : 2;
  part.a *= room;
  bool at_words = part.a % 2 == 0;
  for (std::vector<GemmDim>* dims : {&product.batch, &product.rows, &product.inner}) {
    for (GemmDim& dim : *dims) {
      dim.a *= room;
      at_words = at_words && (dim.a % 2 == 0 || &dim == &product.inner.back());
    }
  }
  product.a_words = true;
  return at_words && reads_words(product, cpu) ? std::optional(std::move(part)) : std::nullopt;
}

// Products of which most read words of bf16 from the copy.
struct WordReaders {
  std::vector<ConvPart> parts;
  std::int64_t step = 0;  // between the elements of a word
  Cpu cpu;
};

double multiplications(const ConvPart& part) {
  double count = 1;
  for (const auto* dims :
       {&part.product.batch, &part.product.rows, &part.product.cols, &part.product.inner}) {
    for (const GemmDim& dim : *dims) {
      count *= static_cast<double>(dim.extent);
    }
  }
  return count;
}

// Nullopt: less than half of the work could be done so. Elements side by side are words already but
// for their order; else the copy has a word for each element, which takes twice the room.
std::optional<WordReaders> read_words(const ConvPlan& plan, Cpu cpu) {
  WordReaders readers = {.parts = plan.parts, .cpu = cpu};
  if (plan.parts.empty() || plan.parts.front().product.inner.empty()) {
    return std::nullopt;
  }
  readers.step = indices_in_word(cpu) == 1 ? kApart : plan.parts.front().product.inner.back().a;
  if (readers.step <= 0) {
    return std::nullopt;
  }
  double by_words = 0;
  double others = 0;
  for (ConvPart& part : readers.parts) {
    std::optional<ConvPart> reader = reading_words(part, readers.step, cpu);
    (reader ? by_words : others) += multiplications(part);
    if (reader) {
      part = *std::move(reader);
    }
  }
  return by_words > others ? std::optional(std::move(readers)) : std::nullopt;
}

// Words of two elements need half as many instructions as those of one, for which a leaf may have
// any length.
std::optional<WordReaders> read_some_words(const ConvPlan& plan, Cpu cpu) {
  std::optional<WordReaders> readers = read_words(plan, cpu);
  return readers || indices_in_word(cpu) == 1 ? readers : read_words(plan, with_single_words(cpu));
}

std::int64_t padded_volume(const ConvPlan& plan) {
  std::int64_t volume = 1;
  for (const PaddedDim& dim : plan.padded) {
    volume *= dim.extent;
  }
  return volume;
}

// By one step.
template <typename S>
std::int64_t bytes_copied(const ConvPlan& plan) {
  return padded_volume(plan) * static_cast<std::int64_t>(sizeof(S));
}

// The plan, and its products as far as they depend on shapes alone: of operands stored as S.
// Of whole numbers, no product is prepared.
template <typename T, typename S>
using GemmOf = std::conditional_t<std::is_integral_v<T>, PreparedGemm<float>, PreparedGemm<T, S>>;

template <typename T, typename S>
struct PreparedConv {
  PreparedConv(const KernelCall& call, ConvKind kind) : plan(plan_conv(call, kind)) {
    const Cpu cpu = call.host.cpu();
    Cpu by_words = cpu;
    if constexpr (std::is_same_v<S, BFloat16>) {
      by_words = use_words(call, kind);
    }
    if constexpr (!std::is_integral_v<T>) {
      for (const ConvPart& part : plan.parts) {
        products.push_back(
            std::make_unique<GemmOf<T, S>>(part.product, part.product.a_words ? by_words : cpu));
      }
    }
  }

  ConvPlan plan;
  std::int64_t word_step = 0;  // of bf16, between the elements of a word; 0: there are no words
  std::vector<std::unique_ptr<GemmOf<T, S>>> products;

 private:
  // Where products read what is there as it is, it is copied if they then read words, unless one
  // image alone is large. Returns what those are done by that do.
  Cpu use_words(const KernelCall& call, ConvKind kind) {
    const Cpu cpu = call.host.cpu();
    ConvPlan copying = plan.copies ? plan : plan_conv(call, kind, true);
    std::optional<WordReaders> readers = read_some_words(copying, cpu);
    const std::int64_t bytes = 3 * bytes_copied<S>(copying);
    if (!readers || (!plan.copies && bytes > kWordBytes)) {
      return cpu;
    }
    plan = std::move(copying);
    plan.parts = std::move(readers->parts);
    word_step = readers->step;
    return readers->cpu;
  }
};

// Memory of a thread for what it copies; it grows to the largest.
std::byte* copy_scratch(std::size_t bytes) {
  thread_local std::vector<std::byte> scratch;
  if (scratch.size() < bytes) {
    scratch.assign(bytes, std::byte{});
  }
  return scratch.data();
}

// Copies one step's part of the operand, with zeros around.
void copy_padded(const ConvPlan& plan, std::size_t element, const std::byte* from, std::byte* to) {
  std::vector<StridedDim> dims;
  std::int64_t first = 0;
  std::int64_t start = 0;
  for (std::size_t v = 0; v < plan.padded.size(); ++v) {
    const PaddedDim& dim = plan.padded[v];
    dims.push_back({.extent = dim.count, .from = plan.strides[v], .to = plan.copied[v]});
    first += dim.from * plan.strides[v];
    start += dim.to * plan.copied[v];
  }
  const auto width = static_cast<std::int64_t>(element);
  const bool some = std::ranges::all_of(dims, [](const StridedDim& dim) { return dim.extent > 0; });
  if (some) {
    copy_strided(std::move(dims), element, from + first * width, to + start * width);
  }
}

std::size_t turned_volume(const ConvPlan& plan) {
  std::int64_t volume = plan.turned.empty() ? 0 : 1;
  for (const StridedDim& dim : plan.turned) {
    volume *= dim.extent;
  }
  return static_cast<std::size_t>(volume);
}

// Those that read words of `a`, or those that do not.
template <typename T, typename S>
void multiply_parts(const PreparedConv<T, S>& conv, DType dtype, bool words, const S* a, const S* b,
                    T* out) {
  for (std::size_t i = 0; i < conv.plan.parts.size(); ++i) {
    const ConvPart& part = conv.plan.parts[i];
    if (part.product.a_words != words) {
      continue;
    }
    if constexpr (std::is_integral_v<T>) {
      product_of_ints(part.product, dtype, a + part.a, b + part.b, out + part.out);
    } else {
      conv.products[i]->run(a + part.a, b + part.b, out + part.out);
    }
  }
}

// Results of the steps, added up in the tree as they come.
template <typename T>
class StepSums {
 public:
  StepSums(std::int64_t steps, std::int64_t volume, T* out)
      : steps_(steps), volume_(volume), out_(out) {}

  // Where the next step's result goes.
  T* next() {
    if (depth_ == places_.size()) {
      places_.emplace_back(depth_ == 0 ? 0 : static_cast<std::size_t>(volume_));
    }
    return place(depth_++);
  }

  void done(std::int64_t step) {
    if constexpr (!std::is_integral_v<T>) {
      for (int merges = merges_after(step, steps_); merges > 0; --merges) {
        --depth_;
        combine(ReduceKind::kSum, place(depth_ - 1), place(depth_), volume_, place(depth_ - 1));
      }
    }
  }

 private:
  T* place(std::size_t depth) { return depth == 0 ? out_ : places_[depth].data(); }

  std::int64_t steps_;
  std::int64_t volume_;
  T* out_;
  std::size_t depth_ = 0;
  std::vector<std::vector<T>> places_;
};

// The words of the copy, which take its place where they are of elements side by side.
template <typename T, typename S>
const S* words_of(const PreparedConv<T, S>& conv, S* copy) {
  if constexpr (std::is_same_v<S, BFloat16>) {
    const std::int64_t size = padded_volume(conv.plan);
    if (conv.word_step == 1) {
      turn_to_words(copy, size);
    }
    if (conv.word_step > 1) {
      make_words(copy, size, conv.word_step, copy + size);
      return copy + size;
    }
  }
  return copy;
}

// The second operand of a step as products read it: itself, or its copy.
template <typename S>
const S* second_of_step(const ConvPlan& plan, const S* b, std::byte* copy) {
  if (plan.turned.empty()) {
    return b;
  }
  copy_strided(plan.turned, sizeof(S), b, copy);
  return reinterpret_cast<const S*>(copy);
}

template <typename T, typename S>
void run_steps(const PreparedConv<T, S>& conv, const KernelCall& call) {
  const ConvPlan& plan = conv.plan;
  const DType dtype = call.out.dtype;
  const S* a = static_cast<const S*>(call.in[0].data);
  const S* b = static_cast<const S*>(call.in[1].data);
  T* const out = static_cast<T*>(call.out.data);
  if (plan.clears) {
    std::fill_n(out, call.out.shape.volume(), T{});
  }
  if (!plan.copies) {
    return multiply_parts(conv, dtype, false, a, b, out);
  }
  const auto bytes = static_cast<std::size_t>(bytes_copied<S>(plan));
  const std::size_t room = conv.word_step > 1 ? 3 * bytes : bytes;
  std::byte* const copy = copy_scratch(room + turned_volume(plan) * sizeof(S));
  std::memset(copy, 0, bytes);  // the places around stay so from step to step
  std::vector<T> gathered(
      plan.gathered.empty() ? 0 : static_cast<std::size_t>(call.out.shape.volume()));
  T* const whole = plan.gathered.empty() ? out : gathered.data();
  StepSums<T> sums(plan.steps.count, call.out.shape.volume(), whole);
  for (std::int64_t step = 0; step < plan.steps.count; ++step) {
    copy_padded(plan, sizeof(S), reinterpret_cast<const std::byte*>(a + step * plan.steps.from),
                copy);
    T* const to = plan.steps.adds ? sums.next() : whole + step * plan.steps.out;
    S* const copied = reinterpret_cast<S*>(copy);
    const S* const second = second_of_step(plan, b + step * plan.steps.b, copy + room);
    multiply_parts(conv, dtype, false, copied, second, to);
    if (conv.word_step != 0) {
      multiply_parts(conv, dtype, true, words_of(conv, copied), second, to);
    }
    if (plan.steps.adds) {
      sums.done(step);
    }
  }
  if (!plan.gathered.empty()) {
    std::vector<StridedDim> dims;
    const std::vector<std::int64_t> to = strides_of(call.out.shape);
    for (std::size_t d = 0; d < to.size(); ++d) {
      dims.push_back({.extent = call.out.shape[d].size, .from = plan.gathered[d], .to = to[d]});
    }
    copy_strided(std::move(dims), sizeof(T), gathered.data(), out);
  }
}

template <typename S>
struct PreparedTiles {
  PreparedTiles(const WinogradPlan& plan, Cpu cpu) : product(plan.product, cpu), b(plan.b) {}

  PreparedWinograd<S> product;
  std::int64_t b;
};

template <typename S>
void run_tiles(const KernelCall& call, bool up) {
  using Prepared = PreparedTiles<S>;
  const auto prepared = made_once<Prepared>(call, [&] {
    return std::make_shared<const Prepared>(plan_winograd(call, up), call.host.cpu());
  });
  prepared->product.run(static_cast<const S*>(call.in[0].data),
                        static_cast<const S*>(call.in[1].data) + prepared->b,
                        static_cast<float*>(call.out.data));
}

void run_gradient(const KernelCall& call) {
  using Prepared = PreparedWinogradGradient;
  const auto prepared = made_once<Prepared>(call, [&] {
    return std::make_shared<const Prepared>(plan_winograd_gradient(call), call.host.cpu());
  });
  prepared->run(static_cast<const BFloat16*>(call.in[0].data),
                static_cast<const BFloat16*>(call.in[1].data), static_cast<float*>(call.out.data));
}

template <typename T, typename S>
void run_stored(const KernelCall& call, ConvKind kind) {
  using Prepared = PreparedConv<T, S>;
  run_steps(
      *made_once<Prepared>(call, [&] { return std::make_shared<const Prepared>(call, kind); }),
      call);
}

void run_conv(const KernelCall& call, ConvKind kind) {
  if (call.out.shape.volume() == 0) {
    return;
  }
  const bool up = kind == ConvKind::kTransposed;
  const bool is_narrow = call.in[0].dtype == DType::kBF16;
  if (in_tiles(call.space)) {
    return kind == ConvKind::kKernel ? run_gradient(call)
           : is_narrow               ? run_tiles<BFloat16>(call, up)
                                     : run_tiles<float>(call, up);
  }
  if (is_narrow) {
    return run_stored<float, BFloat16>(call, kind);
  }
  with_number(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    run_stored<T, T>(call, kind);
  });
}

}  // namespace

void conv_run(const KernelCall& call) {
  run_conv(call, ConvKind::kForward);
}

void conv_transpose_run(const KernelCall& call) {
  run_conv(call, ConvKind::kTransposed);
}

void conv_kernel_run(const KernelCall& call) {
  run_conv(call, ConvKind::kKernel);
}

}  // namespace mtf
