// Arguments, lookup by name, and the iteration space that most operations share.

#include "ir/op.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/rewrite/sums/join.h"

namespace mtf {
namespace {

// Index of the loop called `dim.name`, added with `role` if it is new.
std::size_t loop_of(IterationSpace& space, const Dim& dim, DimRole role) {
  const auto found = std::ranges::find(space.loops, dim.name, &LoopDim::name);
  if (found != space.loops.end()) {
    return static_cast<std::size_t>(found - space.loops.begin());
  }
  space.loops.push_back({.name = dim.name, .size = dim.size, .role = role});
  return space.loops.size() - 1;
}

DimMap map_dims(IterationSpace& space, const Shape& shape, DimRole role) {
  DimMap map;
  map.reserve(shape.rank());
  for (const Dim& dim : shape.dims()) {
    map.push_back({loop_of(space, dim, role)});
  }
  return map;
}

// Puts the loops that no layout can split last, so that their sums nest innermost.
void unsplittable_last(IterationSpace& space) {
  std::vector<std::size_t> order(space.loops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](std::size_t l) { return may_be_split(space.loops[l].name) ? 0 : 1; });
  std::vector<std::size_t> place(order.size());
  std::vector<LoopDim> loops;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    loops.push_back(space.loops[order[i]]);
  }
  space.loops = std::move(loops);
  const auto renumber = [&](DimMap& map) {
    for (std::vector<std::size_t>& dim : map) {
      for (std::size_t& loop : dim) {
        loop = place[loop];
      }
    }
  };
  renumber(space.result);
  std::ranges::for_each(space.operands, renumber);
}

}  // namespace

OpArgs::OpArgs() = default;
OpArgs::OpArgs(const OpArgs& other) = default;
OpArgs::OpArgs(OpArgs&& other) noexcept = default;
OpArgs& OpArgs::operator=(const OpArgs& other) = default;
OpArgs& OpArgs::operator=(OpArgs&& other) noexcept = default;
OpArgs::~OpArgs() = default;

OpArgs to_shape(Shape shape) {
  OpArgs args;
  args.set("to", std::move(shape));
  return args;
}

bool operator==(const OpArgs& a, const OpArgs& b) {
  return a.entries_ == b.entries_ || std::ranges::equal(a.entries(), b.entries());
}

std::span<const OpArgs::Entry> OpArgs::entries() const {
  return entries_ == nullptr ? std::span<const Entry>() : *entries_;
}

const ArgValue* OpArgs::find(std::string_view name) const {
  const auto found = std::ranges::find(entries(), name, &Entry::first);
  return found == entries().end() ? nullptr : &found->second;
}

void OpArgs::set(std::string_view name, ArgValue value) {
  if (entries_ == nullptr) {
    entries_ = std::make_shared<std::vector<Entry>>();
    entries_->reserve(2);
  } else if (entries_.use_count() > 1) {
    entries_ = std::make_shared<std::vector<Entry>>(*entries_);
  }
  const auto found = std::ranges::find(*entries_, name, &Entry::first);
  if (found == entries_->end()) {
    entries_->emplace_back(name, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

void OpArgs::erase(std::string_view name) {
  if (find(name) != nullptr) {
    std::vector<Entry> left;
    std::ranges::copy_if(entries(), std::back_inserter(left),
                         [name](const Entry& entry) { return entry.first != name; });
    entries_ = std::make_shared<std::vector<Entry>>(std::move(left));
  }
}

bool is_widened(const OpCall& call) {
  const auto narrow = [](const TensorType& type) { return is_narrow(type.dtype); };
  return !call.op->narrow && (narrow(call.result) || std::ranges::any_of(call.operands, narrow));
}

SourceSpan OpCall::span_of(std::size_t operand) const {
  return operand < operand_spans.size() ? operand_spans[operand] : span;
}

std::vector<MovedDim> reads_of(const IterationSpace& space) {
  std::vector<MovedDim> reads;
  const DimMap& operand = space.operands.front();
  for (std::size_t d = 0; d < operand.size(); ++d) {
    const auto moved = std::ranges::find(space.moved, d, &MovedDim::dim);
    if (moved != space.moved.end()) {
      reads.push_back(*moved);
      continue;
    }
    const auto to = std::ranges::find(space.result, operand[d]);
    reads.push_back({.dim = d, .to = static_cast<std::size_t>(to - space.result.begin())});
  }
  return reads;
}

std::vector<WindowDim> windows_of(const IterationSpace& space, std::size_t operand) {
  std::vector<WindowDim> windows;
  std::ranges::copy_if(space.windows, std::back_inserter(windows),
                       [operand](const WindowDim& window) { return window.operand == operand; });
  return windows;
}

std::size_t digested_loop(const IterationSpace& space) {
  const auto found = std::ranges::find_if(
      space.loops, [](const LoopDim& loop) { return needs_digest(loop.role); });
  assert(found != space.loops.end());
  return static_cast<std::size_t>(found - space.loops.begin());
}

std::optional<std::size_t> dim_of(const DimMap& map, std::size_t loop) {
  const auto found = std::ranges::find(map, std::vector{loop});
  return found == map.end() ? std::nullopt
                            : std::optional(static_cast<std::size_t>(found - map.begin()));
}

IterationSpace space_by_name(const OpCall& call, DimRole missing, Combine combine) {
  IterationSpace space;
  space.combine = combine;
  space.result = map_dims(space, call.result.shape, DimRole::kKept);
  space.operands.reserve(call.operands.size());
  for (const TensorType& operand : call.operands) {
    space.operands.push_back(map_dims(space, operand.shape, missing));
  }
  unsplittable_last(space);
  return space;
}

namespace {

// The operations of a table by what they are asked for, of several the first.
class OpIndex {
 public:
  explicit OpIndex(OpTable table) : table_(table.begin(), table.end()) {
    for (const OpDef* op : table) {
      names_.emplace(op->name, op);
      symbols_.emplace(op->symbol, op);
      algebras_.emplace(op->algebra, op);
      primitives_.emplace(op->primitive, op);
    }
  }

  [[nodiscard]] bool is_of(OpTable table) const { return std::ranges::equal(table, table_); }
  [[nodiscard]] const OpDef* named(std::string_view name) const { return find(names_, name); }
  [[nodiscard]] const OpDef* spelt(std::string_view symbol) const { return find(symbols_, symbol); }
  [[nodiscard]] const OpDef* of(Algebra algebra) const { return find(algebras_, algebra); }
  [[nodiscard]] const OpDef* of(Primitive primitive) const { return find(primitives_, primitive); }

 private:
  template <typename Ops, typename Key>
  static const OpDef* find(const Ops& ops, const Key& key) {
    const auto found = ops.find(key);
    return found == ops.end() ? nullptr : found->second;
  }

  std::vector<const OpDef*> table_;
  std::unordered_map<std::string_view, const OpDef*> names_;
  std::unordered_map<std::string_view, const OpDef*> symbols_;
  std::unordered_map<Algebra, const OpDef*> algebras_;
  std::unordered_map<Primitive, const OpDef*> primitives_;
};

// There is one table but in tests: that of the last one asked for is kept.
const OpIndex& index_of(OpTable table) {
  thread_local OpIndex index(table);
  if (!index.is_of(table)) {
    index = OpIndex(table);
  }
  return index;
}

}  // namespace

const OpDef* find_op(OpTable table, std::string_view name) {
  return index_of(table).named(name);
}

const OpDef* find_operator(OpTable table, std::string_view symbol) {
  return symbol.empty() ? nullptr : index_of(table).spelt(symbol);
}

const OpDef& op_of(OpTable table, Algebra algebra) {
  const OpDef* op = index_of(table).of(algebra);
  assert(op != nullptr);
  return *op;
}

const OpDef& op_of(OpTable table, Primitive primitive) {
  const OpDef* op = index_of(table).of(primitive);
  assert(op != nullptr);
  return *op;
}

}  // namespace mtf
