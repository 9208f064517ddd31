// gather: rows of a table by number, or by several numbers along as many dims. Where the table is
// split over such a dim, ranks send each other the rows (DimRole::kServed).

#include <algorithm>

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "runtime/kernels/served/served.h"
#include "stdlib/ops/index/indices.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

std::optional<TensorType> gather_type(OpCall& call, DiagSink& diags) {
  const TensorType& table = call.operands[0];
  const std::vector<Dim> over = indexed_dims(call.args);
  const std::optional<Shape> places = places_of(call, diags);
  if (!places || !check_out_of_range(call, diags)) {
    return std::nullopt;
  }
  for (const Dim& dim : over) {
    if (!find_dim(call, 0, dim.name, diags)) {
      return std::nullopt;
    }
    if (places->has(dim.name)) {
      diags.error(DiagKind::kRepeatedDim, call.span_of(1),
                  "`gather` over " + in_backticks(dim.name) + ", which is also a dim of the ids " +
                      to_string(*places) + "; `rename` it there");
      return std::nullopt;
    }
  }
  std::vector<Dim> dims(places->dims().begin(), places->dims().end());
  for (const Dim& dim : table.shape.dims()) {
    const Dim* shared = places->find(dim.name);
    if (shared != nullptr && shared->size != dim.size) {
      diags.error(DiagKind::kDimSize, call.span_of(1),
                  "`gather` of " + to_string(table.shape) + " by " + to_string(*places) + "; " +
                      in_backticks(dim.name) + " has two sizes, " + std::to_string(dim.size) +
                      " and " + std::to_string(shared->size));
      return std::nullopt;
    }
    if (shared == nullptr && std::ranges::find(over, dim.name, &Dim::name) == over.end()) {
      dims.push_back(dim);
    }
  }
  return result_type(call, table.dtype, Shape(std::move(dims)), diags);
}

IterationSpace gather_space(const OpCall& call) {
  IterationSpace space = space_by_name(call, DimRole::kServed);
  std::size_t index = 1;
  for (const Dim& dim : indexed_dims(call.args)) {
    space.served.push_back(
        {.dim = call.operands[0].shape.index_of(dim.name).value(), .index = index++});
  }
  return space;
}

// The dims with the table's sizes.
std::vector<Dim> dims_in(const Shape& table, const OpArgs& args) {
  std::vector<Dim> dims = indexed_dims(args);
  for (Dim& dim : dims) {
    dim = *table.find(dim.name);
  }
  return dims;
}

std::optional<ValueId> gather_expand(Builder& b, const OpCall& call,
                                     std::span<const ValueId> operands) {
  const std::vector<Dim> over = dims_in(call.operands[0].shape, call.args);
  std::optional<std::vector<ValueId>> ids = inside(b, call, operands.subspan(1), over);
  if (!ids) {
    return ValueId{};
  }
  ids->insert(ids->begin(), operands[0]);
  OpArgs args;
  args.set("over", over);
  return b.emit("gather", *std::move(ids), std::move(args));
}

void gather_grad(GradBuilder& b) {
  if (!b.wants(0)) {
    return;
  }
  const Shape shape = b.type_of(b.operand(0)).shape;
  OpArgs args = to_shape(shape);
  const std::vector<Dim> over = dims_in(shape, b.args());
  args.set("over", over);
  std::vector<ValueId> operands = {b.widened(b.upstream())};
  for (std::size_t i = 1; i <= over.size(); ++i) {
    operands.push_back(b.operand(i));
  }
  b.add_to(0, b.emit("scatter_add", std::move(operands), std::move(args)));
}

// Rows of one element.
void gather_elements(const KernelCall& call, const Served& served) {
  with_stored(call.out.dtype, [&](auto type) {
    using T = decltype(type);
    const T* const table = static_cast<const T*>(call.in[0].data);
    T* const out = static_cast<T*>(call.out.data);
    served.each(served_indices(call.space, call.in), 0, served.places(),
                [&](const Served::Place& place) {
                  const std::int64_t from = served.in_slice(place);
                  out[place.to] = from < 0 ? T{} : table[from];
                });
  });
}

void gather_kernel(const KernelCall& call) {
  const Served served(call.space, call.in, call.out);
  if (served.row_volume() == 1) {
    return gather_elements(call, served);
  }
  const RowCopy copy(served.row(), static_cast<std::int64_t>(bytes_of(call.out.dtype)));
  served.each(served_indices(call.space, call.in), 0, served.places(),
              [&](const Served::Place& place) {
                const std::int64_t from = served.in_slice(place);
                if (from < 0) {
                  copy.zero(at_mutable(call.out, place.to));
                } else {
                  copy(at(call.in[0], from), at_mutable(call.out, place.to));
                }
              });
}

}  // namespace

const OpDef kGather{
    .name = "gather",
    .summary = "rows of a table by their indices; an index out of range gives zeros",
    .family = "indexing",
    .params = {{.name = "table", .kind = ParamKind::kTensor, .help = "the table"},
               {.name = "ids",
                .kind = ParamKind::kTensors,
                .help = "indices, i32 or i64; a list of tensors for several dims"},
               {.name = "over",
                .kind = ParamKind::kDims,
                .help = "the table's dim of rows; several: one for each tensor of indices"},
               {.name = "clip",
                .kind = ParamKind::kBool,
                .required = false,
                .help = "as out_of_range = \"clip\" (false)"},
               out_of_range_param()},
    .shape_rule = "the dims of ids, then the table's other dims",
    .example = R"(dim vocab = 4, d_model = 2, length = 3
let table = const([vocab, d_model], [[0, 1], [10, 11], [20, 21], [30, 31]])
let ids = const([length], [3, 0, 3], dtype = i32)
let rows = gather(table, ids, over = vocab)
assert all(rows == const([length, d_model], [[30, 31], [0, 1], [30, 31]]))
let second = const([], 1, dtype = i32)
assert all(gather(table, [ids, second], over = [vocab, d_model]) == const([length], [31, 1, 31]))
)",
    .type = gather_type,
    .expand = gather_expand,
    .space = gather_space,
    .grad = gather_grad,
    .kernel = gather_kernel,
    .narrow = true,
    .narrowing = Narrowing::kLookup,
    .primitive = Primitive::kGather};

}  // namespace mtf::ops
