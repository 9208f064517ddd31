// scatter_add: rows added up into a table, the gradient of gather.
//
// Order of addition: the dims that are summed are cut into canonical blocks (runtime/EXACT.md);
// inside a block the rows that meet at one place are added in index order, halves of more than 64
// on their own, and blocks in a tree. A block without a row there changes nothing, so it is left
// out.

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "ir/builder.h"
#include "ir/rewrite/autodiff.h"
#include "stdlib/ops/index/indices.h"
#include "stdlib/ops/index/row_sums.h"
#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

bool check_dims(const OpCall& call, const std::vector<Dim>& over, const Shape& ids, const Shape& to,
                DiagSink& diags) {
  const Shape& x = call.operands[0].shape;
  const std::string dims = names_text(over);
  const bool has_over = std::ranges::any_of(over, [&](const Dim& dim) { return x.has(dim.name); });
  if (!contains(x, ids) || has_over) {
    diags.error(DiagKind::kDimMissing, call.span_of(0),
                "`scatter_add` of " + to_string(x) + " by " + to_string(ids) + " over " + dims +
                    (has_over ? ", which the rows have; `over` is the dim of the result that the "
                                "ids are places along"
                              : "; the rows need all dims of the ids"));
    return false;
  }
  const bool known = std::ranges::all_of(to.dims(), [&](const Dim& dim) {
    return std::ranges::find(over, dim) != over.end() || contains(x, Shape({dim}));
  });
  const bool complete = std::ranges::all_of(
      x.dims(), [&](const Dim& dim) { return to.has(dim.name) || ids.has(dim.name); });
  if (known && complete &&
      std::ranges::all_of(over, [&](const Dim& dim) { return to.has(dim.name); })) {
    return true;
  }
  diags.error(DiagKind::kDimMissing, call.span,
              "`scatter_add` of " + to_string(x) + " over " + dims + " to " + to_string(to) +
                  "; it needs " + dims + " and every dim that the ids lack");
  return false;
}

std::optional<TensorType> scatter_add_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kNumbers, diags)) {
    return std::nullopt;
  }
  const std::optional<Shape> ids = places_of(call, diags);
  if (!ids || !check_out_of_range(call, diags)) {
    return std::nullopt;
  }
  const std::vector<Dim> over = indexed_dims(call.args);
  if (call.args.get<Shape>("to") == nullptr) {
    std::vector<Dim> dims = over;
    for (const Dim& dim : call.operands[0].shape.dims()) {
      if (!ids->has(dim.name) && std::ranges::find(over, dim.name, &Dim::name) == over.end()) {
        dims.push_back(dim);
      }
    }
    call.args.set("to", Shape(std::move(dims)));
  }
  const Shape to = shape_arg(call.args, "to");
  if (!check_dims(call, over, *ids, to, diags)) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, to, diags);
}

std::optional<ValueId> scatter_add_expand(Builder& b, const OpCall& call,
                                          std::span<const ValueId> operands) {
  std::optional<std::vector<ValueId>> ids =
      inside(b, call, operands.subspan(1), indexed_dims(call.args));
  if (!ids) {
    return ValueId{};
  }
  ids->insert(ids->begin(), operands[0]);
  OpArgs args = to_shape(shape_arg(call.args, "to"));
  args.set("over", indexed_dims(call.args));
  return b.emit("scatter_add", *std::move(ids), std::move(args));
}

IterationSpace scatter_add_space(const OpCall& call) {
  return space_by_name(call, DimRole::kReduced, Combine::kSum);
}

void scatter_add_grad(GradBuilder& b) {
  OpArgs args;
  const std::vector<Dim> over = indexed_dims(b.args());
  args.set("over", over);
  std::vector<ValueId> operands = {b.upstream()};
  for (std::size_t i = 1; i <= over.size(); ++i) {
    operands.push_back(b.operand(i));
  }
  b.add_to(0, b.emit("gather", std::move(operands), std::move(args)));
}

// One dim of the ids on this rank.
struct IdDim {
  std::int64_t extent = 1;
  std::int64_t blocks = 1;        // 1 unless it is summed
  std::vector<std::int64_t> ids;  // strides, in each tensor of ids
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// Summed dims first, in the order in which their sums nest: the order of entries in one block.
std::vector<IdDim> id_dims(const KernelCall& call) {
  std::vector<IdDim> dims;
  for (std::size_t loop = 0; loop < call.space.loops.size(); ++loop) {
    const Shape one({{.name = call.space.loops[loop].name, .size = 1}});
    IdDim dim;
    bool has = false;
    for (const TensorView& ids : call.in.subspan(1)) {
      dim.ids.push_back(strides_by_name(ids.shape, one).front());
      if (const Dim* own = ids.shape.find(one[0].name)) {
        has = true;
        dim.extent = own->size;
      }
    }
    if (has) {
      const bool summed = call.space.loops[loop].role == DimRole::kReduced;
      dim.blocks = summed ? call.blocks(loop) : 1;
      dim.from = strides_by_name(call.in[0].shape, one).front();
      dim.to = strides_by_name(call.out.shape, one).front();
      dims.push_back(std::move(dim));
    }
  }
  std::ranges::stable_sort(dims, {}, [](const IdDim& dim) { return dim.to != 0; });
  return dims;
}

// The rows of the result that the rank has, along one of the dims that are indexed.
struct OwnRows {
  Interval rows;
  std::int64_t stride = 1;
  std::vector<std::int64_t> ids;  // the numbers
};

std::vector<OwnRows> own_rows(const KernelCall& call) {
  std::vector<OwnRows> own;
  for (const Dim& dim : indexed_dims(call.call.args)) {
    const TensorView& ids = call.in[own.size() + 1];
    OwnRows& one = own.emplace_back();
    one.rows = extent_of(call.out, dim.name);
    one.stride = strides_of(call.out.shape)[call.out.shape.index_of(dim.name).value()];
    with_type(ids.dtype, [&](auto element) {
      const auto numbers = elements<const decltype(element)>(ids);
      one.ids.assign(numbers.begin(), numbers.end());
    });
  }
  return own;
}

// Calls f(entry) for each row that goes to one that the rank has. `at`: where the place is in each
// tensor of ids.
template <typename F>
void each_entry(std::span<const IdDim> dims, std::span<const OwnRows> own,
                std::span<const std::int64_t> at, Entry entry, const F& f) {
  if (dims.empty()) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t row = own[i].ids[static_cast<std::size_t>(at[i])] - own[i].rows.begin;
      if (row < 0 || row >= own[i].rows.extent) {
        return;
      }
      entry.to += row * own[i].stride;
    }
    f(entry);
    return;
  }
  const IdDim& dim = dims.front();
  const std::int64_t chain = dim.extent / dim.blocks;
  std::vector<std::int64_t> next(at.begin(), at.end());
  for (std::int64_t block = 0; block < dim.blocks; ++block) {
    Entry inner = {.to = entry.to + block * chain * dim.to,
                   .block = entry.block * dim.blocks + block,
                   .from = entry.from + block * chain * dim.from};
    for (std::int64_t i = 0; i < chain; ++i) {
      each_entry(dims.subspan(1), own, next, inner, f);
      inner.to += dim.to;
      inner.from += dim.from;
      for (std::size_t k = 0; k < next.size(); ++k) {
        next[k] += dim.ids[k];
      }
    }
  }
}

RowMap row_map(const KernelCall& call) {
  const Shape& x = call.in[0].shape;
  const std::vector<std::int64_t> from = strides_of(x);
  const std::vector<std::int64_t> to = strides_by_name(call.out.shape, x);
  RowMap map{.from = {0}, .to = {0}};
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const auto is_in = [&](const TensorView& ids) { return ids.shape.has(x[i].name); };
    if (std::ranges::any_of(call.in.subspan(1), is_in)) {
      continue;
    }
    RowMap next;
    for (std::size_t e = 0; e < map.from.size(); ++e) {
      for (std::int64_t j = 0; j < x[i].size; ++j) {
        next.from.push_back(map.from[e] + j * from[i]);
        next.to.push_back(map.to[e] + j * to[i]);
      }
    }
    map = std::move(next);
  }
  return map;
}

// The rank that owns the first block of every summed dim turns -0 into 0.
bool owns_first_block(const KernelCall& call) {
  for (std::size_t loop = 0; loop < call.space.loops.size(); ++loop) {
    if (call.space.loops[loop].role == DimRole::kReduced && call.shares[loop].index != 0) {
      return false;
    }
  }
  return true;
}

// Of whole numbers, which any order adds up to the same: as they come.
template <typename T, typename Each>
void add_whole_numbers(const KernelCall& call, const RowMap& map, const Each& each) {
  const T* x = elements<const T>(call.in[0]).data();
  T* out = elements<T>(call.out).data();
  each([&](const Entry& entry) {
    for (std::size_t e = 0; e < map.from.size(); ++e) {
      T& sum = out[entry.to + map.to[e]];
      sum = plus(sum, x[entry.from + map.from[e]]);
    }
  });
}

constexpr std::size_t kAhead = 16;  // rows that memory is asked for before they are added

// Whether rows of the result may be left as runs of it: they are in one piece, and what is between
// them is 0.
bool leaves_runs(const KernelCall& call, const RowMap& map, bool first) {
  std::int64_t next = 0;
  return call.runs != nullptr && first && is_float(call.out.dtype) && !map.to.empty() &&
         std::ranges::all_of(map.to, [&next](std::int64_t to) { return to == next++; });
}

template <typename T>
void add_sorted(const KernelCall& call, const RowMap& map, const SortedRows& rows, bool first) {
  T* out = elements<T>(call.out).data();
  std::vector<T> total(map.from.size());
  const T* const x = elements<const T>(call.in[0]).data();
  const RowSums<T> sums(rows, x, map);
  for (std::size_t i = 0; i < rows.size();) {
    const std::size_t end = rows.end_of(i);
    for (std::size_t ahead = i; ahead < end && ahead + kAhead < rows.size(); ++ahead) {
      __builtin_prefetch(x + rows.from(ahead + kAhead));
    }
    sums.tree(i, end, 0, rows.blocks(), std::span<T>(total));
    std::int64_t to = rows.to(i);
    if (call.runs != nullptr && call.runs->done) {
      to = std::ssize(call.runs->begins) * std::ssize(total);
      call.runs->begins.push_back(rows.to(i));
    }
    for (std::size_t e = 0; e < total.size(); ++e) {
      out[to + map.to[e]] = first ? plus(total[e], T{0}) : total[e];
    }
    i = end;
  }
}

void scatter_add_kernel(const KernelCall& call) {
  const std::vector<IdDim> dims = id_dims(call);
  const std::vector<OwnRows> own = own_rows(call);
  const auto each = [&](const auto& f) {
    each_entry(std::span(dims), std::span(own), std::vector<std::int64_t>(own.size(), 0), Entry{},
               f);
  };
  const RowMap map = row_map(call);
  const bool first = owns_first_block(call);
  if (leaves_runs(call, map, first)) {
    *call.runs = {.length = std::ssize(map.to), .begins = {}, .done = true};
  } else {
    fill_zero(call.out, !first);
  }
  with_number(call.out.dtype, [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T>) {
      add_whole_numbers<T>(call, map, each);
    } else {
      SortedRows rows(
          std::accumulate(dims.begin(), dims.end(), std::int64_t{1},
                          [](std::int64_t n, const IdDim& dim) { return n * dim.blocks; }));
      each([&rows](const Entry& entry) { rows.add(entry); });
      rows.sort();
      add_sorted<T>(call, map, rows, first);
    }
  });
}

double scatter_add_flops(const OpCall& call) {
  return static_cast<double>(call.operands[0].shape.volume());
}

}  // namespace

const OpDef kScatterAdd{
    .name = "scatter_add",
    .summary = "rows added up at their indices; an index out of range is ignored",
    .family = "indexing",
    .params = {{.name = "x", .kind = ParamKind::kTensor, .help = "the rows"},
               {.name = "ids",
                .kind = ParamKind::kTensors,
                .help = "the index where each one goes; a list of tensors for several dims"},
               {.name = "over",
                .kind = ParamKind::kDims,
                .help = "the dim of the result's rows; several: one for each tensor of indices"},
               {.name = "to",
                .kind = ParamKind::kShape,
                .required = false,
                .help = "the result's dims (`over`, then those that the ids lack)"},
               out_of_range_param()},
    .shape_rule = "`over`, then the dims of x that the ids lack; or the dims after `->`",
    .example = R"(dim vocab = 4, length = 3
let ids = const([length], [3, 0, 3], dtype = i32)
print scatter_add(const([length], [1, 10, 100]), ids, over = vocab)
)",
    .type = scatter_add_type,
    .expand = scatter_add_expand,
    .space = scatter_add_space,
    .grad = scatter_add_grad,
    .flops = scatter_add_flops,
    .kernel = scatter_add_kernel};

}  // namespace mtf::ops
