#include "lowering/search/roles/passage.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "ir/loops/loop.h"
#include "lowering/spmd.h"

namespace mtf {
namespace {

bool is_product(const Value& value) {
  return value.op != nullptr && is_product_of_two(*value.op, value.operands.size());
}

bool is_simple(const IterationSpace& space) {
  return space.moved.empty() && space.windows.empty() && !space.digest && space.served.empty() &&
         has_single_loops(space);
}

// Whether each element of the result comes of the element of the operand at its place.
bool is_one_to_one(const IterationSpace& space, std::size_t operand) {
  return is_simple(space) && space.operands[operand].size() == space.loops.size() &&
         space.result.size() == space.loops.size() &&
         std::ranges::all_of(space.loops,
                             [](const LoopDim& loop) { return loop.role == DimRole::kKept; });
}

double flops_of_product(const Program& program, ValueId id) {
  const SplitCall call = unsplit_call(program, id);
  auto flops = static_cast<double>(program.at(id).operands.size());  // two of each pair
  for (const LoopDim& loop : call.space->loops) {
    flops *= static_cast<double>(loop.size);
  }
  return flops;
}

}  // namespace

bool has_single_loops(const IterationSpace& space) {
  const auto is_single = [](const DimMap& map) {
    return std::ranges::all_of(map, [](const auto& loops) { return loops.size() == 1; });
  };
  return std::ranges::all_of(space.operands, is_single) && is_single(space.result);
}

bool is_plain_product(const Program& program, ValueId id) {
  const Value& value = program.at(id);
  if (!is_product(value) || is_of_loop(value)) {
    return false;
  }
  const SplitCall call = unsplit_call(program, id);
  return is_simple(*call.space) && std::ranges::all_of(call.space->loops, [](const LoopDim& loop) {
           return loop.role == DimRole::kKept || loop.role == DimRole::kReduced;
         });
}

Passage::Passage(const Program& program, bool exact)
    : program_(program),
      exact_(exact),
      origins_(program.values.size()),
      readers_(program.values.size()),
      made_(program.values.size(), 0),
      flops_(program.values.size(), 0),
      makers_(program.values.size()),
      read_(program.values.size()),
      read_twice_(program.values.size()),
      sides_(program.values.size(), Side::kEither) {
  std::vector<char> is_plain;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    is_plain.push_back(is_plain_product(program, id) ? 1 : 0);
    origins_[i] = origin_of(id, is_plain);
    const std::vector<ValueId>& operands = program.values[i].operands;
    for (std::size_t o = 0; is_plain[i] != 0 && o < operands.size(); ++o) {
      if (origin(operands[o]).value.valid()) {
        readers_[at(origin(operands[o]).value)].push_back({.product = id, .operand = o});
      }
    }
  }
  find_sides(is_plain);
  take_variables(is_plain);
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    if (is_plain[i] != 0 && made_[i] == 0) {
      take_from_maker({static_cast<std::int32_t>(i)});
    }
  }
  add_memory(is_plain);
}

double Passage::elements(ValueId id) const {
  return static_cast<double>(program_.at(id).type.shape.volume());
}

double Passage::read(ValueId product, std::size_t operand, bool twice) const {
  const std::vector<double>& bytes = (twice ? read_twice_ : read_)[at(product)];
  return bytes.empty() ? 0 : bytes[operand];
}

double Passage::flops_of_read(ValueId product, std::size_t operand) const {
  const std::vector<ValueId>& makers = makers_[at(product)];
  return makers.empty() || !makers[operand].valid() ? 0 : flops_[at(makers[operand])];
}

namespace {

// The last product which is not of a gradient. nullopt: there is none, or there are loops, and what
// they do has no such time.
std::optional<std::size_t> last_forward(const Program& program, const std::vector<char>& is_plain) {
  if (std::ranges::any_of(program.values, [](const Value& value) { return is_of_loop(value); })) {
    return std::nullopt;
  }
  for (std::size_t i = program.values.size(); i-- > 0;) {
    const Value& value = program.values[i];
    if (is_plain[i] != 0 && !value.backward && value.recompute.again == 0) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace

void Passage::find_sides(const std::vector<char>& is_plain) {
  const std::optional<std::size_t> last = last_forward(program_, is_plain);
  if (!last) {
    return;
  }
  const std::size_t pivot = *last;
  sides_[pivot] = Side::kBefore;
  for (std::size_t i = pivot + 1; i-- > 0;) {
    for (const ValueId operand : program_.values[i].operands) {
      sides_[at(operand)] = sides_[i] == Side::kBefore ? Side::kBefore : sides_[at(operand)];
    }
  }
  for (std::size_t i = pivot + 1; i < sides_.size(); ++i) {
    const bool is_behind = std::ranges::any_of(program_.values[i].operands, [&](ValueId operand) {
      return at(operand) == pivot || sides_[at(operand)] == Side::kBehind;
    });
    sides_[i] = is_behind ? Side::kBehind : Side::kEither;
  }
}

// Of several operands, what was made last: sums of many layers come of each of them. Where bits do
// not count, unfinished sums may be added up before ranks receive any of them.
Passage::Origin Passage::origin_of(ValueId id, const std::vector<char>& is_plain) const {
  const Value& value = program_.at(id);
  const auto own = static_cast<double>(bytes_of(value.type.dtype));
  if (value.op == nullptr || is_plain[at(id)] != 0) {
    return {.value = id, .bytes = own};
  }
  if (value.op->effect || is_of_loop(value) || value.operands.empty() || is_product(value) ||
      (!value.op->alias && value.op->space == nullptr) ||
      (!exact_ && value.op->linear == Linear::kJoint)) {
    return {};
  }
  if (value.op->alias) {
    return origin(value.operands.front());
  }
  const SplitCall call = unsplit_call(program_, id);
  Origin result;
  for (std::size_t o = 0; o < value.operands.size(); ++o) {
    const Origin& other = origin(value.operands[o]);
    if (other.value > result.value && is_one_to_one(*call.space, o)) {
      result = other;
    }
  }
  result.bytes = std::min(result.bytes, own);
  return result;
}

void Passage::share(const std::vector<Reader>& readers, double bytes,
                    std::vector<std::vector<double>>& read) const {
  for (const Reader& reader : readers) {
    std::vector<double>& all = read[at(reader.product)];
    all.resize(program_.at(reader.product).operands.size(), 0);
    all[reader.operand] = bytes / static_cast<double>(readers.size());
  }
}

void Passage::charge(const std::vector<Reader>& readers, ValueId maker, double bytes) {
  made_[at(maker)] = bytes;
  flops_[at(maker)] = flops_of_product(program_, maker) / bytes;
  for (const Reader& reader : readers) {
    std::vector<ValueId>& makers = makers_[at(reader.product)];
    makers.resize(program_.at(reader.product).operands.size());
    makers[reader.operand] = maker;
  }
  share(readers, bytes, read_);
  const auto on = [&](Side side) {
    std::vector<Reader> some;
    std::ranges::copy_if(readers, std::back_inserter(some),
                         [&](const Reader& reader) { return sides_[at(reader.product)] == side; });
    return some;
  };
  const std::vector<Reader> before = on(Side::kBefore);
  const std::vector<Reader> behind = on(Side::kBehind);
  if (before.empty() || behind.empty()) {
    share(readers, bytes, read_twice_);
  } else {
    share(before, bytes, read_twice_);
    share(behind, bytes, read_twice_);
  }
}

void Passage::take_from_maker(ValueId maker) {
  const std::vector<Reader>& readers = readers_[at(maker)];
  if (readers.empty()) {
    return;
  }
  auto bytes = static_cast<double>(bytes_of(program_.at(maker).type.dtype));
  for (const Reader& reader : readers) {
    bytes = std::min(bytes, origin(program_.at(reader.product).operands[reader.operand]).bytes);
  }
  charge(readers, maker, bytes * elements(maker));
}

void Passage::take_variables(const std::vector<char>& is_plain) {
  for (const Update& update : program_.updates) {
    const ValueId variable = program_.inputs[update.input].value;
    const std::vector<Reader>& readers = readers_[at(variable)];
    const Origin& gradient = origin(update.value);
    if (readers.empty() || !gradient.value.valid() || is_plain[at(gradient.value)] == 0 ||
        made_[at(gradient.value)] != 0) {
      continue;
    }
    double bytes = gradient.bytes;
    for (const Reader& reader : readers) {
      bytes = std::min(bytes, origin(program_.at(reader.product).operands[reader.operand]).bytes);
    }
    charge(readers, gradient.value, bytes * elements(variable));
  }
}

// Products are steps of their own: what one makes is written, and what it reads was.
void Passage::add_memory(const std::vector<char>& is_plain) {
  const std::size_t count = program_.values.size();
  std::vector<char> is_read_by_product(count, 0);
  std::vector<char> is_read_otherwise(count, 0);
  const auto goes_by_element = [this](std::size_t i) {
    const Value& value = program_.values[i];
    return value.op != nullptr && value.op->tile != nullptr && !is_product(value) &&
           !is_of_loop(value);
  };
  for (std::size_t i = 0; i < count; ++i) {
    for (const ValueId operand : program_.values[i].operands) {
      char& by_product = is_read_by_product[at(operand)];
      by_product = std::max(by_product, is_plain[i]);
      const Shape& own = program_.at(operand).type.shape;
      const bool is_whole =
          goes_by_element(i) && own.volume() == program_.values[i].type.shape.volume();
      is_read_otherwise[at(operand)] |= is_whole ? 1 : 0;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto bytes = static_cast<double>(program_.values[i].type.bytes());
    const bool is_read = is_plain[i] != 0 && is_read_otherwise[i] != 0;
    const bool is_written =
        goes_by_element(i) && is_read_by_product[i] != 0 && !program_.values[i].operands.empty();
    through_memory_ += is_read || is_written ? bytes : 0;
  }
}

}  // namespace mtf
