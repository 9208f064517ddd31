// What a loop split costs at least, when the loops of only some axes are decided: the search for
// the cheapest one (choose_split.cpp) leaves out what cannot be it.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/partition/split/split_claims.h"

namespace mtf {

// Of one tensor.
class TensorBound {
 public:
  // `forms`: the layouts that an operand is in; of a result, the one that it is wanted in.
  // `is_windowed`: the operand is read through windows; nothing is known of it then.
  TensorBound(const TensorType& type, const DimMap& map, std::span<const ValueLayout* const> forms,
              const IterationSpace& space, const Mesh& mesh, bool is_windowed = false);

  // `loops`: of the first axes of `axes`.
  [[nodiscard]] double operand(std::span<const AxisId> axes, std::span<const LoopOf> loops) const;
  [[nodiscard]] double result(std::span<const AxisId> axes, std::span<const LoopOf> loops) const;

 private:
  struct Form {
    std::vector<LoopOf> loops;  // per axis of the mesh, what it splits in the tensor
    std::vector<char> has;      // whether it splits the tensor at all
    double after = 0;           // elements of a slice
  };

  const IterationSpace& space_;
  const Mesh& mesh_;
  std::vector<char> reads_;  // per loop, whether a dim of the tensor runs over it
  std::vector<Form> forms_;
  double elements_ = 0;
  double width_ = 0;      // bytes of an element
  bool is_exact_ = true;  // slices are even, and all ranks hold theirs
};

}  // namespace mtf
