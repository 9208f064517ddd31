// Variables in a narrow dtype, from one run of a program to the next.

#include <cstring>

#include "runtime/execute/executor_program.h"
#include "runtime/vector_math/narrow.h"

namespace mtf {
namespace {

void make(const SpmdValue& value, const RankTensor& variable, BufferPool& pool, KeptCopy& copy) {
  copy.parts.resize(variable.parts.size());
  for (std::size_t rank = 0; rank < copy.parts.size(); ++rank) {
    const Buffer& from = variable.parts[rank];
    const std::int64_t elements = from.bytes() / static_cast<std::int64_t>(sizeof(float));
    Buffer& to = copy.parts[rank];
    if (to.data() == nullptr) {
      to = pool.take(value.local.bytes());
    }
    narrow(value.type.dtype, from.data(), static_cast<std::size_t>(elements), to.data());
  }
}

}  // namespace

void find_copies(PreparedProgram& prepared, std::span<const RankTensor* const> inputs,
                 BufferPool& pool) {
  const SpmdProgram& program = *prepared.program;
  prepared.copies.resize(program.copies.size());
  for (std::size_t i = 0; i < program.copies.size(); ++i) {
    const RankTensor& variable = *inputs[program.copies[i].input];
    KeptCopy& copy = prepared.copies[i];
    if (copy.of == 0 || copy.of != variable.version) {
      make(program.at(program.copies[i].value), variable, pool, copy);
    }
    copy.of = 0;  // a run that breaks off leaves neither this one nor the next
  }
}

void keep_copies(PreparedProgram& prepared, std::span<const RankTensor* const> inputs) {
  const SpmdProgram& program = *prepared.program;
  for (std::size_t i = 0; i < program.copies.size(); ++i) {
    KeptCopy& copy = prepared.copies[i];
    for (std::size_t rank = 0; rank < copy.parts.size(); ++rank) {
      const Buffer& to = copy.parts[rank];
      const void* const next = prepared.at(rank, program.copies[i].next);
      if (next != to.data()) {
        std::memcpy(to.data(), next, static_cast<std::size_t>(to.bytes()));
      }
    }
    copy.of = inputs[program.copies[i].input]->version;
  }
}

}  // namespace mtf
