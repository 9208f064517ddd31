#include "lowering/steps/stream.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/kernel.h"
#include "lowering/loops/loops.h"

namespace mtf {
namespace {

constexpr std::size_t kNever = static_cast<std::size_t>(-1);

// A gathered operand of a call.
struct Gathered {
  std::size_t operand = 0;
  std::size_t step = 0;  // that gathers it
};

// A way to do a call in parts.
struct Choice {
  std::size_t loop = 0;
  std::int64_t parts = 1;
  std::vector<Gathered> passing;
  std::int64_t partials = 0;
  std::int64_t saved = 0;  // bytes
  bool along = false;      // the loop is the one that is gathered
  bool kept = false;       // and not summed

  [[nodiscard]] auto rank() const { return std::tuple(saved, along, kept); }
};

class Streamer {
 public:
  Streamer(SpmdProgram& program, std::int64_t pieces, bool exact)
      : program_(program),
        most_(pieces),
        exact_(exact),
        reads_(program.values.size(), 0),
        gather_(program.values.size(), kNever),
        reader_(program.values.size(), nullptr),
        segments_(segments_of(program)) {}

  void run() {
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      note(s);
    }
    for (const SpmdId output : program_.outputs) {
      ++reads(output);
    }
    for (const SpmdUpdate& update : program_.updates) {
      ++reads(update.value);
    }
    std::vector<std::vector<std::size_t>> before(program_.steps.size());  // gathers, per step
    for (std::size_t s = 0; s < program_.steps.size(); ++s) {
      Step& step = program_.steps[s];
      if (step.calls.size() == 1 && step.calls.front().op().strided &&
          !step.calls.front().by_loops &&
          program_.at(step.calls.front().result).layout->where.empty()) {
        before[s] = cut(step.calls.front(), s);
        if (step.calls.front().stream->parts > 1) {
          step.reasons.push_back({.kind = ReasonKind::kStreamed,
                                  .span = program_.source.at(step.calls.front().origin).span,
                                  .call = step.calls.front().origin,
                                  .limit = limit_of(step.calls.front())});
        }
      }
    }
    reorder(before);
  }

 private:
  int& reads(SpmdId id) { return reads_[at(id)]; }

  void note(std::size_t s) {
    const Step& step = program_.steps[s];
    if (step.kind != StepKind::kKernel) {
      for_read(step, [this](SpmdId id) { ++reads(id); });
      if (step.kind == StepKind::kAllGather && program_.at(step.from).layout->where.empty()) {
        gather_[at(step.to)] = s;
      }
      return;
    }
    for (const LocalCall& call : step.calls) {
      for (const SpmdId operand : call.operands) {
        ++reads(operand);
        reader_[at(operand)] = &call;
      }
    }
  }

  // Chooses the parts of a call; the steps that gather its passing operands.
  std::vector<std::size_t> cut(LocalCall& call, std::size_t at_step) {
    std::optional<Choice> best;
    const std::vector<Gathered> gathered = gathered_for(call, at_step);
    for (std::size_t loop = 0; loop < call.split->space->loops.size() && !gathered.empty();
         ++loop) {
      std::optional<Choice> choice = along(call, loop, gathered);
      if (choice && (!best || best->rank() < choice->rank())) {
        best = std::move(choice);
      }
    }
    return best ? apply(call, *best) : std::vector<std::size_t>{};
  }

  // The operands that are gathered for the call alone, and as often.
  std::vector<Gathered> gathered_for(const LocalCall& call, std::size_t at_step) {
    std::vector<Gathered> gathered;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const std::size_t step = gather_[at(call.operands[i])];
      if (step != kNever && reads(call.operands[i]) == 1 && segments_[step] == segments_[at_step]) {
        gathered.push_back({.operand = i, .step = step});
      }
    }
    return gathered;
  }

  // The best way along a loop. More parts of a sum may take more memory: that of the sums of parts
  // that wait for others.
  [[nodiscard]] std::optional<Choice> along(const LocalCall& call, std::size_t loop,
                                            std::span<const Gathered> gathered) const {
    const bool summed = call.split->space->loops[loop].role == DimRole::kReduced;
    std::optional<Choice> best;
    for (std::int64_t parts = parts_of(call, loop); parts > 1; parts = summed ? parts / 2 : 1) {
      std::optional<Choice> choice = in_parts(call, loop, parts, gathered);
      if (choice && choice->saved >= 0 && (!best || best->rank() < choice->rank())) {
        best = std::move(choice);
      }
    }
    return best;
  }

  // The axes of a dim that a step gathers.
  [[nodiscard]] Axes gathered_axes(std::size_t step, std::size_t dim) const {
    const Step& gather = program_.steps[step];
    Axes axes = program_.at(gather.from).layout->dims[dim];
    erase_if(axes,
             [&](AxisId axis) { return has(program_.at(gather.to).layout->dims[dim], axis); });
    return axes;
  }

  [[nodiscard]] std::optional<Choice> in_parts(const LocalCall& call, std::size_t loop,
                                               std::int64_t parts,
                                               std::span<const Gathered> gathered) const {
    Choice choice{.loop = loop,
                  .parts = parts,
                  .passing = {},
                  .kept = call.split->space->loops[loop].role == DimRole::kKept};
    for (const Gathered& one : gathered) {
      const std::optional<std::size_t> dim = dim_of(call.split->space->operands[one.operand], loop);
      if (!dim) {
        continue;
      }
      SpmdValue window = program_.at(call.operands[one.operand]);
      const std::int64_t whole = window.held_bytes();
      window.pieces = choice.parts;
      window.cut = *dim;
      choice.saved += whole - std::min(whole, window.held_bytes()) - kept_for(one.step);
      choice.along = choice.along || !gathered_axes(one.step, *dim).empty();
      choice.passing.push_back(one);
    }
    if (choice.passing.empty()) {
      return std::nullopt;
    }
    if (!choice.kept && keeps_bits(call)) {
      choice.partials = std::countr_zero(static_cast<std::uint64_t>(choice.parts)) - 1;
      choice.saved -= choice.partials * program_.at(call.result).held_bytes();
    }
    return choice;
  }

  // What a gather reads stays as long as its pieces pass: memory, if nothing else keeps it.
  [[nodiscard]] std::int64_t kept_for(std::size_t gather) const {
    const SpmdId from = program_.steps[gather].from;
    const bool is_input = std::ranges::find(program_.inputs, from) != program_.inputs.end();
    return is_input || reads_[at(from)] > 1 ? 0 : program_.at(from).held_bytes();
  }

  // Into how many parts a rank may cut its share of the loop: of a sum, whose bits are to stay,
  // into subtrees of its canonical tree.
  [[nodiscard]] std::int64_t parts_of(const LocalCall& call, std::size_t loop) const {
    const LoopDim& dim = call.split->space->loops[loop];
    const std::int64_t extent = program_.mesh.longest_part(dim.size, call.split->loops[loop]);
    const std::int64_t most = std::min(most_, extent);
    if (dim.role == DimRole::kKept) {
      return most;
    }
    if (dim.role != DimRole::kReduced || call.split->space->combine != Combine::kSum) {
      return 1;
    }
    if (!keeps_bits(call)) {
      return most;
    }
    for (std::size_t i = 0; i < loop; ++i) {
      if (own_blocks(call, i) > 1) {
        return 1;
      }
    }
    const auto cuts = static_cast<std::uint64_t>(std::min(most, own_blocks(call, loop)));
    return static_cast<std::int64_t>(std::bit_floor(cuts));
  }

  // Whether the sums of the call have one rank's bits: not where the canonical blocks of a loop
  // that is split unevenly do not come out even.
  [[nodiscard]] bool keeps_bits(const LocalCall& call) const {
    const std::vector<std::int64_t> blocks = canonical_blocks(call.split->space);
    for (std::size_t l = 0; l < blocks.size() && program_.mesh.uneven; ++l) {
      if (call.split->space->loops[l].role == DimRole::kReduced &&
          blocks[l] % program_.mesh.size_of(call.split->loops[l]) != 0) {
        return false;
      }
    }
    return exact_;
  }

  // Canonical blocks of a summed loop that lie on one rank, a power of two.
  [[nodiscard]] std::int64_t own_blocks(const LocalCall& call, std::size_t loop) const {
    return blocks_of_share(call.split->space, loop, program_.mesh.size_of(call.split->loops[loop]));
  }

  std::vector<std::size_t> apply(LocalCall& call, const Choice& choice) {
    Stream stream{.parts = choice.parts, .loop = choice.loop, .starts = {}, .partials = {}};
    std::vector<std::size_t> gathers;
    for (const Gathered& one : choice.passing) {
      const std::size_t dim = dim_of(call.split->space->operands[one.operand], choice.loop).value();
      SpmdValue& value = program_.at(call.operands[one.operand]);
      value.pieces = choice.parts;
      value.cut = dim;
      if (Axes axes = gathered_axes(one.step, dim); !axes.empty()) {
        stream.starts.push_back(std::move(axes));
      }
      gathers.push_back(one.step);
    }
    for (std::int64_t i = 0; i < choice.partials; ++i) {
      SpmdValue partial = program_.at(call.result);
      partial.name.clear();
      stream.partials.push_back({static_cast<std::int32_t>(program_.values.size())});
      program_.values.push_back(std::move(partial));
    }
    call.stream = std::move(stream);
    std::ranges::sort(gathers);
    return gathers;
  }

  // Passing operands are gathered right before they are read; the others say why they are not.
  void reorder(const std::vector<std::vector<std::size_t>>& before) {
    std::vector<Step> steps;
    steps.reserve(program_.steps.size());
    for (std::size_t s = 0; s < before.size(); ++s) {
      Step& step = program_.steps[s];
      if (step.kind == StepKind::kAllGather) {
        if (program_.at(step.to).pieces > 1) {
          continue;  // moved to its reader
        }
        step.reasons.push_back(why_whole(step.to));
      }
      for (const std::size_t gather : before[s]) {
        steps.push_back(std::move(program_.steps[gather]));
      }
      steps.push_back(std::move(step));
    }
    program_.steps = std::move(steps);
  }

  // Why a call has no more parts.
  [[nodiscard]] StreamLimit limit_of(const LocalCall& call) const {
    const Stream& stream = call.stream;
    if (stream.parts == most_) {
      return StreamLimit::kNone;
    }
    if (call.split->space->loops[stream.loop].role == DimRole::kKept) {
      return StreamLimit::kSlice;
    }
    return stream.parts < parts_of(call, stream.loop) ? StreamLimit::kMemory : StreamLimit::kBits;
  }

  [[nodiscard]] Reason why_whole(SpmdId id) const {
    const LocalCall* reader = reader_[at(id)];
    Reason reason{.kind = ReasonKind::kUnstreamed};
    if (reads_[at(id)] > 1) {
      reason.limit = StreamLimit::kReadTwice;
      return reason;
    }
    if (reader == nullptr) {
      reason.limit = StreamLimit::kMoved;
      return reason;
    }
    reason.call = reader->origin;
    if (!reader->op().strided) {
      reason.limit = StreamLimit::kReadWhole;
    } else if (reader->by_loops) {
      reason.limit = StreamLimit::kByBlocks;
    } else if (reader->stream->parts == 1) {
      reason.limit = StreamLimit::kNoGain;
    } else {
      reason.limit = StreamLimit::kReadByParts;
      reason.dim = reader->split->space->loops[reader->stream->loop].name;
    }
    return reason;
  }

  SpmdProgram& program_;
  std::int64_t most_;
  bool exact_;
  std::vector<int> reads_;                // per value, how often it is read
  std::vector<std::size_t> gather_;       // per value, the step that gathers it, if one does
  std::vector<const LocalCall*> reader_;  // per value, the last call that reads it
  std::vector<std::size_t> segments_;     // per step, of the loops
};

}  // namespace

void stream(SpmdProgram& program, std::int64_t pieces, bool exact) {
  if (pieces > 1) {
    Streamer(program, pieces, exact).run();
  }
}

}  // namespace mtf
