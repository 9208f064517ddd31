// windows: what each position of a dim sees around it, as a dim of its own. A convolution is the
// product of it with a kernel, pooling a maximum or mean over the new dim.

#include <algorithm>

#include "ir/rewrite/autodiff.h"
#include "ir/support/number.h"
#include "runtime/kernels/moved.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

// Position i sees the positions i * stride - pad + k * dilation, k counting the window's elements.
struct Window {
  std::string over;
  std::int64_t count = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;

  explicit Window(const OpArgs& args)
      : over(dim_arg(args, "over").name),
        count(dim_arg(args, "to").size),
        stride(int_arg(args, "stride", 1)),
        dilation(int_arg(args, "dilation", 1)),
        pad(int_arg(args, "pad", 0)) {}

  [[nodiscard]] std::int64_t length() const { return (count - 1) * dilation + 1; }
};

std::optional<TensorType> windows_type(OpCall& call, DiagSink& diags) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  const Window window(call.args);
  const std::optional<Dim> over = find_dim(call, 0, window.over, diags);
  if (!over) {
    return std::nullopt;
  }
  if (window.count == 0) {
    const std::string& to = dim_arg(call.args, "to").name;
    diags.error(DiagKind::kUnknownDim, call.span,
                "no dim " + in_backticks(to) + " is declared, which is as long as a window; `-> [" +
                    to + ": 3]` declares it here");
    return std::nullopt;
  }
  const auto in_range = [](std::int64_t n, std::int64_t least) { return n >= least && n < kMost; };
  if (!in_range(window.count, 1) || !in_range(window.stride, 1) || !in_range(window.dilation, 1) ||
      !in_range(window.pad, 0)) {
    diags.error(DiagKind::kBadIndex, call.span,
                "`windows` of " + plural(window.count, "element") + ", stride " +
                    std::to_string(window.stride) + ", dilation " +
                    std::to_string(window.dilation) + ", pad " + std::to_string(window.pad) +
                    "; they count from 1, the pad from 0, and end below 2^31");
    return std::nullopt;
  }
  const std::int64_t room = over->size + 2 * window.pad - window.length();
  if (room < 0) {
    diags.error(DiagKind::kBadIndex, call.span,
                "`windows` of " + plural(window.length(), "position") + " over " +
                    in_backticks(over->name) + ", which has " + std::to_string(over->size) +
                    " and " + std::to_string(2 * window.pad) + " around; `pad = " +
                    std::to_string(window.pad + (1 - room) / 2) + "` would make room for one");
    return std::nullopt;
  }
  const TensorType& x = call.operands[0];
  std::vector<Dim> dims = {dim_arg(call.args, "to")};
  const Shape seen = x.shape.resized(over->name, room / window.stride + 1);
  dims.insert(dims.end(), seen.dims().begin(), seen.dims().end());
  if (!check_distinct(call, dims, diags)) {
    return std::nullopt;
  }
  return result_type(call, x.dtype, Shape(std::move(dims)), diags);
}

IterationSpace windows_space(const OpCall& call) {
  const Window window(call.args);
  IterationSpace space = kept_space(call);
  space.windows = {{.operand = 0,
                    .dim = call.operands[0].shape.index_of(window.over).value(),
                    .stride = window.stride,
                    .offset = -window.pad,
                    .length = window.length()}};
  return space;
}

// The window's dim is the first: of each of its elements, what all positions see is a block.
void windows_kernel(const KernelCall& call) {
  const Window window(call.call.args);
  const TensorView& in = call.in.front();
  const Slice from = slice_of(in);
  Slice to = slice_of(call.out);
  const std::int64_t first = to.offset.front();
  const std::int64_t count = to.extent.front();
  to.offset.erase(to.offset.begin());
  to.extent.erase(to.extent.begin());
  std::vector<MovedDim> reads;
  for (std::size_t d = 0; d < in.shape.rank(); ++d) {
    reads.push_back({.dim = d, .to = d});
  }
  IndexMap& map = reads[in.shape.index_of(window.over).value()].map;
  const std::int64_t bytes = volume_of(to) * static_cast<std::int64_t>(bytes_of(in.dtype));
  for (std::int64_t k = 0; k < count; ++k) {
    map = {.stride = window.stride, .offset = (first + k) * window.dilation - window.pad};
    move_elements({.reads = reads, .operand = call.call.operands[0].shape, .from = from, .to = to},
                  in.dtype, in.data, static_cast<std::byte*>(call.out.data) + k * bytes);
  }
}

// Each element of the window goes back to where it was seen: those inside, `stride` apart.
void windows_grad(GradBuilder& b) {
  const Window window(b.args());
  const Dim to = dim_arg(b.args(), "to");
  const Dim over = *b.type_of(b.operand(0)).shape.find(window.over);
  const std::int64_t positions = b.type_of(b.result()).shape.find(window.over)->size;
  for (std::int64_t k = 0; k < window.count; ++k) {
    const std::int64_t first = k * window.dilation - window.pad;  // what position 0 sees
    const std::int64_t begin = first < 0 ? (-first + window.stride - 1) / window.stride : 0;
    const std::int64_t room = over.size - 1 - first;
    const std::int64_t end = room < 0 ? 0 : std::min(positions, room / window.stride + 1);
    if (begin >= end) {
      continue;
    }
    OpArgs pick;
    pick.set("dim", one_dim(to));
    pick.set("at", k);
    OpArgs inside;
    inside.set("dim", one_dim({.name = over.name, .size = positions}));
    inside.set("begin", begin);
    inside.set("end", end);
    OpArgs back;
    back.set("dim", one_dim({.name = over.name, .size = end - begin}));
    back.set("begin", first + begin * window.stride);
    back.set("size", over.size);
    if (window.stride > 1) {
      back.set("step", window.stride);
    }
    const ValueId seen = b.emit("slice", {b.emit("index", {b.upstream()}, pick)}, inside);
    b.add_to(0, b.emit("pad", {seen}, back));
  }
}

}  // namespace

const OpDef kWindows{
    .name = "windows",
    .summary = "sliding windows over a dim, as a new dim",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
               {.name = "over", .kind = ParamKind::kDim, .help = "the dim"},
               {.name = "to",
                .kind = ParamKind::kNewDim,
                .help = "the new dim, as long as a window"},
               {.name = "stride",
                .kind = ParamKind::kInt,
                .required = false,
                .help = "the distance between positions (1)"},
               {.name = "dilation",
                .kind = ParamKind::kInt,
                .required = false,
                .help = "the distance between elements of a window (1)"},
               {.name = "pad",
                .kind = ParamKind::kInt,
                .required = false,
                .help = "zeros on either side (0)"}},
    .shape_rule = "the new dim, then the dims of x with `over` as long as there are positions",
    .example = R"(dim length = 4, tap = 3
let x = 1 + range(length)
print max(windows(x, over = length, to = tap), over = tap)
print einsum(windows(x, over = length, to = tap, pad = 1), const([tap], [1, 2, 1]) -> [length])
)",
    .type = windows_type,
    .space = windows_space,
    .grad = windows_grad,
    .kernel = windows_kernel,
    .linear = Linear::kEach,
    .narrow = true};

}  // namespace mtf::ops
