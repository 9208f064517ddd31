// Dead code, common values, and moves that move nothing. Every pass goes over the list once and
// leaves what stays in the order of the text, on which exact results rest.

#include "ir/rewrite/rewrite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/loops/loop.h"
#include "ir/rewrite/share.h"
#include "ir/rewrite/sums/contract.h"
#include "ir/rewrite/sums/join.h"
#include "ir/rewrite/transfer.h"

namespace mtf {
namespace {

// Inputs stay though nobody reads them: callers pass them by position.
std::vector<bool> live_values(const Program& program) {
  std::vector<bool> live(program.values.size());
  const auto mark = [&](ValueId id) { live[static_cast<std::size_t>(id.index)] = true; };
  for (const ValueId output : program.outputs) {
    mark(output);
  }
  for (const Update& update : program.updates) {
    mark(update.value);
  }
  for (std::size_t i = live.size(); i-- > 0;) {
    const Value& value = program.values[i];
    live[i] = live[i] || value.op == nullptr || value.op->effect;
    if (!live[i]) {
      continue;
    }
    for (const ValueId operand : value.operands) {
      mark(operand);
    }
    if (value.recompute.of.valid() && value.op->random) {
      mark(value.recompute.of);  // on whose place its numbers depend
    }
  }
  return live;
}

// A rewrite of a program in its own place, which copies nothing: what stays moves up.
class Compaction {
 public:
  explicit Compaction(Program& program) : program_(program), moved_(program.values.size()) {}

  // The next of the old values, reading those that stayed.
  Value& next() {
    Value& value = program_.values[next_];
    for (ValueId& operand : value.operands) {
      operand = moved_[at(operand)];
    }
    ValueId& copied = value.recompute.of;
    copied = copied.valid() ? moved_[at(copied)] : copied;
    return value;
  }

  // What becomes of it.
  void drop() { ++next_; }
  void keep() {
    moved_[next_] = fresh();
    if (kept_ != next_) {
      program_.values[kept_] = std::move(program_.values[next_]);
    }
    ++kept_;
    ++next_;
  }
  void replace(ValueId by) { moved_[next_++] = by; }

  // The number of what is kept next.
  [[nodiscard]] ValueId fresh() const { return {static_cast<std::int32_t>(kept_)}; }

  void finish() {
    program_.values.resize(kept_);
    for (Input& input : program_.inputs) {
      input.value = moved_[at(input.value)];
    }
    for (ValueId& output : program_.outputs) {
      output = moved_[at(output)];
    }
    for (Update& update : program_.updates) {
      update.value = moved_[at(update.value)];
    }
    for (Let& let : program_.lets) {
      let.value = moved_[at(let.value)];
    }
    std::erase_if(program_.lets, [](const Let& let) { return !let.value.valid(); });
  }

 private:
  Program& program_;
  std::vector<ValueId> moved_;  // per old value
  std::size_t next_ = 0;
  std::size_t kept_ = 0;
};

void drop_dead(Program& program) {
  const std::vector<bool> live = live_values(program);
  if (std::ranges::find(live, false) == live.end()) {
    return;
  }
  Compaction compaction(program);
  for (const bool is_live : live) {
    (void)compaction.next();
    is_live ? compaction.keep() : compaction.drop();
  }
  compaction.finish();
}

bool moves_nothing(const Program& to, const Value& value) {
  return value.op->algebra != Algebra::kNone && value.operands.size() == 1 &&
         to.at(value.operands.front()).type == value.type;
}

bool may_merge(const Value& value) {
  const ArgValue* seed = value.args.find("seed");
  const bool seeded = seed != nullptr && !std::holds_alternative<std::monostate>(*seed);
  return !value.op->effect && !is(value, Primitive::kCarry) && (!value.op->random || seeded);
}

// Two spellings, as in `over = io` and `-> [batch]`, may lead to the same result type.
bool type_says_all(Algebra kind) {
  return kind == Algebra::kSum || kind == Algebra::kEinsum || kind == Algebra::kBroadcast ||
         kind == Algebra::kTranspose;
}

// ---- what makes values equal ---------------------------------------------------------------

bool same(const Value& a, const Value& b) {
  return a.op == b.op && a.operands == b.operands && a.type == b.type &&
         a.recompute.again == b.recompute.again &&
         (type_says_all(a.op->algebra) || same_arguments(a.args, b.args));
}

// Of a part of what makes values equal: the operands, and what constants are told apart by.
std::size_t hash_of(const Value& value) {
  std::size_t hash = std::hash<const OpDef*>()(value.op);
  const auto add = [&hash](std::size_t part) { mix_hash(hash, part); };
  for (const ValueId operand : value.operands) {
    add(at(operand));
  }
  add(static_cast<std::size_t>(value.recompute.again));
  for (const Dim& dim : value.type.shape.dims()) {
    add(static_cast<std::size_t>(dim.size));
  }
  if (!type_says_all(value.op->algebra)) {
    for (const auto& [name, argument] : value.args.entries()) {
      if (const auto* number = std::get_if<double>(&argument)) {
        add(std::isnan(*number) ? 0 : std::bit_cast<std::size_t>(*number));
      } else if (const auto* whole = std::get_if<std::int64_t>(&argument)) {
        add(static_cast<std::size_t>(*whole));
      }
    }
  }
  return hash;
}

// Values by their hashes, one place behind the other where those are taken.
class HashedValues {
 public:
  // No more than so many are in it at a time.
  explicit HashedValues(std::size_t most)
      : slots_(std::bit_ceil(2 * most + 2)), mask_(slots_.size() - 1) {}

  // The first of the hash for which `is_it` holds; invalid: none.
  template <typename IsIt>
  [[nodiscard]] ValueId find(std::size_t hash, const IsIt& is_it) const {
    for (std::size_t i = hash & mask_; slots_[i].id != kFree; i = (i + 1) & mask_) {
      if (slots_[i].hash == folded(hash) && slots_[i].id.valid() && is_it(slots_[i].id)) {
        return slots_[i].id;
      }
    }
    return {};
  }
  void add(std::size_t hash, ValueId id) {
    std::size_t i = hash & mask_;
    while (slots_[i].id != kFree) {
      i = (i + 1) & mask_;
    }
    slots_[i] = {.hash = folded(hash), .id = id};
  }
  void remove(std::size_t hash, ValueId id) {
    for (std::size_t i = hash & mask_; slots_[i].id != kFree; i = (i + 1) & mask_) {
      if (slots_[i].id == id) {
        slots_[i].id = kRemoved;
        return;
      }
    }
  }

 private:
  static constexpr ValueId kFree{-1};
  static constexpr ValueId kRemoved{-2};

  static std::uint32_t folded(std::size_t hash) {
    return static_cast<std::uint32_t>(hash ^ (hash >> 32U));
  }

  // Small, as there are millions, read here and there.
  struct Slot {
    std::uint32_t hash = 0;
    ValueId id = kFree;
  };
  std::vector<Slot> slots_;
  std::size_t mask_;
};

// The values that later ones may be equal to. What a trip of a loop makes is not there behind it.
class Known {
 public:
  explicit Known(const Program& program) : program_(program), known_(program.values.size()) {}

  // The value that is equal; invalid: there is none, and it will be known by its number.
  ValueId find(const Value& value, ValueId fresh) {
    const std::size_t hash = hash_of(value);
    const ValueId equal =
        known_.find(hash, [&](ValueId id) { return same(program_.at(id), value); });
    if (equal.valid()) {
      return equal;
    }
    known_.add(hash, fresh);
    if (!open_.empty()) {
      open_.back().emplace_back(hash, fresh);
    }
    return {};
  }

  void pass(const Value& value) {
    if (is(value, Primitive::kWhile)) {
      open_.emplace_back();
    } else if (is(value, Primitive::kAgain)) {
      for (const auto& [hash, id] : open_.back()) {
        known_.remove(hash, id);
      }
      open_.pop_back();
    }
  }

 private:
  const Program& program_;  // as far as it is rewritten
  HashedValues known_;
  // Of the loops around, what trips made.
  std::vector<std::vector<std::pair<std::size_t, ValueId>>> open_;
};

// One value for equal ones, none for moves that move nothing.
void merge_equal(Program& program) {
  Compaction compaction(program);
  Known known(program);
  const auto find = [&](const Value& value) -> ValueId {
    known.pass(value);
    if (value.op == nullptr || !may_merge(value)) {
      return {};
    }
    if (moves_nothing(program, value)) {
      return value.operands.front();
    }
    const ValueId before = is(value, Primitive::kCast)
                               ? widened_from(program, value.operands.front(), value.type.dtype)
                               : ValueId();
    return before.valid() ? before : known.find(value, compaction.fresh());
  };
  for (std::size_t i = 0, count = program.values.size(); i < count; ++i) {
    Value& value = compaction.next();
    const ValueId equal = find(value);
    if (!equal.valid()) {
      compaction.keep();
      continue;
    }
    Value& kept = program.at(equal);
    kept.internal = kept.internal && value.internal;
    if (kept.name.empty()) {
      kept.name = std::move(value.name);
    }
    compaction.replace(equal);
  }
  compaction.finish();
}

}  // namespace

// Products are fused only while nobody else reads them, so dead readers must be gone before; and
// the fused ones must be gone before equal values are merged, as they would decide the order.
Program simplify(Program program, OpTable ops) {
  drop_dead(program);
  share_contents(program);
  merge_equal(program);
  program = contract(std::move(program), ops);
  drop_dead(program);
  merge_equal(program);
  drop_dead(program);
  program = join_terms(std::move(program), ops);
  drop_dead(program);
  share_contents(program);
  return program;
}

bool recomputes(const Program& program) {
  return std::ranges::any_of(program.values,
                             [](const Value& value) { return value.recompute.again != 0; });
}

// A copy that draws random numbers is its original; all others are equal to theirs.
void keep_recomputed(Program& simplified) {
  Compaction compaction(simplified);
  for (std::size_t i = 0, count = simplified.values.size(); i < count; ++i) {
    Value& value = compaction.next();
    const ValueId original = std::exchange(value.recompute, {}).of;
    const bool draws = value.op != nullptr && value.op->random;
    value.recompute.drawn_at = draws ? static_cast<std::int32_t>(i) : -1;
    const bool is_copy = draws && original.valid();
    is_copy ? compaction.replace(original) : compaction.keep();
  }
  compaction.finish();
  merge_equal(simplified);
  drop_dead(simplified);
}

}  // namespace mtf
