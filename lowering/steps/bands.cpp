#include "lowering/steps/bands.h"

#include <algorithm>
#include <span>

#include "lowering/steps/column_bands.h"

namespace mtf {
namespace {

// How many dims two tensors have in common from the first on.
std::size_t common_dims(const SpmdValue& a, const SpmdValue& b) {
  const std::span<const Dim> of_a = a.type.shape.dims();
  const std::span<const Dim> of_b = b.type.shape.dims();
  const std::size_t least = std::min(of_a.size(), of_b.size());
  if (of_a.data() == of_b.data() && &*a.layout == &*b.layout) {
    return least;
  }
  std::size_t same = 0;
  while (same < least && of_a[same] == of_b[same] && a.layout->dims[same] == b.layout->dims[same]) {
    ++same;
  }
  return same;
}

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

Shape leading_dims(const Shape& shape, std::size_t count) {
  const std::span<const Dim> dims = shape.dims().first(count);
  return Shape({dims.begin(), dims.end()});
}

Chain chain_of(const Step& step) {
  Chain chain;
  chain.reserve(step.calls.size());
  for (const LocalCall& call : step.calls) {
    chain.push_back(&call);
  }
  return chain;
}

bool is_reduction(const LocalCall& call) {
  const IterationSpace& space = call.split->space;
  const bool plain = call.op().kernel != nullptr && !call.op().strided && !call.op().effect &&
                     !call.op().random && call.operands.size() == 1 && call.result.valid() &&
                     call.part == CallPart::kAll && !call.by_loops && call.stream->parts == 1;
  const bool joins = std::ranges::any_of(
      space.loops, [](const LoopDim& loop) { return loop.role == DimRole::kReduced; });
  return plain && joins && space.windows.empty() && space.moved.empty() && space.served.empty() &&
         !space.digest && has_one_loop_each(space.operands.front()) &&
         has_one_loop_each(space.result) &&
         std::ranges::all_of(space.loops, [](const LoopDim& loop) {
           return loop.role == DimRole::kKept || loop.role == DimRole::kReduced;
         });
}

bool is_chain(const Step& step) {
  return step.kind == StepKind::kKernel && !step.calls.empty() &&
         std::ranges::all_of(step.calls, [](const LocalCall& call) {
           return is_element_wise(call) || is_reduction(call);
         });
}

ChainExtent extent_of(const SpmdProgram& program, const Chain& chain) {
  const auto is_column = [&program](const LocalCall& call) {
    return reduces_leading_dim(program, call);
  };
  ChainExtent extent{.first = is_column(*chain.front()) ? chain.front()->operands.front()
                                                        : chain.front()->result};
  const SpmdValue& first = program.at(extent.first);
  extent.dims = first.type.shape.rank();
  for (const LocalCall* call : chain) {
    extent.most_bytes += static_cast<double>(program.at(call->result).local.bytes());
    for (const SpmdId operand : call->operands) {
      extent.most_bytes += static_cast<double>(program.at(operand).local.bytes());
    }
    if (is_column(*call)) {
      extent.has_columns = true;
    } else {
      extent.dims = std::min(extent.dims, common_dims(first, program.at(call->result)));
    }
    if (call->op().tile == nullptr) {
      extent.dims = std::min(extent.dims, common_dims(first, program.at(call->operands.front())));
    }
  }
  return extent;
}

ChainExtent joined(const SpmdProgram& program, const ChainExtent& early, const ChainExtent& late) {
  const std::size_t common = common_dims(program.at(early.first), program.at(late.first));
  return {.first = early.first,
          .dims = std::min({early.dims, late.dims, common}),
          .most_bytes = early.most_bytes + late.most_bytes,
          .has_columns = early.has_columns || late.has_columns};
}

std::int64_t row_bytes(const SpmdProgram& program, const Chain& chain, const ChainExtent& extent) {
  const std::size_t dims = extent.dims;
  std::vector<std::size_t> tensors;
  const Shape& prefix = program.at(extent.first).local.shape;
  const auto has_prefix = [&](SpmdId id) {
    const Shape& shape = program.at(id).local.shape;
    return shape.rank() >= dims &&
           std::ranges::equal(shape.dims().first(dims), prefix.dims().first(dims));
  };
  for (const LocalCall* call : chain) {
    if (has_prefix(call->result)) {
      tensors.push_back(at(call->result));
    }
    for (const SpmdId operand : call->operands) {
      if (has_prefix(operand)) {
        tensors.push_back(at(operand));
      }
    }
  }
  std::ranges::sort(tensors);
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
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

bool may_run_in_bands(const SpmdProgram& program, const ChainExtent& extent,
                      const std::function<Chain()>& chain) {
  const Shape& shape = program.at(extent.first).local.shape;
  const std::int64_t rows = rows_of(shape, extent.dims);
  if (rows <= 1) {
    return false;
  }
  if (extent.has_columns) {
    const Chain calls = chain();
    return may_run_in_column_bands(program, calls, leading_dims(shape, extent.dims),
                                   row_bytes(program, calls, extent));
  }
  return extent.most_bytes / static_cast<double>(rows) <= static_cast<double>(kMostRowBytes) ||
         row_bytes(program, chain(), extent) <= kMostRowBytes;
}

}  // namespace mtf
