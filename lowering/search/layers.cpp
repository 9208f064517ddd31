#include "lowering/search/layers.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mtf {
namespace {

constexpr std::size_t kSmall = 600;    // values that are planned as quickly as they are
constexpr std::size_t kKept = 3;       // repetitions of the longest run that `more` has at least
constexpr std::size_t kFewest = 5;     // repetitions that make it worth it
constexpr std::size_t kMostRuns = 32;  // of different things that are repeated

// "layer_12/w" and "layer_13/w" are the same variable of two layers.
std::string without_numbers(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!is_digit) {
      text += c;
    } else if (text.empty() || text.back() != '#') {
      text += '#';
    }
  }
  return text;
}

// Values are alike that do the same with values that are alike, two steps back.
std::vector<int> kinds_of(const Program& program) {
  std::map<std::string, int> numbers;
  const auto number = [&numbers](const std::string& text) {
    return numbers.try_emplace(text, static_cast<int>(numbers.size())).first->second;
  };
  std::vector<std::string> inputs(program.values.size());
  for (const Input& input : program.inputs) {
    inputs[at(input.value)] =
        std::to_string(static_cast<int>(input.kind)) + without_numbers(input.name);
  }
  std::vector<int> kinds;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    std::string text = value.op == nullptr ? "input " + inputs[i]
                                           : std::string(value.op->name) + to_string(value.args);
    text += to_string(value.type) + without_numbers(value.variable);
    text += value.internal ? " internal" : "";
    text += value.backward ? " backward" : "";
    text += std::to_string(value.region);
    kinds.push_back(number(text));
  }
  for (int round = 0; round < 2; ++round) {
    std::vector<int> finer;
    for (std::size_t i = 0; i < program.values.size(); ++i) {
      std::string text = "of " + std::to_string(kinds[i]);
      for (const ValueId operand : program.values[i].operands) {
        text += "," + std::to_string(kinds[at(operand)]);
      }
      finer.push_back(number(text));
    }
    kinds = std::move(finer);
  }
  return kinds;
}

// Values begin … end - 1 repeat each other at a distance of `period`.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t period = 1;

  [[nodiscard]] std::size_t length() const { return end - begin; }
  [[nodiscard]] std::size_t repetitions() const { return length() / period; }
};

// The distances at which most values come again.
std::vector<std::size_t> likely_periods(const std::vector<int>& kinds) {
  std::map<int, std::size_t> last;
  std::map<std::size_t, std::size_t> counts;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto [found, is_new] = last.try_emplace(kinds[i], i);
    if (!is_new) {
      ++counts[i - std::exchange(found->second, i)];
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (const auto& [period, count] : counts) {
    if (count >= kFewest * 2) {
      order.emplace_back(count, period);
    }
  }
  std::ranges::sort(order, std::greater<>());
  std::vector<std::size_t> periods;
  for (std::size_t i = 0; i < order.size() && i < kMostRuns; ++i) {
    periods.push_back(order[i].second);
  }
  return periods;
}

// Stretches of values that come again at a distance.
void add_runs(const std::vector<int>& kinds, std::size_t period, std::vector<Run>& runs) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i + period <= kinds.size(); ++i) {
    if (i + period < kinds.size() && kinds[i] == kinds[i + period]) {
      continue;
    }
    const Run run{.begin = begin, .end = i + period, .period = period};
    if (i > begin && run.repetitions() >= 2) {
      runs.push_back(run);
    }
    begin = i + 1;
  }
}

// Runs that do not overlap, the longest first.
std::vector<Run> runs_of(const std::vector<int>& kinds) {
  std::vector<Run> all;
  for (const std::size_t period : likely_periods(kinds)) {
    add_runs(kinds, period, all);
  }
  std::ranges::stable_sort(all, [](const Run& a, const Run& b) {
    return std::pair(b.length(), a.period) < std::pair(a.length(), b.period);
  });
  std::vector<Run> runs;
  for (const Run& run : all) {
    const bool overlaps = std::ranges::any_of(
        runs, [&run](const Run& other) { return run.begin < other.end && other.begin < run.end; });
    if (!overlaps && runs.size() < kMostRuns) {
      runs.push_back(run);
    }
  }
  return runs;
}

class Shortener {
 public:
  Shortener(const Program& program, const std::vector<Run>& runs)
      : program_(program), runs_(runs), readers_(program.values.size()) {
    for (std::size_t i = 0; i < program.values.size(); ++i) {
      for (const ValueId operand : program.values[i].operands) {
        readers_[at(operand)].push_back(i);
      }
    }
  }

  // Without so many repetitions; nullopt: what is left makes no program.
  std::optional<Program> without(std::size_t repetitions) {
    instead_.assign(program_.values.size(), 0);
    is_out_.assign(program_.values.size(), 0);
    is_decided_.assign(program_.values.size(), 0);
    for (std::size_t i = 0; i < instead_.size(); ++i) {
      instead_[i] = i;
    }
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const Run& run = runs_[r];
      const std::size_t out = repetitions * run.period;
      if (out == 0 || run.length() < out + run.period) {
        continue;
      }
      const std::size_t begin = r == 0 ? run.begin + (run.period * 3 + 1) / 2 : window(run, out);
      for (std::size_t i = begin; i < begin + out; ++i) {
        const std::size_t back = (i - begin) / run.period * run.period + run.period;
        const std::size_t on = (begin + out - 1 - i) / run.period * run.period + run.period;
        is_out_[i] = 1;
        instead_[i] = i >= run.begin + back ? i - back : i + on;
      }
      for (std::size_t i = run.begin; i < run.end; ++i) {
        is_decided_[i] = 1;
      }
    }
    return kept();
  }

 private:
  // Where to take them out of a run, so that what belongs together goes together: values whose
  // neighbours in runs before are out.
  [[nodiscard]] std::size_t window(const Run& run, std::size_t out) const {
    std::vector<std::int64_t> gain(run.length() + 1, 0);  // of the values before
    for (std::size_t i = run.begin; i < run.end; ++i) {
      std::int64_t votes = 0;
      const auto ask = [&](std::size_t other) {
        votes += is_decided_[other] == 0 ? 0 : is_out_[other] != 0 ? 1 : -1;
      };
      for (const ValueId operand : program_.values[i].operands) {
        ask(at(operand));
      }
      std::ranges::for_each(readers_[i], ask);
      gain[i - run.begin + 1] = gain[i - run.begin] + votes;
    }
    std::size_t best = run.period;  // what is next after the last one needs one before
    for (std::size_t begin = best; begin + out <= run.length(); ++begin) {
      const auto gained = [&](std::size_t from) { return gain[from + out] - gain[from]; };
      best = gained(begin) > gained(best) ? begin : best;
    }
    return run.begin + best;
  }

  [[nodiscard]] ValueId mapped(ValueId old) const {
    if (!old.valid()) {
      return old;
    }
    return {numbers_[instead_[at(old)]]};
  }

  std::optional<Program> kept() {
    Program result;
    result.name = program_.name;
    result.frames = program_.frames;
    result.regions = program_.regions;
    numbers_.assign(program_.values.size(), -1);
    for (std::size_t i = 0; i < program_.values.size(); ++i) {
      if (is_out_[i] != 0) {
        continue;
      }
      Value value = program_.values[i];
      for (ValueId& operand : value.operands) {
        const TensorType& type = program_.at(operand).type;
        operand = mapped(operand);
        if (!operand.valid() || !(result.at(operand).type == type)) {
          return std::nullopt;
        }
      }
      value.recompute.of = mapped(value.recompute.of);
      numbers_[i] = static_cast<std::int32_t>(result.values.size());
      result.values.push_back(std::move(value));
    }
    return add_ends(result) && verify(result).empty() ? std::optional(std::move(result))
                                                      : std::nullopt;
  }

  bool add_ends(Program& result) const {
    std::vector<std::size_t> inputs(program_.inputs.size(), program_.inputs.size());
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      if (is_out_[at(program_.inputs[i].value)] == 0) {
        inputs[i] = result.inputs.size();
        result.inputs.push_back(program_.inputs[i]);
        result.inputs.back().value = mapped(program_.inputs[i].value);
      }
    }
    for (const Update& update : program_.updates) {
      if (inputs[update.input] == program_.inputs.size()) {
        continue;
      }
      result.updates.push_back({.input = inputs[update.input], .value = mapped(update.value)});
      if (!result.updates.back().value.valid()) {
        return false;
      }
    }
    for (const ValueId output : program_.outputs) {
      if (is_out_[at(output)] == 0) {
        result.outputs.push_back(mapped(output));
      }
    }
    return true;
  }

  const Program& program_;
  const std::vector<Run>& runs_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<std::size_t> instead_;  // per value, what stands for it if it is out
  std::vector<char> is_out_;
  std::vector<char> is_decided_;  // in a run that was looked at
  std::vector<std::int32_t> numbers_;
};

}  // namespace

std::optional<LayerSamples> layer_samples(const Program& program) {
  const std::vector<Run> runs =
      program.values.size() < kSmall ? std::vector<Run>() : runs_of(kinds_of(program));
  if (runs.empty() || runs.front().repetitions() < kFewest) {
    return std::nullopt;
  }
  const std::size_t out = runs.front().repetitions() - kKept + 1;
  Shortener shortener(program, runs);
  std::optional<Program> fewer = shortener.without(out);
  std::optional<Program> more = shortener.without(out - 1);
  if (!fewer || !more) {
    return std::nullopt;
  }
  return LayerSamples{.fewer = *std::move(fewer),
                      .more = *std::move(more),
                      .further = static_cast<std::int64_t>(out) - 1};
}

}  // namespace mtf
