// Symmetric positive definite matrices from any tensor, for operations on matrices.

#pragma once

#include <vector>

#include "ir/builder.h"

namespace mtf::tests {

struct SquareDims {
  Dim rows;  // of the tensor
  Dim cols;  // new, of the same size
};

// x x^T + 1
[[nodiscard]] inline ValueId square_of(Builder& builder, ValueId x, const SquareDims& dims) {
  const auto along = [](const char* name, const Dim& dim) {
    OpArgs args;
    args.set(name, std::vector<Dim>{dim});
    return args;
  };
  OpArgs turn = along("dim", dims.rows);
  turn.set("to", std::vector<Dim>{dims.cols});
  const ValueId outer = builder.emit("mul", {x, builder.emit("rename", {x}, turn)});
  OpArgs hot = along("dim", dims.cols);
  hot.set("dtype", builder.type_of(x).dtype);
  const ValueId places = builder.emit("range", {}, along("dim", dims.rows));
  return builder.emit("add", {outer, builder.emit("one_hot", {places}, hot)});
}

}  // namespace mtf::tests
