#include "stdlib/ops/convolution/conv_plan.h"

#include <algorithm>
#include <optional>

#include "stdlib/ops/convolution/conv_phases.h"

namespace mtf {
namespace {

constexpr std::int64_t kCopyBytes = 1 << 20;   // that a step may copy: stays in a near cache
constexpr std::int64_t kAddedBytes = 1 << 22;  // of results that are added up behind a step
constexpr std::int64_t kAddedPerCopied = 2;    // bytes of all steps' results for one that is copied
constexpr std::int64_t kSideBySide = 8;        // elements of a dim worth copying for
constexpr std::int64_t kBatchedPlaces = 512;   // windows that are a product of their own

class ConvPlanner {
 public:
  ConvPlanner(const KernelCall& call, ConvKind kind, bool copies)
      : call_(call), kind_(kind), of_(loops_of(call, kind)), loops_(of_.loops), axes_(of_.axes) {
    plan_.copies = copies;
    plan_.strides = of_.strides;
  }
  ConvPlanner(const ConvPlanner&) = delete;
  ConvPlanner& operator=(const ConvPlanner&) = delete;
  ConvPlanner(ConvPlanner&&) = delete;
  ConvPlanner& operator=(ConvPlanner&&) = delete;
  ~ConvPlanner() = default;

  ConvPlan run() {
    for (const ConvAxis& axis : axes_) {
      phases_.push_back(
          phases_of(axis.axis, axis.first, axis.count, kind_ == ConvKind::kTransposed));
    }
    plan_padding();
    choose_side_by_side();
    choose_steps();
    turn_second();
    std::vector<const Phase*> picked;
    add_parts(picked);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] const IterationSpace& space() const { return call_.space; }
  [[nodiscard]] const TensorView& view() const { return call_.in[0]; }
  [[nodiscard]] bool is_whole_number() const { return !is_float(call_.out.dtype); }

  // The indices of the operand that an axis reads.
  static Interval read_by(const std::vector<Phase>& phases) {
    std::optional<Interval> read;
    for (const Phase& phase : phases) {
      if (phase.count == 0 || phase.taps == 0) {
        continue;
      }
      const std::int64_t last = phase.index + (phase.count - 1) * phase.by_place;
      const std::int64_t reach = (phase.taps - 1) * phase.by_tap;
      const std::int64_t begin = std::min(phase.index, phase.index + reach);
      const std::int64_t end = std::max(last, last + reach) + 1;
      read = read ? from_to(std::min(begin, read->begin), std::max(end, read->end()))
                  : from_to(begin, end);
    }
    return read.value_or(Interval{});
  }

  // What of the view these are.
  void plan_padding() {
    for (std::size_t v = 0; v < view().shape.rank(); ++v) {
      plan_.padded.push_back({.extent = view().shape[v].size, .count = view().shape[v].size});
    }
    origin_.assign(view().shape.rank(), 0);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const std::size_t v = axes_[i].view_dim;
      const Interval all = read_by(phases_[i]);
      const Interval here = {.begin = view().offset[v], .extent = view().shape[v].size};
      const Interval both = intersection(all, here);
      const bool inside = all.begin >= here.begin && all.end() <= here.end();
      plan_.copies = plan_.copies || !inside;
      plan_.padded[v] = {.extent = all.extent,
                         .from = both.extent > 0 ? both.begin - here.begin : 0,
                         .to = both.extent > 0 ? both.begin - all.begin : 0,
                         .count = both.extent};
      reads_.push_back(all);
    }
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const std::size_t v = axes_[i].view_dim;
      origin_[v] = plan_.copies ? reads_[i].begin : view().offset[v];
    }
  }

  // For the gradient of a kernel, what is next to each other in the result should be so in what is
  // read: where the operand has windows last, it is copied with another dim last, and the result is
  // put in order in the end. So is the second operand if it has that dim, too.
  void choose_side_by_side() {
    const auto fastest = std::ranges::find(plan_.strides, 1);
    const auto last = static_cast<std::size_t>(fastest - plan_.strides.begin());
    const bool is_read =
        std::ranges::any_of(axes_, [last](const ConvAxis& run) { return run.view_dim == last; });
    const std::int64_t bytes =
        call_.out.shape.volume() * static_cast<std::int64_t>(bytes_of(call_.out.dtype));
    if (kind_ != ConvKind::kKernel || !is_read || is_whole_number() || bytes > kAddedBytes) {
      return;
    }
    last_ = longest_result_dim(false);
    last_ = last_ ? last_ : longest_result_dim(true);
    if (!last_) {
      return;
    }
    plan_.copies = true;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      origin_[axes_[i].view_dim] = reads_[i].begin;
    }
    plan_.gathered.resize(space().result.size());
    std::int64_t stride = call_.shares[last_->loop].extent;
    for (std::size_t d = plan_.gathered.size(); d-- > 0;) {
      const std::size_t loop = space().result[d].front();
      const bool is_last = loop == last_->loop;
      plan_.gathered[d] = is_last ? 1 : stride;
      stride *= is_last ? 1 : call_.out.shape[d].size;
      loops_[loop].out = plan_.gathered[d];
    }
  }

  // Of the first operand and the result, and of the second one or not.
  [[nodiscard]] std::optional<ConvDim> longest_result_dim(bool in_b) const {
    std::optional<ConvDim> longest;
    std::int64_t most = kSideBySide - 1;
    for (const ConvDim& dim : of_.batch) {
      const ConvLoop& loop = loops_[dim.loop];
      if (loop.in_out && loop.in_b == in_b && call_.shares[dim.loop].extent > most) {
        most = call_.shares[dim.loop].extent;
        longest = dim;
      }
    }
    return longest;
  }

  // The loop whose indices are worked on one after the other, so that what is copied stays near.
  void choose_steps() {
    const auto best = longest_batch_dim();
    if (plan_.copies && !is_whole_number() && best && copied_bytes() > most_to_copy()) {
      step_along(best->view_dim, best->loop);
    }
    restride();
  }

  [[nodiscard]] std::int64_t copied_bytes() const {
    auto bytes = static_cast<std::int64_t>(bytes_of(view().dtype));
    for (const PaddedDim& dim : plan_.padded) {
      bytes *= dim.extent;
    }
    return bytes;
  }

  // Whose indices may be worked on one after the other: dim of the view, and loop. Neighbours stay
  // together, which products of single channels read side by side.
  [[nodiscard]] std::optional<ConvDim> longest_batch_dim() const {
    std::optional<ConvDim> best;
    std::int64_t most = 1;
    for (const auto& [v, loop] : of_.batch) {
      const bool fits =
          kind_ == ConvKind::kKernel ? adds_up(loop) : loops_[loop].in_out && plan_.strides[v] != 1;
      if (fits && call_.shares[loop].extent > most) {
        most = call_.shares[loop].extent;
        best = {.view_dim = v, .loop = loop};
      }
    }
    return best;
  }

  void step_along(std::size_t v, std::size_t loop) {
    const std::int64_t extent = call_.shares[loop].extent;
    std::int64_t at_a_time = 1;
    if (kind_ == ConvKind::kKernel) {
      at_a_time = extent / call_.blocks(loop);
      plan_.steps.adds = true;
    } else {
      const std::int64_t most = std::max<std::int64_t>(1, most_to_copy() * extent / copied_bytes());
      for (std::int64_t n = 1; n <= std::min(most, extent); ++n) {
        at_a_time = extent % n == 0 ? n : at_a_time;
      }
    }
    plan_.steps.count = extent / at_a_time;
    plan_.steps.from = at_a_time * plan_.strides[v];
    plan_.steps.b = at_a_time * loops_[loop].b;
    plan_.steps.out = at_a_time * loops_[loop].out;
    plan_.padded[v].extent = plan_.padded[v].count = at_a_time;
    stepped_ = loop;
  }

  // In one step. Each step reads the whole kernel, so one larger than the copy would be read from
  // far memory more often than the copy saves.
  [[nodiscard]] std::int64_t most_to_copy() const {
    const TensorView& other = call_.in[1];
    const std::int64_t kernel =
        other.shape.volume() * static_cast<std::int64_t>(bytes_of(other.dtype));
    return kind_ == ConvKind::kKernel ? kCopyBytes : std::max(kCopyBytes, kernel);
  }

  // Whether the sums of the loop's blocks are the upper part of the whole sum's tree, and add less
  // than a near copy saves: of 256 x 256 channels and 32 images of 8 x 8, they take a quarter.
  [[nodiscard]] bool adds_up(std::size_t loop) const {
    const bool is_first = std::ranges::none_of(
        space().loops.begin(), space().loops.begin() + static_cast<std::ptrdiff_t>(loop),
        [](const LoopDim& before) { return before.role == DimRole::kReduced; });
    const std::int64_t bytes =
        call_.out.shape.volume() * static_cast<std::int64_t>(bytes_of(call_.out.dtype));
    const std::int64_t blocks = call_.blocks(loop);
    return is_first && space().loops[loop].role == DimRole::kReduced && blocks > 1 &&
           bytes <= kAddedBytes && bytes * blocks <= kAddedPerCopied * copied_bytes();
  }

  // Strides of the copy, where there is one.
  void restride() {
    std::vector<std::int64_t> strides = plan_.strides;
    if (plan_.copies) {
      std::int64_t stride = last_ ? plan_.padded[last_->view_dim].extent : 1;
      for (std::size_t v = plan_.padded.size(); v-- > 0;) {
        const bool is_last = last_ && last_->view_dim == v;
        strides[v] = is_last ? 1 : stride;
        stride *= is_last ? 1 : plan_.padded[v].extent;
      }
      plan_.copied = strides;
    }
    for (const auto& [v, loop] : of_.batch) {
      loops_[loop].a = strides[v];
    }
    of_a_ = strides;
  }

  // With the dim last that the first operand's copy has so, one step's part at a time.
  void turn_second() {
    if (!last_ || !loops_[last_->loop].in_b) {
      return;
    }
    std::int64_t stride = extent_of(last_->loop);
    plan_.turned.resize(of_.second.size());
    for (std::size_t d = plan_.turned.size(); d-- > 0;) {
      const std::size_t loop = of_.second[d].loop;
      const bool is_last = loop == last_->loop;
      plan_.turned[d] = {
          .extent = extent_of(loop), .from = loops_[loop].b, .to = is_last ? 1 : stride};
      stride *= is_last ? 1 : extent_of(loop);
      loops_[loop].b = plan_.turned[d].to;
    }
  }

  void add_parts(std::vector<const Phase*>& picked) {
    if (picked.size() == axes_.size()) {
      plan_.parts.push_back(part_of_phases(picked));
      return;
    }
    for (const Phase& phase : phases_[picked.size()]) {
      if (phase.taps == 0) {
        plan_.clears = true;
        continue;
      }
      picked.push_back(&phase);
      add_parts(picked);
      picked.pop_back();
    }
  }

  [[nodiscard]] std::int64_t extent_of(std::size_t loop) const {
    return stepped_ == loop ? call_.shares[loop].extent / plan_.steps.count
                            : call_.shares[loop].extent;
  }

  [[nodiscard]] std::int64_t blocks_of(std::size_t loop) const {
    return stepped_ == loop && plan_.steps.adds ? 1 : call_.blocks(loop);
  }

  [[nodiscard]] ConvPart part_of_phases(const std::vector<const Phase*>& picked) const {
    ConvPart part;
    std::vector<GemmDim> dims(loops_.size());
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      dims[l] = {.extent = extent_of(l), .a = loops_[l].a, .b = loops_[l].b, .out = loops_[l].out};
    }
    std::vector<char> in_a(loops_.size(), 0);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const ConvAxis& run = axes_[i];
      const Phase& phase = *picked[i];
      const std::int64_t stride = of_a_[run.view_dim];
      std::int64_t weight = 1;
      for (std::size_t l = run.loops.size(); l-- > 0;) {
        GemmDim& dim = dims[run.loops[l]];
        dim.a = stride * phase.by_place * weight;
        in_a[run.loops[l]] = 1;
        weight *= space().loops[run.loops[l]].size;
      }
      if (kind_ == ConvKind::kTransposed) {
        GemmDim& dim = dims[run.loops.front()];
        part.out += phase.skip * dim.out;
        dim.extent = phase.count;
        dim.out *= phase.step;
      }
      GemmDim& taps = dims[run.taps];
      in_a[run.taps] = 1;
      part.b += phase.tap * taps.b;
      taps.extent = phase.taps;
      taps.a = stride * phase.by_tap;
      taps.b *= phase.tap_step;
      part.a += (phase.index - origin_[run.view_dim]) * stride;
    }
    sort_dims(dims, in_a, part.product);
    return part;
  }

  // Of one image, in a part.
  [[nodiscard]] std::int64_t count_places(const std::vector<GemmDim>& dims) const {
    std::int64_t places = 1;
    for (const ConvAxis& run : axes_) {
      for (const std::size_t l : run.loops) {
        places *= dims[l].extent;
      }
    }
    return places;
  }

  // Places of a large image are a product of their own for each index of the batch.
  void sort_dims(std::vector<GemmDim>& dims, const std::vector<char>& in_a, Gemm& product) const {
    const std::int64_t places = count_places(dims);
    for (std::size_t l = 0; l < dims.size(); ++l) {
      const bool a = loops_[l].in_a || in_a[l] != 0;
      const bool b = loops_[l].in_b;
      const bool is_image = loops_[l].in_a && kind_ != ConvKind::kKernel;
      if (!loops_[l].in_out) {
        dims[l].out = 0;
        dims[l].blocks = space().loops[l].role == DimRole::kReduced ? blocks_of(l) : 1;
        product.inner.push_back(dims[l]);
      } else if ((a && b) || (is_image && places >= kBatchedPlaces)) {
        product.batch.push_back(dims[l]);
      } else if (!a) {
        product.cols.push_back(dims[l]);
      } else {
        product.rows.push_back(dims[l]);
      }
    }
  }

  const KernelCall& call_;
  ConvKind kind_;
  ConvLoops of_;
  std::vector<ConvLoop>& loops_;
  std::vector<ConvAxis>& axes_;
  std::vector<std::vector<Phase>> phases_;  // per axis
  std::vector<Interval> reads_;             // per axis
  std::vector<std::int64_t> origin_;        // per dim of the view, the index at the start of a
  std::vector<std::int64_t> of_a_;          // strides of what products read
  std::optional<std::size_t> stepped_;
  std::optional<ConvDim> last_;  // of the copy
  ConvPlan plan_;
};

}  // namespace

ConvPlan plan_conv(const KernelCall& call, ConvKind kind, bool copies) {
  return ConvPlanner(call, kind, copies).run();
}

}  // namespace mtf
