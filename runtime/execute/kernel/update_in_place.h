// Products that are added to a tensor where they are made: x - rate * gradient.
//
// Where a chain does nothing but add a product to a tensor, and nobody else reads the product, its
// tiles are added one by one while they are in the nearest cache, and the product never reaches
// memory; nothing that other steps between the two read or make may lie where the sum does. (The
// beta and alpha of BLAS's GEMM; each operation is rounded as in the chain, so the bits are the
// same.) The product keeps its place in the plan's memory, which stays untouched.

#pragma once

#include <cstddef>
#include <vector>

#include "lowering/spmd.h"

namespace mtf {

struct PrepareContext;  // runtime/execute/executor_program.h
struct PreparedProgram;

struct UpdateInPlace {
  SpmdId onto;
  SpmdId scale;  // of one element; invalid: 1
  SpmdId result;
  bool subtracts = false;
  std::vector<SpmdId> meanwhile = {};  // what is read or made from the product up to the chain
  std::vector<char> done = {};         // per local rank, in the run in progress

  [[nodiscard]] bool is_done(std::size_t rank) const { return done[rank] != 0; }
};

// Marks the product and the chain of each; of none where everything that is computed is looked at.
void find_updates_in_place(PreparedProgram& prepared, const PrepareContext& context);

}  // namespace mtf
