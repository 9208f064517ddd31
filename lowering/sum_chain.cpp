#include "lowering/sum_chain.h"

#include <algorithm>
#include <utility>

namespace mtf {
namespace {

constexpr std::int32_t kNobody = -1;
constexpr std::int32_t kSeveral = -2;

// Per value, the one operation that reads it.
std::vector<std::int32_t> only_readers(const Program& program) {
  std::vector<std::int32_t> readers(program.values.size(), kNobody);
  const auto read = [&readers](ValueId id, std::int32_t by) {
    std::int32_t& reader = readers[static_cast<std::size_t>(id.index)];
    reader = reader == kNobody ? by : kSeveral;
  };
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    for (const ValueId operand : program.values[i].operands) {
      read(operand, static_cast<std::int32_t>(i));
    }
  }
  for (const ValueId output : program.outputs) {
    read(output, kSeveral);
  }
  for (const Update& update : program.updates) {
    read(update.value, kSeveral);
  }
  return readers;
}

}  // namespace

std::vector<std::vector<ValueId>> sum_chains(const Program& program) {
  const std::vector<std::int32_t> readers = only_readers(program);
  std::vector<char> inside(program.values.size(), 0);
  std::vector<std::vector<ValueId>> chains(program.values.size());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    std::vector<ValueId> chain = {{static_cast<std::int32_t>(i)}};
    while (inside[i] == 0) {
      const Value& value = program.at(chain.back());
      const std::int32_t reader = readers[static_cast<std::size_t>(chain.back().index)];
      const bool goes_on = value.internal && value.op != nullptr && !value.op->alias &&
                           reader >= 0 && program.at(ValueId{reader}).op->algebra == Algebra::kSum;
      if (!goes_on) {
        break;
      }
      chain.push_back({reader});
      inside[static_cast<std::size_t>(reader)] = 1;
    }
    if (chain.size() > 1) {
      chains[i] = std::move(chain);
    }
  }
  return chains;
}

Target lying_as(const Target& sum, const Shape& of_sum, const Target& own, const Shape& shape) {
  Target target = unsplit(shape);
  for (const bool summed : {false, true}) {
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      const std::optional<std::size_t> there = of_sum.index_of(shape[d].name);
      if (there.has_value() == summed) {
        continue;
      }
      const Target& from = summed ? own : sum;
      const std::size_t at = summed ? d : *there;
      const Axes& axes = from.layout.dims[at];
      const auto taken = [&](AxisId axis) { return target.layout.uses(axis); };
      if (std::ranges::none_of(axes, taken)) {
        target.layout.dims[d] = axes;
        target.firm[d] = from.firm[at];
        target.causes[d] = from.causes[at];
      }
    }
  }
  return target;
}

}  // namespace mtf
