// cumsum: running sums along a dim, which a rank has whole; so their order is that of the indices.

#include "ir/kernel.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> cumsum_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kNumbers, diags) ||
      !find_dim(call, 0, dim_arg(call.args, "over").name, diags)) {
    return std::nullopt;
  }
  return call.operands[0];
}

IterationSpace cumsum_space(const OpCall& call) {
  IterationSpace space = kept_space(call);
  for (LoopDim& loop : space.loops) {
    if (loop.name == dim_arg(call.args, "over").name) {
      loop.role = DimRole::kWhole;
    }
  }
  return space;
}

// Rows of `inner` elements, `count` of them behind each other, added up one after the other.
template <typename T>
void add_up(const T* from, T* to, std::int64_t count, std::int64_t inner, bool reverse,
            bool exclusive) {
  for (std::int64_t i = 0; i < inner; ++i) {
    T sum{0};
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t at = (reverse ? count - 1 - k : k) * inner + i;
      const T next = static_cast<T>(sum + from[at]);
      to[at] = exclusive ? sum : next;
      sum = next;
    }
  }
}

void cumsum_kernel(const KernelCall& call) {
  const bool reverse = bool_arg(call.call.args, "reverse", false);
  const bool exclusive = bool_arg(call.call.args, "exclusive", false);
  const Shape& shape = call.out.shape;
  const std::size_t over = *shape.index_of(dim_arg(call.call.args, "over").name);
  std::int64_t inner = 1;
  for (std::size_t d = over + 1; d < shape.rank(); ++d) {
    inner *= shape[d].size;
  }
  const std::int64_t step = shape[over].size * inner;
  const std::int64_t volume = shape.volume();
  with_type(call.out.dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto* from = static_cast<const T*>(call.in[0].data);
    auto* to = static_cast<T*>(call.out.data);
    for (std::int64_t start = 0; start < volume; start += step) {
      add_up(from + start, to + start, shape[over].size, inner, reverse, exclusive);
    }
  });
}

// An element is in the sums of those behind it.
void cumsum_grad(GradBuilder& b) {
  OpArgs back = b.args();
  back.set("reverse", !bool_arg(back, "reverse", false));
  b.add_to(0, b.emit("cumsum", {b.upstream()}, back));
}

}  // namespace

const OpDef kCumsum{.name = "cumsum",
                    .summary = "the sum of all elements up to each one, along a dim",
                    .family = "reductions",
                    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
                               {.name = "over", .kind = ParamKind::kDim, .help = "the dim"},
                               {.name = "exclusive",
                                .kind = ParamKind::kBool,
                                .required = false,
                                .help = "without the element itself (false)"},
                               {.name = "reverse",
                                .kind = ParamKind::kBool,
                                .required = false,
                                .help = "from the end (false)"}},
                    .shape_rule = kSameDims,
                    .example = R"(dim length = 4
print cumsum(1 + range(length), over = length)
)",
                    .type = cumsum_type,
                    .space = cumsum_space,
                    .grad = cumsum_grad,
                    .flops = one_flop_each,
                    .kernel = cumsum_kernel};

}  // namespace mtf::ops
