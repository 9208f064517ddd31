#include "lowering/search/roles/always_held.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include "ir/loops/loop.h"
#include "lowering/search/roles/held_values.h"
#include "lowering/steps/rematerialize.h"

namespace mtf {
namespace {

constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();

// What runs in a step of its own: chains join what is element by element, and sums of one tensor.
bool runs_alone(const Value& value) {
  return value.op != nullptr && value.op->tile == nullptr && !value.op->alias &&
         !value.op->effect && !is_of_loop(value) && value.operands.size() > 1;
}

// What a plan may make again wherever it reads it.
bool is_made_again(const Program& program, const Value& value) {
  return std::ranges::all_of(value.operands, [&program](ValueId operand) {
    return program.at(operand).type.shape.rank() == 0;
  });
}

class Dependences {
 public:
  explicit Dependences(const Program& program)
      : program_(program),
        lives_(program),
        loops_(loops_around(program)),
        is_kept_(program.values.size(), 0),
        source_(program.values.size()) {
    for (std::size_t i = 0; i < is_kept_.size(); ++i) {
      const Value& value = program.values[i];
      const bool is_made =
          lives_.takes_memory(i) && (!is_of_loop(value) || is(value, Primitive::kCarry));
      is_kept_[i] = is_made && !lives_.is_update(i) && !is_made_again(program, value) ? 1 : 0;
    }
    for (const Update& update : program.updates) {
      is_kept_[at(update.value)] = 0;  // it may be made in the place of the variable
    }
    for (std::size_t i = 0; i < source_.size(); ++i) {
      source_[i] = source_of(i);
    }
  }

  [[nodiscard]] std::vector<std::size_t> pivots() const {
    constexpr std::size_t kMost = 32;            // of each part
    constexpr std::size_t kLooked = 20'000'000;  // values, of all of them together
    const std::vector<std::int64_t> held = lives_.held();
    const std::size_t most =
        std::clamp<std::size_t>(kLooked / kPartsOfProgram / (held.size() + 1), 1, kMost);
    std::vector<std::size_t> result;
    for (std::size_t part = 0; part < kPartsOfProgram; ++part) {
      std::vector<std::size_t> here;
      const auto [begin, end] = part_of_program(part, held.size());
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        if (runs_alone(program_.values[i])) {
          here.push_back(i);
        }
      }
      std::ranges::stable_sort(here, std::greater<>(), [&held](std::size_t i) { return held[i]; });
      here.resize(std::min(here.size(), most));
      result.insert(result.end(), here.begin(), here.end());
    }
    return result;
  }

  [[nodiscard]] AlwaysHeld held_with(std::size_t pivot) const {
    const std::vector<char> before = made_before(pivot);
    const std::vector<Reader> reader = read_behind(pivot);
    std::vector<char> is_held(reader.size(), 0);
    std::vector<std::size_t> again;
    AlwaysHeld result;
    for (std::size_t i = 0; i < is_held.size(); ++i) {
      if (reader[i] == Reader::kNone || before[i] == 0 || is_kept_[i] == 0) {
        continue;
      }
      if (reader[i] == Reader::kChain && source_[i] != i) {
        again.push_back(i);
        continue;
      }
      is_held[i] = 1;
      result.across.push_back({static_cast<std::int32_t>(i)});
    }
    const auto add = [&](ValueId id) {
      if (is_kept_[at(id)] != 0 && is_held[at(id)] == 0) {
        is_held[at(id)] = 1;
        result.at_once.push_back({.like = id, .bytes = bytes_of(at(id))});
      }
    };
    std::ranges::for_each(program_.values[pivot].operands, add);
    add({static_cast<std::int32_t>(pivot)});
    add_sources(again, is_held, result);
    return result;
  }

 private:
  // Who reads a value behind the pivot: chains, which may compute it again from its root, or also
  // others, which take it from memory.
  enum class Reader : std::uint8_t { kNone, kChain, kOther };

  [[nodiscard]] std::int64_t bytes_of(std::size_t i) const {
    return program_.values[i].type.bytes();
  }

  // The one value of much the same size that chains may compute another one from in registers
  // (lowering/steps/rematerialize.h); kNothing: it only spreads what is much smaller. Itself where
  // they may not.
  [[nodiscard]] std::size_t source_of(std::size_t i) const {
    const Value& value = program_.values[i];
    if (value.op == nullptr || value.op->tile == nullptr || value.op->lanes == LaneFn::kNone) {
      return i;
    }
    std::size_t source = kNothing;
    for (const ValueId operand : value.operands) {
      if (kMuchSmaller * bytes_of(at(operand)) <= bytes_of(i)) {
        continue;
      }
      if (source != kNothing && source != at(operand)) {
        return i;
      }
      source = at(operand);
    }
    return source;
  }

  // Of a value that chains may compute again: where that begins, and the fewest bytes that are in
  // memory for it, be it the value, or something on the way to it that is no larger.
  struct Source {
    std::size_t first = 0;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] Source least_source(std::size_t value, const std::vector<char>& is_held) const {
    constexpr int kFarthest = 64;  // which keeps the work linear; what is farther may take nothing
    Source source{.first = value, .bytes = bytes_of(value)};
    int looked = 0;
    for (std::size_t i = value; i != kNothing && looked < kFarthest; i = source_[i], ++looked) {
      source.first = i;
      if (bytes_of(i) <= bytes_of(value)) {
        const bool is_free = is_held[i] != 0 || is_kept_[i] == 0;
        source.bytes = is_free ? 0 : std::min(source.bytes, bytes_of(i));
      }
      if (source_[i] == i) {
        return source;
      }
    }
    return {.first = source.first, .bytes = 0};
  }

  // What begins at the same value may all be computed from one thing: of these, the one that takes
  // most. (What it is computed from has no dims that it has not.)
  void add_sources(std::span<const std::size_t> again, const std::vector<char>& is_held,
                   AlwaysHeld& result) const {
    std::map<std::size_t, AlwaysHeld::Part> most;  // by where they begin
    for (const std::size_t i : again) {
      const Source source = least_source(i, is_held);
      AlwaysHeld::Part& part = most[source.first];
      if (source.bytes > part.bytes) {
        part = {.like = {static_cast<std::int32_t>(i)}, .bytes = source.bytes};
      }
    }
    for (const auto& [first, part] : most) {
      if (part.bytes > 0) {
        result.at_once.push_back(part);
      }
    }
  }

  // The pivot, and what is there before it in any order.
  [[nodiscard]] std::vector<char> made_before(std::size_t pivot) const {
    std::vector<char> before(program_.values.size(), 0);
    before[pivot] = 1;
    for (std::size_t i = pivot + 1; i-- > 0;) {
      for (const ValueId operand : program_.values[i].operands) {
        before[at(operand)] = before[i] != 0 ? char{1} : before[at(operand)];
      }
    }
    add_carried(pivot, before);
    return before;
  }

  // Of a loop whose trips the pivot cannot leave, since it needs something that they carry: all
  // that they carry.
  void add_carried(std::size_t pivot, std::vector<char>& before) const {
    for (std::int32_t loop = loops_[pivot]; loop >= 0;
         loop = loops_[static_cast<std::size_t>(loop)]) {
      std::vector<std::size_t> carried;
      for (auto i = static_cast<std::size_t>(loop); i < loops_.size(); ++i) {
        if (loops_[i] == loop && is(program_.values[i], Primitive::kNext)) {
          carried.push_back(at(program_.values[i].operands.front()));
        }
      }
      if (std::ranges::any_of(carried, [&before](std::size_t i) { return before[i] != 0; })) {
        std::ranges::for_each(carried, [&before](std::size_t i) { before[i] = 1; });
      }
    }
  }

  // What something reads that waits for the pivot, or leaves the program. (What a trip hands on is
  // no reader: it may be made where it is to be.)
  [[nodiscard]] std::vector<Reader> read_behind(std::size_t pivot) const {
    std::vector<char> is_behind(program_.values.size(), 0);
    std::vector<Reader> reader(program_.values.size(), Reader::kNone);
    is_behind[pivot] = 1;
    for (std::size_t i = pivot + 1; i < is_behind.size(); ++i) {
      const Value& value = program_.values[i];
      for (const ValueId operand : value.operands) {
        is_behind[i] = is_behind[at(operand)] != 0 ? char{1} : is_behind[i];
      }
      if (is_behind[i] == 0 || value.op == nullptr || value.op->alias || is_of_loop(value)) {
        continue;
      }
      const Reader own = runs_alone(value) ? Reader::kOther : Reader::kChain;
      for (const ValueId operand : value.operands) {
        reader[at(operand)] = std::max(reader[at(operand)], own);
      }
    }
    for (const ValueId output : program_.outputs) {
      reader[at(output)] = Reader::kOther;
    }
    return reader;
  }

  const Program& program_;
  Lives lives_;
  std::vector<std::int32_t> loops_;
  std::vector<char> is_kept_;        // whether it stands in memory of its own as long as it is read
  std::vector<std::size_t> source_;  // of what chains may compute again
};

}  // namespace

std::vector<AlwaysHeld> always_held(const Program& program) {
  const Dependences dependences(program);
  std::vector<AlwaysHeld> result;
  for (const std::size_t pivot : dependences.pivots()) {
    result.push_back(dependences.held_with(pivot));
  }
  return result;
}

}  // namespace mtf
