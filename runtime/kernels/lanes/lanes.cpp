// What the instructions of a program are: where each value is, and which ones leave the registers.

#include "runtime/kernels/lanes/lanes.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

namespace mtf {
namespace {

constexpr std::size_t kWidest = sizeof(float);  // bytes of an element

LaneKind kind_of(DType dtype) {
  if (dtype == DType::kBool) {
    return LaneKind::kBool;
  }
  return dtype == DType::kBF16 ? LaneKind::kBF16 : LaneKind::kF32;
}

bool is_number(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16;
}

bool is_test(LaneFn fn) {
  return fn >= LaneFn::kIsEqual && fn <= LaneFn::kIsAtLeast;
}

std::size_t arity_of(LaneFn fn) {
  constexpr std::array kPairs = {LaneFn::kAdd,    LaneFn::kSubtract, LaneFn::kMultiply,
                                 LaneFn::kDivide, LaneFn::kSmaller,  LaneFn::kLarger};
  if (fn == LaneFn::kChoose) {
    return 3;
  }
  return is_test(fn) || std::ranges::find(kPairs, fn) != kPairs.end() ? 2 : 1;
}

std::size_t at(LaneKind kind) {
  return static_cast<std::size_t>(kind);
}

}  // namespace

bool has_lanes(LaneFn fn, std::span<const DType> operands, DType to) {
  if (fn == LaneFn::kNone || operands.size() != arity_of(fn)) {
    return false;
  }
  const bool chooses = fn == LaneFn::kChoose;
  const std::span<const DType> numbers = operands.subspan(chooses ? 1 : 0);
  return std::ranges::all_of(numbers, is_number) &&
         (!chooses || operands.front() == DType::kBool) &&
         (is_test(fn) ? to == DType::kBool : is_number(to));
}

// Goes through the stages once. The registers hold the result of the stage before, and nothing
// else is taken from them.
class LaneCompiler {
 public:
  LaneCompiler(LaneProgram& program, std::span<const LaneRead> reads,
               std::span<const LaneStage> stages)
      : program_(program), reads_(reads), stages_(stages), memory_(stages.size()) {}

  void run() {
    for (const LaneRead& read : reads_) {
      program_.widths_.push_back(read.lone ? 0 : static_cast<std::int64_t>(bytes_of(read.dtype)));
    }
    program_.reads_ = reads_.size();
    for (const LaneStage& stage : stages_) {
      if (stage.written) {
        program_.widths_.push_back(static_cast<std::int64_t>(bytes_of(stage.to)));
      }
    }
    const std::size_t note = program_.widths_.size();  // of what is checked
    first_slot_ = note + 1;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      compute(s);
      if (stages_[s].checked) {
        program_.checks_ = true;
        emit(set().check, note);
      }
      keep(s);
    }
    emit(set().end, 0);
  }

 private:
  struct Place {
    LaneKind kind = LaneKind::kF32;
    std::size_t index = 0;
  };

  [[nodiscard]] const LaneSet& set() const { return *program_.set_; }

  void emit(LaneCode code, std::size_t place, std::size_t second = 0) {
    program_.code_.push_back({.code = code,
                              .place = static_cast<std::uint32_t>(place),
                              .second = static_cast<std::uint32_t>(second)});
  }

  [[nodiscard]] Place place_of(std::int64_t operand) const {
    if (operand < 0) {
      return memory_[static_cast<std::size_t>(~operand)];
    }
    const auto r = static_cast<std::size_t>(operand);
    return {.kind = reads_[r].lone ? LaneKind::kLone : kind_of(reads_[r].dtype), .index = r};
  }

  // Whether the registers serve as the operand: they do for one of a stage's operands.
  [[nodiscard]] bool is_held(std::size_t s, std::size_t operand) const {
    const std::vector<std::int64_t>& operands = stages_[s].operands;
    const bool can_be = stages_[s].fn != LaneFn::kChoose || operand == 0;
    return s > 0 && can_be && operands[operand] == ~static_cast<std::int64_t>(s - 1) &&
           std::ranges::find(operands, operands[operand]) ==
               operands.begin() + static_cast<std::ptrdiff_t>(operand);
  }

  void load(std::size_t s, std::size_t operand) {
    if (!is_held(s, operand)) {
      const Place from = place_of(stages_[s].operands[operand]);
      emit(set().load[at(from.kind)], from.index);
    }
  }

  void compute(std::size_t s) {
    const LaneStage& stage = stages_[s];
    const auto fn = static_cast<std::size_t>(stage.fn);
    if (stage.operands.size() == 3) {
      load(s, 0);
      const Place yes = place_of(stage.operands[1]);
      const Place no = place_of(stage.operands[2]);
      emit(set().choose[at(yes.kind)][at(no.kind)], yes.index, no.index);
    } else if (stage.operands.size() == 2 && is_held(s, 1)) {
      const Place first = place_of(stage.operands[0]);
      emit(set().reversed[fn][at(first.kind)], first.index);
    } else if (stage.operands.size() == 2) {
      load(s, 0);
      const Place second = place_of(stage.operands[1]);
      emit(set().binary[fn][at(second.kind)], second.index);
    } else {
      load(s, 0);
      if (stage.fn != LaneFn::kMove) {
        emit(set().unary[fn], 0);
      }
    }
    if (is_rounded(s) && !is_only_stored(s)) {
      emit(set().round, 0);
    }
  }

  [[nodiscard]] DType dtype_of(std::int64_t operand) const {
    return operand < 0 ? stages_[static_cast<std::size_t>(~operand)].to
                       : reads_[static_cast<std::size_t>(operand)].dtype;
  }

  // To bf16: but for a result that is one of the numbers that it is made of, or its opposite, where
  // these are bf16.
  [[nodiscard]] bool is_rounded(std::size_t s) const {
    constexpr std::array kExact = {LaneFn::kMove,    LaneFn::kNegate,  LaneFn::kMagnitude,
                                   LaneFn::kRectify, LaneFn::kSmaller, LaneFn::kLarger,
                                   LaneFn::kChoose};
    const LaneStage& stage = stages_[s];
    const bool can_be_exact = std::ranges::find(kExact, stage.fn) != kExact.end();
    const bool has_wide = std::ranges::any_of(
        stage.operands, [this](std::int64_t operand) { return dtype_of(operand) == DType::kF32; });
    return stage.to == DType::kBF16 && (!can_be_exact || has_wide);
  }

  // Whether the registers hold the result for memory alone.
  [[nodiscard]] bool is_only_stored(std::size_t s) const {
    bool is_read = stages_[s].checked;
    for (std::size_t o = 0; s + 1 < stages_.size() && o < stages_[s + 1].operands.size(); ++o) {
      is_read = is_read || is_held(s + 1, o);
    }
    return stages_[s].written && !is_read;
  }

  // The last stage that reads the result from memory; `s`: none does.
  [[nodiscard]] std::size_t last_reader(std::size_t s) const {
    std::size_t last = s;
    for (std::size_t later = s + 1; later < stages_.size(); ++later) {
      const std::vector<std::int64_t>& operands = stages_[later].operands;
      for (std::size_t o = 0; o < operands.size(); ++o) {
        last = operands[o] == ~static_cast<std::int64_t>(s) && !is_held(later, o) ? later : last;
      }
    }
    return last;
  }

  // Puts the result where later stages find it.
  void keep(std::size_t s) {
    const std::size_t last = last_reader(s);
    if (stages_[s].written) {
      memory_[s] = {.kind = kind_of(stages_[s].to), .index = program_.reads_ + written_++};
      const bool rounds = is_rounded(s) && is_only_stored(s);
      emit(rounds ? set().store_rounded : set().store[at(memory_[s].kind)], memory_[s].index);
    } else if (last > s) {
      const std::size_t slot = slot_until(s, last);
      memory_[s] = {.kind = LaneKind::kSlot, .index = first_slot_ + slot};
      emit(set().store[at(LaneKind::kSlot)], memory_[s].index);
    }
  }

  // One that no stage reads from here on.
  std::size_t slot_until(std::size_t s, std::size_t last) {
    const auto unused =
        std::ranges::find_if(busy_until_, [s](std::size_t until) { return until <= s; });
    const std::size_t slot = static_cast<std::size_t>(unused - busy_until_.begin());
    if (unused == busy_until_.end()) {
      busy_until_.push_back(last);
      program_.slots_ = busy_until_.size();
    } else {
      *unused = last;
    }
    return slot;
  }

  LaneProgram& program_;
  std::span<const LaneRead> reads_;
  std::span<const LaneStage> stages_;
  std::vector<Place> memory_;            // of the results that later stages read
  std::vector<std::size_t> busy_until_;  // per slot
  std::size_t first_slot_ = 0;
  std::size_t written_ = 0;
};

LaneProgram::LaneProgram(std::span<const LaneRead> reads, std::span<const LaneStage> stages,
                         Isa isa)
    : set_(isa == Isa::kAvx512Bf16 ? &lane_set_avx512bf16()
           : isa == Isa::kAvx512   ? &lane_set_avx512()
                                   : &lane_set_avx2()) {
  LaneCompiler(*this, reads, stages).run();
}

std::int64_t LaneProgram::scratch_bytes() const {
  return static_cast<std::int64_t>((1 + slots_ + widths_.size()) * set_->group * kWidest);
}

bool LaneProgram::run(std::vector<std::byte*>& places, std::size_t n, std::byte* scratch) const {
  assert(places.size() == widths_.size());
  const std::size_t bytes = set_->group * kWidest;
  std::byte* const note = std::exchange(scratch, scratch + bytes);
  *note = std::byte{0};
  places.push_back(note);
  for (std::size_t s = 0; s < slots_; ++s) {
    places.push_back(scratch + s * bytes);
  }
  const std::size_t whole = n / set_->group * set_->group;
  set_->run(code_.data(), places.data(), 0, whole);
  if (whole < n) {
    run_rest(places, whole, n, scratch + slots_ * bytes);
  }
  return *note == std::byte{0};
}

// The last elements, which fill no group, in one of their own; over and over, where all of it is
// checked.
void LaneProgram::run_rest(std::vector<std::byte*>& places, std::size_t begin, std::size_t end,
                           std::byte* groups) const {
  const std::size_t bytes = set_->group * kWidest;
  const auto part = [&](std::size_t p) {
    const auto width = static_cast<std::size_t>(widths_[p]);
    return std::pair(begin * width, (end - begin) * width);
  };
  for (std::size_t p = 0; p < reads_; ++p) {
    const auto [from, count] = part(p);
    if (count > 0) {
      std::byte* const group = groups + p * bytes;
      const std::size_t size = set_->group * static_cast<std::size_t>(widths_[p]);
      std::memcpy(group, places[p] + from, count);
      for (std::size_t at = count; checks_ && at < size; at *= 2) {
        std::memcpy(group + at, group, std::min(at, size - at));
      }
      places[p] = group;
    }
  }
  std::vector<std::byte*> results;
  for (std::size_t p = reads_; p < widths_.size(); ++p) {
    results.push_back(std::exchange(places[p], groups + p * bytes));
  }
  set_->run(code_.data(), places.data(), 0, set_->group);
  for (std::size_t p = reads_; p < widths_.size(); ++p) {
    const auto [to, count] = part(p);
    std::memcpy(results[p - reads_] + to, groups + p * bytes, count);
  }
}

}  // namespace mtf
