#include "lowering/steps/bands.h"

#include <algorithm>

namespace mtf {
namespace {

constexpr std::int64_t kBandBytes = 256LL * 1024;  // a part of the second-level cache
constexpr std::int64_t kMostRowBytes = 1024LL * 1024;

// Dims that tensors have in common from the first on.
class Prefix {
 public:
  explicit Prefix(const SpmdProgram& program) : program_(program) {}

  void take(SpmdId id) {
    const SpmdValue& value = program_.at(id);
    if (first_ == nullptr) {
      first_ = &value;
      length_ = value.type.shape.rank();
      return;
    }
    length_ = std::min(length_, value.type.shape.rank());
    std::size_t same = 0;
    while (same < length_ && value.type.shape[same] == first_->type.shape[same] &&
           value.layout->dims[same] == first_->layout->dims[same]) {
      ++same;
    }
    length_ = same;
  }
  [[nodiscard]] std::size_t length() const { return length_; }

 private:
  const SpmdProgram& program_;
  const SpmdValue* first_ = nullptr;
  std::size_t length_ = 0;
};

bool has_one_loop_each(const DimMap& map) {
  return std::ranges::all_of(map, [](const auto& loops) { return loops.size() == 1; });
}

std::int64_t rows_of(const Shape& shape, std::size_t dims) {
  std::int64_t rows = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    rows *= shape[d].size;
  }
  return rows;
}

}  // namespace

Chain chain_of(const Step& step) {
  Chain chain;
  for (const LocalCall& call : step.calls) {
    chain.push_back(&call);
  }
  return chain;
}

bool is_reduction(const LocalCall& call) {
  const IterationSpace& space = call.space;
  const bool plain = call.call.op->kernel != nullptr && !call.call.op->strided &&
                     !call.call.op->effect && !call.call.op->random && call.operands.size() == 1 &&
                     call.result.valid() && call.part == CallPart::kAll && !call.by_loops &&
                     call.stream.parts == 1;
  const bool joins = std::ranges::any_of(
      space.loops, [](const LoopDim& loop) { return loop.role == DimRole::kReduced; });
  return plain && joins && space.windows.empty() && space.moved.empty() && space.served.empty() &&
         !space.digest && has_one_loop_each(space.operands.front()) &&
         has_one_loop_each(space.result) &&
         std::ranges::all_of(space.loops, [](const LoopDim& loop) {
           return loop.role == DimRole::kKept || loop.role == DimRole::kReduced;
         });
}

std::size_t band_dims(const SpmdProgram& program, const Chain& chain) {
  Prefix prefix(program);
  for (const LocalCall* call : chain) {
    prefix.take(call->result);
    if (call->call.op->tile == nullptr) {
      prefix.take(call->operands.front());
    }
  }
  return prefix.length();
}

std::int64_t row_bytes(const SpmdProgram& program, const Chain& chain, std::size_t dims) {
  std::vector<std::size_t> tensors;
  const Shape& prefix = program.at(chain.front()->result).local.shape;
  const auto has_prefix = [&](SpmdId id) {
    const Shape& shape = program.at(id).local.shape;
    return shape.rank() >= dims &&
           std::ranges::equal(shape.dims().first(dims), prefix.dims().first(dims));
  };
  for (const LocalCall* call : chain) {
    tensors.push_back(at(call->result));
    for (const SpmdId operand : call->operands) {
      if (has_prefix(operand)) {
        tensors.push_back(at(operand));
      }
    }
  }
  std::ranges::sort(tensors);
  tensors.erase(std::ranges::unique(tensors).begin(), tensors.end());
  std::int64_t bytes = 0;
  for (const std::size_t tensor : tensors) {
    bytes += program.values[tensor].local.bytes();
  }
  return bytes / std::max<std::int64_t>(rows_of(prefix, dims), 1);
}

Bands bands_of(const Shape& prefix, std::int64_t row_bytes) {
  std::int64_t inner = std::max<std::int64_t>(row_bytes, 1);
  for (std::size_t d = prefix.rank(); d-- > 0;) {
    const std::int64_t rows = std::max<std::int64_t>(kBandBytes / inner, 1);
    if (rows < prefix[d].size || d == 0) {
      return {.cut = d, .rows = std::max<std::int64_t>(std::min(rows, prefix[d].size), 1)};
    }
    inner *= std::max<std::int64_t>(prefix[d].size, 1);
  }
  return {};
}

bool may_run_in_bands(const SpmdProgram& program, const Chain& chain) {
  const std::size_t dims = band_dims(program, chain);
  return rows_of(program.at(chain.front()->result).local.shape, dims) > 1 &&
         row_bytes(program, chain, dims) <= kMostRowBytes;
}

}  // namespace mtf
