// gather: rows of a table by number. Where the table is split over its row dim, each rank serves
// the rows it has and gives -0 for the others, which changes no sum.

#include <cstring>

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> gather_type(OpCall& call, DiagSink& diags) {
  const TensorType& table = call.operands[0];
  const TensorType& ids = call.operands[1];
  const std::string over = dim_arg(call.args, "over").name;
  if (!check_operand(call, 1, Accepts::kIndices, diags) || !find_dim(call, 0, over, diags)) {
    return std::nullopt;
  }
  if (ids.shape.has(over)) {
    diags.error(DiagKind::kRepeatedDim, call.span_of(1),
                "`gather` over " + in_backticks(over) + ", which is also a dim of the ids " +
                    to_string(ids.shape) + "; `rename` it there");
    return std::nullopt;
  }
  std::vector<Dim> dims(ids.shape.dims().begin(), ids.shape.dims().end());
  for (const Dim& dim : table.shape.dims()) {
    const Dim* shared = ids.shape.find(dim.name);
    if (shared != nullptr && shared->size != dim.size) {
      diags.error(DiagKind::kDimSize, call.span_of(1),
                  "`gather` of " + to_string(table.shape) + " by " + to_string(ids.shape) + "; " +
                      in_backticks(dim.name) + " has two sizes, " + std::to_string(dim.size) +
                      " and " + std::to_string(shared->size));
      return std::nullopt;
    }
    if (shared == nullptr && dim.name != over) {
      dims.push_back(dim);
    }
  }
  return result_type(call, table.dtype, Shape(std::move(dims)), diags);
}

IterationSpace gather_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kSum);
}

// `clip`: by the nearest row that there is; without, an invalid id: the call stands for itself.
std::optional<ValueId> gather_expand(Builder& b, const OpCall& call,
                                     std::span<const ValueId> operands) {
  if (!bool_arg(call.args, "clip", false)) {
    return ValueId{};
  }
  const Dim over = dim_arg(call.args, "over");
  const std::int64_t rows = call.operands[0].shape.find(over.name)->size;
  OpArgs wide;
  wide.set("dtype", DType::kI64);
  const ValueId ids = b.emit("cast", {operands[1]}, std::move(wide));
  const ValueId last = b.scalar(static_cast<double>(rows - 1), DType::kI64);
  const ValueId inside = b.emit("clip", {ids, b.scalar(0, DType::kI64), last});
  OpArgs args;
  args.set("over", one_dim(over));
  return b.emit("gather", {operands[0], inside}, std::move(args));
}

void gather_grad(GradBuilder& b) {
  if (!b.wants(0)) {
    return;
  }
  const Shape shape = b.type_of(b.operand(0)).shape;
  OpArgs args = to_shape(shape);
  args.set("over", one_dim(*shape.find(dim_arg(b.args(), "over").name)));
  b.add_to(0, b.emit("scatter_add", {b.upstream(), b.operand(1)}, args));
}

// One row: the table's dims that the ids lack, which are the last of the result.
struct Row {
  std::vector<StridedDim> dims;
  std::int64_t volume = 1;
  bool contiguous = true;  // in the table
};

Row row_of(const KernelCall& call, std::string_view over) {
  const Shape& table = call.in[0].shape;
  const std::vector<std::int64_t> from = strides_of(table);
  const std::vector<std::int64_t> to = strides_by_name(call.out.shape, table);
  Row row;
  for (std::size_t i = table.rank(); i-- > 0;) {
    if (table[i].name == over || call.in[1].shape.has(table[i].name)) {
      continue;
    }
    row.contiguous = row.contiguous && (table[i].size == 1 || from[i] == row.volume);
    row.volume *= table[i].size;
    row.dims.insert(row.dims.begin(), {.extent = table[i].size, .from = from[i], .to = to[i]});
  }
  return row;
}

// Where the rows for each of the ids begin in the table, but for the row number itself.
std::vector<std::int64_t> bases_of(const KernelCall& call) {
  const Shape& ids = call.in[1].shape;
  const std::vector<std::int64_t> strides = strides_by_name(call.in[0].shape, ids);
  std::vector<std::int64_t> bases = {0};
  for (std::size_t i = 0; i < ids.rank(); ++i) {
    std::vector<std::int64_t> next;
    next.reserve(bases.size() * static_cast<std::size_t>(ids[i].size));
    for (const std::int64_t base : bases) {
      for (std::int64_t j = 0; j < ids[i].size; ++j) {
        next.push_back(base + j * strides[i]);
      }
    }
    bases = std::move(next);
  }
  return bases;
}

// Writes the rows of the result, one per id.
struct Server {
  const KernelCall& call;
  Row row;
  Interval own;           // the table's rows on this rank
  std::int64_t rows = 0;  // of the whole table
  std::int64_t stride = 0;
  bool first = true;  // gives the zeros for numbers outside the table
  std::vector<std::byte> zeros;
  std::vector<std::byte> nothing;  // for what another rank serves

  void serve(std::int64_t id, std::int64_t base, std::byte* out) const {
    if (id < own.begin || id >= own.end()) {
      const bool outside = id < 0 || id >= rows;
      const std::vector<std::byte>& blank = outside && first ? zeros : nothing;
      std::memcpy(out, blank.data(), blank.size());
      return;
    }
    const std::byte* from = at(call.in[0], base + (id - own.begin) * stride);
    if (row.contiguous) {
      std::memcpy(out, from, zeros.size());
    } else {
      copy_strided(row.dims, bytes_of(call.out.dtype), from, out);
    }
  }
};

// "-0" changes no sum: what a rank contributes where another has the row.
constexpr bool kNothing = true;

std::vector<std::byte> blank_row(DType dtype, std::int64_t volume, bool negative) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(volume) * bytes_of(dtype));
  fill_zero({.data = bytes.data(),
             .shape = Shape({{.name = "row", .size = volume}}),
             .offset = {},
             .dtype = dtype},
            negative);
  return bytes;
}

Server server_of(const KernelCall& call) {
  const std::string over = dim_arg(call.call.args, "over").name;
  const std::size_t dim = call.in[0].shape.index_of(over).value();
  const Row row = row_of(call, over);
  return {.call = call,
          .row = row,
          .own = extent_of(call.in[0], over),
          .rows = call.call.operands[0].shape[dim].size,
          .stride = strides_of(call.in[0].shape)[dim],
          .first = call.shares[call.space.operands[0][dim].front()].index == 0,
          .zeros = blank_row(call.out.dtype, row.volume, false),
          .nothing = blank_row(call.out.dtype, row.volume, kNothing)};
}

void gather_kernel(const KernelCall& call) {
  const Server server = server_of(call);
  const std::vector<std::int64_t> bases = bases_of(call);
  with_type(call.in[1].dtype, [&](auto element) {
    const auto ids = elements<const decltype(element)>(call.in[1]);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      server.serve(static_cast<std::int64_t>(ids[i]), bases[i],
                   at_mutable(call.out, static_cast<std::int64_t>(i) * server.row.volume));
    }
  });
}

}  // namespace

const OpDef kGather{
    .name = "gather",
    .summary = "rows of a table by their indices; an index out of range gives zeros",
    .family = "indexing",
    .params = {{.name = "table", .kind = ParamKind::kTensor, .help = "the table"},
               {.name = "ids", .kind = ParamKind::kTensor, .help = "row indices, i32 or i64"},
               {.name = "over", .kind = ParamKind::kDim, .help = "the table's dim of rows"},
               {.name = "clip",
                .kind = ParamKind::kBool,
                .required = false,
                .help = "the nearest row for an index out of range (false: zeros)"}},
    .shape_rule = "the dims of ids, then the table's other dims",
    .example = R"(dim vocab = 4, d_model = 2, length = 3
let table = const([vocab, d_model], [[0, 1], [10, 11], [20, 21], [30, 31]])
let ids = const([length], [3, 0, 3], dtype = i32)
print gather(table, ids, over = vocab)
)",
    .type = gather_type,
    .expand = gather_expand,
    .space = gather_space,
    .grad = gather_grad,
    .kernel = gather_kernel};

}  // namespace mtf::ops
