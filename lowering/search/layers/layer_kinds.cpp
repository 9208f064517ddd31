#include "lowering/search/layers/layer_kinds.h"

#include <algorithm>
#include <utility>

#include "lowering/search/space/groups.h"

namespace mtf {
namespace {

constexpr int kRounds = 2;

std::string text_of(const std::string& word, Number kind, const std::vector<Number>& others) {
  std::string text = word + std::to_string(kind);
  for (const Number other : others) {
    text += "," + std::to_string(other);
  }
  return text;
}

}  // namespace

LayerKinds::LayerKinds(const Program& whole) {
  for (const Value& value : whole.values) {
    largest_ = std::max(largest_, value.type.bytes());
  }
}

bool LayerKinds::is_minor(const Value& value) const {
  constexpr std::int64_t kMinor = 100'000;
  return value.op != nullptr && value.type.bytes() < largest_ / kMinor;
}

std::vector<Number> LayerKinds::alone(const Program& program) {
  std::vector<std::string> inputs(program.values.size());
  for (const Input& input : program.inputs) {
    inputs[at(input.value)] =
        std::to_string(static_cast<int>(input.kind)) + without_numbers(input.name);
  }
  for (const Let& let : program.lets) {  // which layouts may tell apart
    inputs[at(let.value)] += " " + without_numbers(let.path);
  }
  std::vector<Number> kinds;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    std::string text = value.op == nullptr
                           ? "input " + inputs[i]
                           : std::string(value.op->name) + to_string(value.args) + inputs[i];
    text += to_string(value.type) + without_numbers(value.variable);
    text += value.internal ? " internal" : "";
    text += value.backward ? " backward" : "";
    text += std::to_string(value.region);
    kinds.push_back(numbers_.number(text));
  }
  return kinds;
}

std::vector<Number> LayerKinds::of(const Program& program) {
  std::vector<Number> kinds = alone(program);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Number> finer;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (is_minor(program.values[i])) {
        finer.push_back(kinds[i]);
        continue;
      }
      std::vector<Number> operands;
      for (const ValueId operand : program.values[i].operands) {
        operands.push_back(kinds[at(operand)]);
      }
      finer.push_back(numbers_.number(text_of("of ", kinds[i], operands)));
    }
    kinds = std::move(finer);
  }
  return kinds;
}

void LayerKinds::count(const Program& program, const std::vector<Number>& kinds, Pattern& pattern) {
  std::vector<std::vector<Number>> readers(kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (const ValueId operand : program.values[i].operands) {
      readers[at(operand)].push_back(kinds[i]);
    }
  }
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    // A constant is read once by each layer.
    std::ranges::sort(readers[i]);
    readers[i].erase(std::unique(readers[i].begin(), readers[i].end()), readers[i].end());
    if (is_minor(program.values[i])) {
      readers[i].clear();
    }
    ++pattern.counts[numbers_.number(text_of("read ", kinds[i], readers[i]))];
  }
}

void LayerKinds::add_steps(const Program& program, const std::vector<Number>& kinds,
                           Pattern& pattern) const {
  std::map<Number, std::int64_t> seen;
  std::vector<std::int64_t> place(kinds.size());  // among those of its kind
  std::map<std::array<Number, 3>, std::int64_t> last;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    place[i] = seen[kinds[i]]++;
    const std::vector<ValueId>& operands = program.values[i].operands;
    for (std::size_t o = 0; o < operands.size(); ++o) {
      const std::size_t operand = at(operands[o]);
      if (is_minor(program.values[i]) || is_minor(program.values[operand])) {
        continue;
      }
      const std::array<Number, 3> joint = {kinds[i], static_cast<Number>(o), kinds[operand]};
      const auto [before, is_first] = last.try_emplace(joint, place[operand]);
      if (!is_first) {
        const std::int64_t step = place[operand] - std::exchange(before->second, place[operand]);
        const auto [known, is_new] = pattern.steps.try_emplace(joint, step);
        known->second = known->second == step ? step : kUneven;
      }
    }
  }
}

LayerKinds::Pattern LayerKinds::pattern(const Program& program) {
  const std::vector<Number> kinds = of(program);
  Pattern result;
  count(program, kinds, result);
  add_steps(program, kinds, result);
  return result;
}

bool repeats(const LayerKinds::Pattern& whole, const LayerKinds::Pattern& more,
             const LayerKinds::Pattern& fewer, std::int64_t further) {
  const auto count = [](const LayerKinds::Pattern& pattern, Number kind) {
    const auto found = pattern.counts.find(kind);
    return found == pattern.counts.end() ? 0 : found->second;
  };
  const auto fits = [&](const auto& counted) {
    const Number kind = counted.first;
    const std::int64_t layer = count(more, kind) - count(fewer, kind);
    return count(whole, kind) == count(more, kind) + further * layer;
  };
  const auto steps_alike = [&whole](const auto& joined) {
    const auto found = whole.steps.find(joined.first);
    return found != whole.steps.end() &&
           (found->second == LayerKinds::kUneven || found->second == joined.second);
  };
  return std::ranges::all_of(whole.counts, fits) && std::ranges::all_of(more.counts, fits) &&
         std::ranges::all_of(fewer.counts, fits) && std::ranges::all_of(more.steps, steps_alike) &&
         std::ranges::all_of(fewer.steps, steps_alike);
}

}  // namespace mtf
