#include "runtime/execute/kernel/readers.h"

#include <algorithm>

namespace mtf {

std::vector<Readers> readers_of(const SpmdProgram& program) {
  std::vector<Readers> readers(program.values.size());
  const auto add = [&readers](SpmdId id, std::size_t step) {
    if (id.valid()) {
      Readers& of = readers[static_cast<std::size_t>(id.index)];
      of = {.first = std::min(of.first, step), .last = std::max(of.last, step)};
    }
  };
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    for_read(program.steps[s], [&](SpmdId id) { add(id, s); });
  }
  for (const SpmdId id : program.outputs) {
    add(id, program.steps.size());
  }
  for (const SpmdUpdate& update : program.updates) {
    add(update.value, program.steps.size());
  }
  return readers;
}

std::vector<SpmdId> stored_by(const SpmdProgram& program, std::size_t step) {
  std::vector<SpmdId> stored;
  for (const LocalCall& call : program.steps[step].calls) {
    if (program.at(call.result).home != Home::kNone) {
      stored.push_back(call.result);
    }
  }
  return stored;
}

}  // namespace mtf
