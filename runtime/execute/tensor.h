// A tensor held by ranks: the slices of this process's local ranks, in a known layout.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/layout/layout.h"
#include "runtime/execute/buffer.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct RankTensor {
  TensorType type;            // of the whole
  ValueLayout layout;         // nothing partial
  TensorType local;           // of one rank's slice
  std::vector<Buffer> parts;  // one per local rank
  // Where it was read, if the parts are those of a file: of all ranks, or of none.
  std::optional<SourceSpan> in_file = {};
  std::uint64_t version = 0;  // of what the parts have, where they are memory of their own
};

// Another one than any before.
[[nodiscard]] std::uint64_t new_version();

// Memory of their own for the parts of a tensor, but on ranks that have nothing of it.
void make_parts(BufferPool& pool, const Communicator& communicator, const Mesh& mesh,
                RankTensor& tensor);

[[nodiscard]] RankTensor make_tensor(BufferPool& pool, const Communicator& communicator,
                                     const Mesh& mesh, const TensorType& type,
                                     const ValueLayout& layout);

// Each rank keeps its slice of `whole`, which all ranks have (row-major).
[[nodiscard]] RankTensor scatter(BufferPool& pool, const Communicator& communicator,
                                 const Mesh& mesh, const TensorType& type,
                                 const ValueLayout& layout, std::span<const std::byte> whole);

// The whole tensor, row-major, on every process. Collective.
[[nodiscard]] std::vector<std::byte> gather(Communicator& communicator, const Mesh& mesh,
                                            const RankTensor& tensor);

}  // namespace mtf
