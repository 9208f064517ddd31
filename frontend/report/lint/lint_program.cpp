// Thresholds are where a person would act: small tensors and small programs are left alone.

#include <algorithm>
#include <map>
#include <optional>

#include "frontend/report/lint/lint.h"
#include "frontend/report/lint/promise.h"
#include "frontend/report/plan/step_text.h"
#include "frontend/report/quantity.h"
#include "frontend/report/why/reason.h"
#include "lowering/memory/peak.h"

namespace mtf {
namespace {

constexpr std::int64_t kLarge = std::int64_t{16} << 20U;     // bytes on a rank
constexpr std::int64_t kManySums = std::int64_t{64} << 10U;  // bytes more than one sum
constexpr std::int64_t kPartOfPeak = 8;                      // and so much of what it holds at most

class ProgramLint {
 public:
  ProgramLint(const SpmdProgram& program, DiagSink& found)
      : program_(program), names_(program), found_(found) {}

  void run() {
    replicated_tensors();
    gathered_twice();
    sliced_reductions();
    carried_sums();
    other_bits();
  }

 private:
  [[nodiscard]] std::string name(const Axes& axes) const { return to_string(program_.mesh, axes); }
  [[nodiscard]] std::string where() const {
    return " in " + in_backticks(program_.source.name) + " under " + in_backticks(program_.layout);
  }

  // ---- replicated ---------------------------------------------------------------------------

  // A dim of the value that the axis would divide further.
  [[nodiscard]] std::optional<std::size_t> free_dim(const SpmdValue& value, AxisId axis) const {
    for (std::size_t d = 0; d < value.type.shape.rank(); ++d) {
      Axes axes = value.layout->dims[d];
      axes.push_back(axis);
      const std::int64_t parts = program_.mesh.size_of(axes);
      if (value.type.shape[d].size % parts == 0) {
        return d;
      }
    }
    return std::nullopt;
  }

  void replicated_tensors() {
    for (const Held& held : peak_of(program_).held) {
      const bool large =
          held.bytes >= kLarge && held.bytes * kPartOfPeak >= program_.totals.peak_bytes;
      const bool is_variable = held.what == HeldAs::kParam || held.what == HeldAs::kState;
      if (!is_variable || !large) {
        continue;
      }
      const SpmdValue& value = program_.at(held.value);
      for (std::size_t a = 0; a < program_.mesh.axes.size(); ++a) {
        const auto axis = static_cast<AxisId>(a);
        const std::int64_t size = program_.mesh.axes[a].size;
        const std::optional<std::size_t> dim =
            size == 1 || value.layout->uses(axis) ? std::nullopt : free_dim(value, axis);
        if (dim) {
          const std::string& split = value.type.shape[*dim].name;
          found_.warning(DiagKind::kReplicated, held.span,
                         in_backticks(names_.of(held.value)) + " " + to_string(value.type) +
                             " takes " + bytes_text(held.bytes) + " of the " +
                             bytes_text(program_.totals.peak_bytes) + " that each rank holds" +
                             where() + ", and is the same along " +
                             in_backticks(program_.mesh.axes[a].name),
                         {{.span = {},
                           .text = in_backticks(split + " -> *") + " or " +
                                   in_backticks(split + " -> " + program_.mesh.axes[a].name) +
                                   " would leave " + bytes_text(held.bytes / size)}});
          break;
        }
      }
    }
  }

  // ---- gathered twice -----------------------------------------------------------------------

  // The axes that a gather joins, by dim.
  [[nodiscard]] std::map<std::size_t, Axes> joined(const Step& step) const {
    std::map<std::size_t, Axes> result;
    const ValueLayout& from = program_.at(step.from).layout;
    const ValueLayout& to = program_.at(step.to).layout;
    for (std::size_t d = 0; d < from.dims.size(); ++d) {
      for (const AxisId axis : from.dims[d]) {
        if (!has(to.dims[d], axis)) {
          result[d].push_back(axis);
        }
      }
    }
    return result;
  }

  [[nodiscard]] bool joins_the_same(const Step& a, const Step& b) const {
    const std::map<std::size_t, Axes> first = joined(a);
    for (const auto& [dim, axes] : joined(b)) {
      const auto found = first.find(dim);
      if (found != first.end() &&
          std::ranges::any_of(axes, [&](AxisId axis) { return has(found->second, axis); })) {
        return true;
      }
    }
    return false;
  }

  // Forward and backward: that is what `gather = again` asks for.
  [[nodiscard]] bool is_asked_for(const Step& a, const Step& b) const {
    const auto backward = [&](const Step& step) {
      return step.need.user.valid() && program_.source.at(step.need.user).backward;
    };
    return program_.at(a.to).layout == program_.at(b.to).layout && backward(a) != backward(b);
  }

  void gathered_twice() {
    std::map<std::int32_t, std::vector<const Step*>> gathers;  // by source value
    for (const Step& step : program_.steps) {
      if (step.kind == StepKind::kAllGather) {
        gathers[program_.at(step.from).origin.index].push_back(&step);
      }
    }
    for (const auto& [value, steps] : gathers) {
      for (std::size_t i = 1; i < steps.size(); ++i) {
        const Step& again = *steps[i];
        const auto before = std::span(steps).first(i);
        const auto same = std::ranges::find_if(before, [&](const Step* first) {
          return again.from != first->to && joins_the_same(*first, again) &&
                 !is_asked_for(*first, again);
        });
        if (same != before.end()) {
          gathered_again(ValueId{value}, **same, again);
          break;
        }
      }
    }
  }

  void gathered_again(ValueId id, const Step& first, const Step& again) {
    found_.warning(DiagKind::kGatheredTwice, again.reasons.front().span,
                   describe(program_.source, id) + " " + to_string(program_.source.at(id).type) +
                       " is gathered over " + name(again.axes) + " once more" + where() + ", " +
                       bytes_text(again.bytes) + " received after " + bytes_text(first.bytes) +
                       "; what needs most of it, put first, would serve both",
                   {{.span = first.reasons.front().span,
                     .text = "first gathered here, over " + name(first.axes)}});
  }

  // ---- all-reduces that are sliced ----------------------------------------------------------

  struct Readers {
    std::vector<const Step*> slices;
    bool others = false;
  };

  [[nodiscard]] std::vector<Readers> readers() const {
    std::vector<Readers> result(program_.values.size());
    const auto of = [&result](SpmdId id) -> Readers& {
      return result[static_cast<std::size_t>(id.index)];
    };
    for (const Step& step : program_.steps) {
      if (step.kind == StepKind::kSlice) {
        of(step.from).slices.push_back(&step);
      } else if (step.kind != StepKind::kKernel) {
        of(step.from).others = true;
      }
      for (const LocalCall& call : step.calls) {
        for (const SpmdId operand : call.operands) {
          of(operand).others = true;
        }
      }
    }
    for (const SpmdId output : program_.outputs) {
      of(output).others = true;
    }
    for (const SpmdUpdate& update : program_.updates) {
      of(update.value).others = true;
    }
    return result;
  }

  void sliced_reductions() {
    const std::vector<Readers> by_value = readers();
    for (const Step& step : program_.steps) {
      if (step.kind != StepKind::kAllReduce ||
          program_.source.at(program_.at(step.to).origin).backward) {
        continue;  // a gradient lands where its variable is: nobody could write an `@` there
      }
      const Readers& read = by_value[static_cast<std::size_t>(step.to.index)];
      const auto splits = [&](const Step* slice) {
        return std::ranges::any_of(
            step.axes, [&](AxisId axis) { return program_.at(slice->to).layout->uses(axis); });
      };
      if (read.others || read.slices.empty() || !std::ranges::all_of(read.slices, splits)) {
        continue;
      }
      const SpmdValue& slice = program_.at(read.slices.front()->to);
      found_.warning(DiagKind::kSlicedReduction, step.reasons.front().span,
                     "of " + describe(program_.source, slice.origin) + " " + to_string(slice.type) +
                         ", summed over " + name(step.axes) + where() +
                         ", each rank reads only a slice, as " +
                         in_backticks(to_string(slice.type.shape, slice.layout, program_.mesh)),
                     {{.span = {},
                       .text = "with `@` and these axes it would be a reduce_scatter, at half of " +
                               bytes_text(step.bytes)}});
    }
  }

  // ---- sums of blocks ----------------------------------------------------------------------

  void carried_sums() {
    for (const Step& step : program_.steps) {
      const std::optional<CarriedSum> carried =
          is_collective(step.kind) ? carried_by(program_, step) : std::nullopt;
      if (!carried || step.bytes - carried->bytes < kManySums) {
        continue;
      }
      const Value& value = program_.source.at(program_.at(step.from).origin);
      found_.warning(DiagKind::kRepeatedReshard, step.reasons.front().span,
                     describe(program_.source, program_.at(step.from).origin) + " " +
                         to_string(value.type) + where() + " moves " +
                         std::to_string(carried->blocks) + " sums over " + name(step.axes) + ", " +
                         bytes_text(step.bytes) + "; " + way_out(program_, step, *carried) +
                         ", moves one, " + bytes_text(carried->bytes),
                     {{.span = {},
                       .text = to_text(program_, step, step.reasons.front()) + ", and " +
                               carried_text(*carried)}});
    }
  }

  // Axes that are no powers of two and uneven blocks have no other order to offer.
  void other_bits() {
    for (const Ending& ending : endings_of(program_)) {
      if (!ending.split.empty()) {
        found_.warning(DiagKind::kOtherBits, ending.span,
                       ending.text + where() + ", so its last bits are not those of one rank; " +
                           "tensors that name " + in_backticks(ending.split) + " before " +
                           in_backticks(ending.outer) + " keep them");
      }
    }
  }

  const SpmdProgram& program_;
  ValueNames names_;
  DiagSink& found_;
};

}  // namespace

void lint_program(const SpmdProgram& program, DiagSink& found) {
  ProgramLint(program, found).run();
}

}  // namespace mtf
