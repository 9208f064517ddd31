// What one operation costs where its tensors are split as they are: the part of its work that a
// rank does, sums where summed loops are split, gathers of what is not where it is needed.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/layout/hardware.h"
#include "lowering/search/roles/equal_axes.h"
#include "lowering/search/roles/role_operations.h"
#include "lowering/spmd.h"

namespace mtf {

enum class Objective : std::uint8_t { kTime, kMemory, kBytes };

// Where each axis is in each tensor of the operations: a dim, kNowhere, kUnknown, or kOnTheWay:
// nowhere where the tensor is at rest, and perhaps somewhere in the form that it was made or read
// in. To a dim to which a `*` gave the axis kByRest is added.
inline constexpr std::int8_t kNowhere = -1;
inline constexpr std::int8_t kUnknown = -2;
inline constexpr std::int8_t kOnTheWay = -3;
inline constexpr std::int8_t kByRest = 64;
class RolePlaces {
 public:
  RolePlaces(std::size_t tensors, std::size_t axes)
      : axes_(axes), places_(tensors * axes, kNowhere) {}

  [[nodiscard]] std::int8_t& at(std::size_t tensor, std::size_t axis) {
    return places_[tensor * axes_ + axis];
  }
  [[nodiscard]] std::int8_t at(std::size_t tensor, std::size_t axis) const {
    return places_[tensor * axes_ + axis];
  }
  // Of a tensor, the part that a rank has; where places are unknown, the least that it may be.
  [[nodiscard]] double part(std::size_t tensor, const Mesh& mesh) const;
  // The most that a rank holds at one of these times.
  [[nodiscard]] double most_held(std::span<const RoleOperations::Moment> moments,
                                 const Mesh& mesh) const;
  // Those of an operation's tensors, one behind the other.
  [[nodiscard]] std::string of(const RoleOperation& operation) const;

 private:
  std::size_t axes_;
  std::vector<std::int8_t> places_;
};

class RoleCost {
 public:
  // What no choice avoids, on the fastest link there is; or what is likely, on the links that the
  // axes have.
  enum class Counts : std::uint8_t { kUnavoidable, kLikely };

  RoleCost(const Mesh& mesh, const RoleOperations& operations, const Hardware& hardware,
           Objective objective, Counts counts);

  struct Figures {
    double value = 0;  // in the unit of the objective
    double bytes = 0;  // that a rank has for it beside the parts of its tensors
    // The value again, with what is on the way between products (passage.h) in the place of what
    // known places cost.
    double with_passage = 0;
    double with_passage_twice = 0;  // of which may be held in memory what fits it
  };
  // Of all operations; the bytes of the one that takes most.
  [[nodiscard]] Figures of(const RolePlaces& places);
  // What its answers have taken, as ways to split loops that were looked at.
  [[nodiscard]] std::int64_t looks() const { return looks_; }
  // Of receiving so many bytes, in so many messages one after the other, at least.
  [[nodiscard]] double moving(double bytes, double hops) const;

 private:
  using Loops = std::vector<std::int32_t>;  // per axis the loop that it splits, or -1

  // An operation on this hardware, on one rank, and how often it is done.
  struct Work {
    const RoleOperation* operation = nullptr;
    double flops = 0;    // of a product
    double seconds = 0;  // of its elements
    double count = 1;
    std::unordered_map<std::string, Figures> known = {};  // by the places of its tensors
  };
  // How a result comes together.
  struct Sum {
    double bytes = 0;  // that a rank has when it is summed
    Axes scattered;    // along which it is split in the end, too
    Axes whole;        // … it is not
    Axes gathered;     // … it was made in parts, and is not split
    Axes exchanged;    // … another dim was split
    Axes idle;         // that split none of its loops
    Axes unsure;       // … scattered, or all-reduced
  };

  void add(const RoleOperation& operation, double count);
  [[nodiscard]] double converting(const RoleOperation& operation) const;
  [[nodiscard]] std::int8_t place(const std::string& places, std::size_t tensor,
                                  std::size_t axis) const {
    const auto at = static_cast<std::int8_t>(places[tensor * mesh_.axes.size() + axis]);
    return at >= kByRest ? static_cast<std::int8_t>(at - kByRest) : at;
  }
  // Whether some tensor of the operation is split over the axis by its name.
  [[nodiscard]] bool is_named(const std::string& places, std::size_t axis) const;
  [[nodiscard]] bool may_split(const RoleOperation& operation, const std::string& places,
                               std::size_t axis, std::size_t loop) const;
  [[nodiscard]] std::vector<std::int32_t> loops_over(const RoleOperation& operation,
                                                     const std::string& places, std::size_t axis,
                                                     const Loops& before) const;
  [[nodiscard]] const Figures& known(Work& work, const std::string& places);
  [[nodiscard]] std::string coarse(const RoleOperation& operation, const std::string& places) const;
  [[nodiscard]] Figures least(const Work& work, const std::string& places);
  [[nodiscard]] double working_bytes(const RoleOperation& operation, const std::string& places,
                                     const Loops& loops) const;
  [[nodiscard]] double cost(const Work& work, const std::string& places, const Loops& loops,
                            double product) const;
  [[nodiscard]] double with_passage(const Work& work, const Loops& loops, double product,
                                    double RoleOperand::*passage) const;
  [[nodiscard]] double charged(const RoleOperand& operand, double RoleOperand::*passage) const;
  [[nodiscard]] double parts_of(const RoleOperand& operand, const Loops& loops) const;
  [[nodiscard]] bool all_divide(const RoleOperation& operation, const Loops& loops) const;
  struct Sides {
    double m = 1;
    double n = 1;
    double k = 1;
  };
  [[nodiscard]] Sides sides_of(const RoleOperation& operation, const Loops& loops) const;
  [[nodiscard]] double product_seconds(const Work& work, const Loops& loops) const;
  // … if that is counted.
  [[nodiscard]] double counted_seconds(const Work& work, const Loops& loops) const {
    return objective_ == Objective::kTime && work.flops > 0 ? product_seconds(work, loops) : 0;
  }
  [[nodiscard]] double touching(const RoleOperation& operation, const Loops& loops) const;
  [[nodiscard]] double best_rate(double side) const;
  [[nodiscard]] Sum sum_of(const RoleOperation& operation, const std::string& places,
                           const Loops& loops) const;
  // An axis that splits a summed loop, where the result has it at `at`.
  void add_reduced(const RoleOperation& operation, std::int8_t at, AxisId axis, Sum& sum) const;
  [[nodiscard]] double summing(const RoleOperation& operation, const Sum& sum) const;
  [[nodiscard]] double rounded_off(const RoleOperation& operation, double bytes, const Axes& axes,
                                   double parts) const;
  [[nodiscard]] double likely_summing(const Sum& sum) const;
  [[nodiscard]] double hops(const Axes& axes) const;
  [[nodiscard]] double gathering(const RoleOperation& operation, std::size_t number,
                                 const std::string& places, const Loops& loops) const;
  [[nodiscard]] double elsewise(const Work& work, const std::string& places) const;
  [[nodiscard]] std::int32_t loop_of(const RoleOperation& operation, const std::string& places,
                                     std::size_t axis) const;
  [[nodiscard]] double likely_moving(StepKind kind, double bytes, const Axes& axes) const;
  [[nodiscard]] double ranks(const Axes& axes) const {
    return static_cast<double>(mesh_.size_of(axes));
  }

  const Mesh& mesh_;
  const RoleOperations& operations_;
  const Hardware& hardware_;
  Objective objective_;
  Counts counts_;
  EqualAxes equal_axes_;  // where sizes alone count
  double flops_rate_ = 0;
  double bandwidth_ = 0;
  double latency_ = 0;
  double fastest_memory_ = 0;  // bytes per second
  double through_memory_ = 0;  // seconds, whatever the layout
  std::vector<Work> works_;
  std::int64_t looks_ = 0;
};

}  // namespace mtf
