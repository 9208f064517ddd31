// sort and argsort.

#include <limits>

#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/order/keys.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> sort_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "over").name, diags);
  if (!dim) {
    return std::nullopt;
  }
  if (dim->size > std::numeric_limits<std::int32_t>::max()) {
    diags.error(DiagKind::kOverflow, call.span,
                spelled(call) + " along " + in_backticks(dim->name) + " of " +
                    std::to_string(dim->size) + ", beyond the range of i32");
    return std::nullopt;
  }
  return call.operands[0];
}

std::optional<TensorType> argsort_type(OpCall& call, DiagSink& diags) {
  std::optional<TensorType> type = sort_type(call, diags);
  if (type) {
    type->dtype = DType::kI32;
  }
  return type;
}

CutDim sorted_dim(const OpCall& call) {
  const std::string over = dim_arg(call.args, "over").name;
  return {.operand = over, .result = over};
}

IterationSpace sort_space(const OpCall& call) {
  return cut_space(call, sorted_dim(call), DimRole::kWhole);
}

// The operand's dim is whole; of the result's this rank has a part. `put(to, from)` writes one
// element, by places in both views.
template <typename T, typename F>
void sort_lines(const KernelCall& call, const F& put) {
  const std::string over = dim_arg(call.call.args, "over").name;
  const bool descending = bool_arg(call.call.args, "descending", false);
  const Interval want = extent_of(call.out, over);
  const auto count = static_cast<std::size_t>(extent_of(call.in[0], over).extent);
  const Lines lines = lines_of(call.in[0], over, call.out, over);
  const T* x = elements<const T>(call.in[0]).data();
  std::vector<Keyed<KeyOf<T>>> line(count);
  std::vector<Keyed<KeyOf<T>>> other;
  for (std::size_t l = 0; l < lines.from.size(); ++l) {
    for (std::size_t i = 0; i < count; ++i) {
      const T element = x[lines.from[l] + static_cast<std::int64_t>(i) * lines.from_step];
      line[i] = {.key = key_of(element, descending), .at = static_cast<std::uint32_t>(i)};
    }
    sort_keys(line, other);
    for (std::int64_t i = 0; i < want.extent; ++i) {
      const auto at = std::int64_t{line[static_cast<std::size_t>(want.begin + i)].at};
      put(lines.to[l] + i * lines.to_step, lines.from[l] + at * lines.from_step, at);
    }
  }
}

void sort_kernel(const KernelCall& call) {
  with_type(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    const T* x = elements<const T>(call.in[0]).data();
    T* out = elements<T>(call.out).data();
    sort_lines<T>(
        call, [&](std::int64_t to, std::int64_t from, std::int64_t /*at*/) { out[to] = x[from]; });
  });
}

void argsort_kernel(const KernelCall& call) {
  auto* out = elements<std::int32_t>(call.out).data();
  with_type(call.in[0].dtype, [&](auto type) {
    sort_lines<decltype(type)>(call, [&](std::int64_t to, std::int64_t /*from*/, std::int64_t at) {
      out[to] = static_cast<std::int32_t>(at);
    });
  });
}

// Each element's gradient is that of the place where it went: the order of the order.
void sort_grad(GradBuilder& b) {
  const Dim over = *b.type_of(b.operand(0)).shape.find(dim_arg(b.args(), "over").name);
  OpArgs along;
  along.set("over", one_dim(over));
  const ValueId order = b.emit("argsort", {b.operand(0)}, b.args());
  const ValueId went = b.emit("argsort", {order}, along);
  const Dim aside{.name = over.name + "~", .size = over.size};
  const auto renamed = [&](ValueId x, const Dim& from, const Dim& to) {
    OpArgs args;
    args.set("dim", one_dim(from));
    args.set("to", one_dim(to));
    return b.emit("rename", {x}, args);
  };
  const ValueId back = b.emit("gather", {b.upstream(), renamed(went, over, aside)}, along);
  b.add_to(0, renamed(back, aside, over));
}

double sort_flops(const OpCall& call) {
  return static_cast<double>(call.operands[0].shape.volume());
}

std::vector<OpParam> sort_params() {
  return {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
          {.name = "over", .kind = ParamKind::kDim, .help = "the dim"},
          {.name = "descending",
           .kind = ParamKind::kBool,
           .required = false,
           .help = "from the largest to the smallest (false)"}};
}

}  // namespace

const OpDef kSort{.name = "sort",
                  .summary = "the elements along a dim in order of size; NaN counts as the largest",
                  .family = "order",
                  .params = sort_params(),
                  .shape_rule = kSameDims,
                  .example = R"(dim io = 4
let x = const([io], [3, 1, 2, 1])
print sort(x, over = io), sort(x, over = io, descending = true)
)",
                  .type = sort_type,
                  .space = sort_space,
                  .grad = sort_grad,
                  .flops = sort_flops,
                  .kernel = sort_kernel};

const OpDef kArgsort{
    .name = "argsort",
    .summary = "the indices that sort the elements along a dim; equal ones keep their order",
    .family = "order",
    .params = sort_params(),
    .shape_rule = "the dims of x, as i32",
    .example = R"(dim io = 4
let order = argsort(const([io], [3, 1, 2, 1]), over = io)
assert all(order == const([io], [1, 3, 2, 0], dtype = i32))
)",
    .type = argsort_type,
    .space = sort_space,
    .flops = sort_flops,
    .kernel = argsort_kernel};

}  // namespace mtf::ops
