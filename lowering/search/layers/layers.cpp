#include "lowering/search/layers/layers.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lowering/search/layers/layer_kinds.h"

namespace mtf {
namespace {

constexpr std::size_t kQuick = 600;  // values that are planned as quickly as they are
constexpr std::size_t kKept = 2;     // repetitions of the longest run that `fewer` has at least
constexpr std::size_t kMostKept = 6;
constexpr std::size_t kMostSeams = 6;  // where layers are taken to begin
constexpr std::size_t kFewest = 5;     // repetitions that make it worth it
constexpr std::size_t kMostRuns = 32;  // of different things that are repeated

// Values begin … end - 1 repeat each other at a distance of `period`.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t period = 1;

  [[nodiscard]] std::size_t length() const { return end - begin; }
  [[nodiscard]] std::size_t repetitions() const { return length() / period; }
};

// The distances at which most values come again.
std::vector<std::size_t> likely_periods(const std::vector<Number>& kinds) {
  std::map<Number, std::size_t> last;
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
void add_runs(const std::vector<Number>& kinds, std::size_t period, std::vector<Run>& runs) {
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

// The first repetitions have other values behind them, so they are of other kinds.
void extend(Run& run, const std::vector<Run>& runs, const std::vector<Number>& alone) {
  std::size_t least = 0;
  for (const Run& other : runs) {
    least = other.begin < run.begin ? std::max(least, other.end) : least;
  }
  while (run.begin > least && alone[run.begin - 1] == alone[run.begin - 1 + run.period]) {
    --run.begin;
  }
}

// Runs that do not overlap, the longest first.
std::vector<Run> runs_of(const std::vector<Number>& kinds, const std::vector<Number>& alone) {
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
  for (Run& run : runs) {
    extend(run, runs, alone);
    // What a layer has several of comes again more often than layers do.
    const std::size_t layers = runs.front().repetitions();
    run.period *= std::max<std::size_t>(1, (run.repetitions() + layers / 2) / layers);
  }
  return runs;
}

class Shortener {
 public:
  Shortener(const Program& program, std::vector<Run> runs)
      : program_(program), runs_(std::move(runs)), readers_(program.values.size()) {
    for (std::size_t i = 0; i < program.values.size(); ++i) {
      for (const ValueId operand : program.values[i].operands) {
        readers_[at(operand)].push_back(i);
      }
    }
    put_in_order();
  }

  // Where a repetition of the longest run may be taken to end: first where few values of the run
  // are read beyond it.
  [[nodiscard]] std::vector<std::size_t> seams() const {
    const Run& run = runs_.front();
    const std::size_t first = run.begin + run.period;
    std::vector<std::pair<std::int64_t, std::size_t>> order;
    for (std::size_t seam = first; seam < first + run.period; ++seam) {
      std::int64_t read = 0;
      for (std::size_t i = seam - run.period; i < seam; ++i) {
        const auto beyond = [&](std::size_t reader) { return reader >= seam && reader < run.end; };
        read += std::ranges::any_of(readers_[i], beyond) ? 1 : 0;
      }
      order.emplace_back(read, seam);
    }
    std::ranges::sort(order);
    std::vector<std::size_t> seams;
    for (std::size_t i = 0; i < order.size() && i < kMostSeams; ++i) {
      seams.push_back(order[i].second);
    }
    return seams;
  }

  // Without so many repetitions behind a seam; nullopt: what is left makes no program.
  std::optional<Program> without(std::size_t repetitions, std::size_t seam) {
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
      const std::size_t begin = r == 0 ? seam : window(run, out);
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
  // Behind the longest, each that is joined most to those before it.
  void put_in_order() {
    std::vector<char> is_before(program_.values.size(), 0);
    for (std::size_t next = 1; next < runs_.size(); ++next) {
      const Run& last = runs_[next - 1];
      std::fill_n(is_before.begin() + static_cast<std::ptrdiff_t>(last.begin), last.length(), 1);
      const auto joints = [&](const Run& run) {
        std::int64_t count = 0;
        for (std::size_t i = run.begin; i < run.end; ++i) {
          count += std::ranges::count_if(program_.values[i].operands,
                                         [&](ValueId id) { return is_before[at(id)] != 0; });
          count += std::ranges::count_if(
              readers_[i], [&](std::size_t reader) { return is_before[reader] != 0; });
        }
        return count;
      };
      const auto rest = runs_.begin() + static_cast<std::ptrdiff_t>(next);
      std::iter_swap(rest, std::ranges::max_element(rest, runs_.end(), {}, joints));
    }
  }

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
    add_lets(result);
    return add_ends(result) && verify(result).empty() ? std::optional(std::move(result))
                                                      : std::nullopt;
  }

  void add_lets(Program& result) const {
    for (const Let& let : program_.lets) {
      if (is_out_[at(let.value)] == 0) {
        result.lets.push_back({.path = let.path, .value = mapped(let.value)});
      }
    }
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
  std::vector<Run> runs_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<std::size_t> instead_;  // per value, what stands for it if it is out
  std::vector<char> is_out_;
  std::vector<char> is_decided_;  // in a run that was looked at
  std::vector<std::int32_t> numbers_;
};

}  // namespace

std::optional<LayerSamples> layer_samples(const Program& program) {
  LayerKinds kinds(program);
  const std::vector<Run> runs = program.values.size() < kQuick
                                    ? std::vector<Run>()
                                    : runs_of(kinds.of(program), kinds.alone(program));
  if (runs.empty() || runs.front().repetitions() < kFewest) {
    return std::nullopt;
  }
  const LayerKinds::Pattern whole = kinds.pattern(program);
  Shortener shortener(program, runs);
  const std::vector<std::size_t> seams = shortener.seams();
  for (std::size_t kept = kKept; kept <= kMostKept && kept + 1 < runs.front().repetitions();
       ++kept) {
    const std::size_t out = runs.front().repetitions() - kept;
    const auto further = static_cast<std::int64_t>(out) - 1;
    const std::size_t skipped = (kept - 1) / 2 * runs.front().period;
    for (const std::size_t seam : seams) {
      std::optional<Program> fewer = shortener.without(out, seam + skipped);
      std::optional<Program> more =
          fewer ? shortener.without(out - 1, seam + skipped) : std::nullopt;
      if (more && repeats(whole, kinds.pattern(*more), kinds.pattern(*fewer), further)) {
        return LayerSamples{
            .fewer = *std::move(fewer), .more = *std::move(more), .further = further};
      }
    }
  }
  return std::nullopt;
}

}  // namespace mtf
