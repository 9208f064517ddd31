// Tensors of many ranks written as one .safetensors file, or as several with an index.
//
// The file is the same to the bit however the tensors lie on ranks. Whatever ends the writing
// leaves what was there.

#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "runtime/execute/tensor.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct NamedTensor {
  std::string name;
  const RankTensor* tensor = nullptr;
};

struct CheckpointPlan {
  std::string path;
  std::int64_t part_bytes = 5'000'000'000;         // of tensors in one file
  std::int64_t keep = 0;                           // of its siblings, this one included; 0: all
  std::uint64_t seed = 0;                          // of the random stream
  std::uint64_t draws = 0;                         // its place
  std::map<std::string, std::int64_t> steps = {};  // taken by each entry that trains
  std::string note = {};                           // of the program's own; "": none
};

// Collective. "" or why it failed, the same on all processes.
[[nodiscard]] std::string write_checkpoint(Communicator& communicator, const Mesh& mesh,
                                           std::span<const NamedTensor> tensors,
                                           const CheckpointPlan& plan);

}  // namespace mtf
