// The steps of a profile, added up by what they do.

#include <algorithm>
#include <utility>

#include "frontend/report/plan/step_line.h"
#include "frontend/report/run/profile.h"
#include "lowering/price/price.h"

namespace mtf {
namespace {

class Groups {
 public:
  void add_step(const std::string& name, const SpmdProgram& program, const Step& step,
                const StepProfile& measured) {
    auto group = std::ranges::find(groups_, name, &StepGroup::name);
    if (group == groups_.end()) {
      groups_.push_back({.name = name});
      group = std::prev(groups_.end());
    }
    group->calls += measured.calls;
    group->flops += step.flops * static_cast<double>(measured.calls);
    group->bytes += static_cast<double>(measured.calls) *
                    (static_cast<double>(step.bytes) + bytes_touched(program, step));
    group->seconds.add(measured.seconds);
    if (measured.waited) {
      group->waited = group->waited.value_or(PerRank{});
      group->waited->add(*measured.waited);
    }
    if (measured.hidden) {
      group->hidden = group->hidden.value_or(PerRank{});
      group->hidden->add(*measured.hidden);
    }
    if (measured.predicted) {
      group->predicted =
          group->predicted.value_or(0) + *measured.predicted * static_cast<double>(measured.calls);
    }
  }

  std::vector<StepGroup> longest_first() && {
    std::ranges::stable_sort(groups_, std::greater<>(),
                             [](const StepGroup& group) { return group.seconds.mean(); });
    return std::move(groups_);
  }

 private:
  std::vector<StepGroup> groups_;
};

template <typename Name>
std::vector<StepGroup> grouped(const Profile& profile, bool communicating, Name&& name_of) {
  Groups groups;
  for (const UnitProfile& unit : profile.units) {
    const SpmdProgram& program = unit.unit->program;
    for (std::size_t s = 0; s < unit.steps.size(); ++s) {
      const Step& step = program.steps[s];
      if (is_collective(step.kind) == communicating && unit.steps[s].calls > 0) {
        groups.add_step(name_of(program, step), program, step, unit.steps[s]);
      }
    }
  }
  return std::move(groups).longest_first();
}

}  // namespace

std::vector<StepGroup> kernels_by_family(const Profile& profile) {
  return grouped(profile, /*communicating=*/false,
                 [](const SpmdProgram&, const Step& step) { return family_of(step); });
}

std::vector<StepGroup> collectives_by_kind(const Profile& profile) {
  return grouped(profile, /*communicating=*/true, [](const SpmdProgram& program, const Step& step) {
    Axes axes = step.axes;
    std::ranges::sort(axes);
    return std::string(to_string(step.kind)) + " over " + to_string(program.mesh, axes);
  });
}

}  // namespace mtf
