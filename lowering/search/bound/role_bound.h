// What every layout costs at least that begins as a candidate does: from the roles of dims alone,
// with no plan.
//
// Each product is done by as many ranks as have parts of its tensors, however its loops are split;
// where a summed loop is split, the sum is brought to where the rules have the result; a variable
// that is kept in parts is gathered where they are read whole. Whatever is not decided yet is taken
// to cost nothing. A branch-and-bound search leaves out what this shows to be worse.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ir/layout/hardware.h"
#include "lowering/search/bound/role_operations.h"
#include "lowering/search/space/space.h"

namespace mtf {

enum class Objective : std::uint8_t { kTime, kMemory, kBytes };

// How much a candidate may say: the rules of dims; those of variables as well; `*`, too.
enum class Reaches : std::uint8_t { kRules, kVariables, kRest };

// The first decisions of a candidate are made: rules by dim, then the variables by axis, then `*`
// by dim.
struct Partial {
  LayoutCandidate candidate;
  std::size_t decided = 0;
  Reaches reaches = Reaches::kRest;
};

class RoleBound {
 public:
  // `operations` outlives it.
  RoleBound(const SearchSpace& space, std::size_t mesh, const RoleOperations& operations,
            const Hardware& hardware, Objective objective);

  // In the unit of the objective.
  [[nodiscard]] double least(const Partial& partial);
  // Bytes that a rank has at least.
  [[nodiscard]] double least_memory(const Partial& partial) const;

 private:
  static constexpr std::int32_t kNowhere = -1;
  static constexpr std::int32_t kUnknown = -2;

  // An operation on this mesh's hardware, on one rank, and how often it is done.
  struct Work {
    const RoleOperation* operation = nullptr;
    double flops = 0;    // of a product
    double seconds = 0;  // of its elements
    double count = 1;
  };
  // Where an axis is in one tensor of an operation: a dim, kNowhere or kUnknown.
  using Places = std::vector<std::vector<std::int32_t>>;  // per axis and tensor

  void add(const RoleOperation& operation, double count);
  [[nodiscard]] static std::int32_t ruled_place(const LayoutCandidate& candidate,
                                                const RoleTensor& tensor, AxisId axis);
  [[nodiscard]] Places places_of(const Partial& partial, const RoleOperation& operation) const;
  [[nodiscard]] std::int32_t place(const Partial& partial, const RoleTensor& tensor,
                                   AxisId axis) const;
  [[nodiscard]] double least(const Work& work, const Places& places) const;
  [[nodiscard]] double cost(const Work& work, const Places& places,
                            const std::vector<std::int32_t>& loops) const;
  [[nodiscard]] double summing(const RoleOperation& operation, const Places& places,
                               const std::vector<std::int32_t>& loops) const;
  [[nodiscard]] double gathering(const RoleTensor& tensor, std::size_t number, const Places& places,
                                 const std::vector<std::int32_t>& loops) const;
  [[nodiscard]] double moving(double bytes, double messages) const;

  const SearchSpace& space_;
  const Mesh& mesh_;
  Hardware hardware_;
  Objective objective_;
  std::span<const RoleTensor> inputs_;
  double flops_rate_ = 0;
  double bandwidth_ = 0;
  double latency_ = 0;
  std::vector<Work> works_;
  std::vector<std::map<Places, double>> remembered_;  // per operation
};

}  // namespace mtf
