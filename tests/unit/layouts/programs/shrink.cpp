// A failing program made smaller.

#include <algorithm>
#include <optional>
#include <utility>

#include "tests/unit/layouts/programs/generate.h"

namespace mtf::tests {
namespace {

// The program without one value, if nothing needs it.
std::optional<Program> without(const Program& program, std::size_t index) {
  const auto is = [&](ValueId id) { return static_cast<std::size_t>(id.index) == index; };
  for (const Value& value : program.values) {
    if (std::ranges::any_of(value.operands, is)) {
      return std::nullopt;
    }
  }
  Program smaller = program;
  std::erase_if(smaller.outputs, is);
  smaller.values.erase(smaller.values.begin() + static_cast<std::ptrdiff_t>(index));
  const auto shift = [&](ValueId& id) {
    id.index -= static_cast<std::size_t>(id.index) > index ? 1 : 0;
  };
  for (Value& value : smaller.values) {
    std::ranges::for_each(value.operands, shift);
  }
  std::ranges::for_each(smaller.outputs, shift);
  return smaller;
}

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
  for (std::size_t i = program.outputs.size(); i-- > 0 && program.outputs.size() > 1;) {
    Program smaller = program;
    smaller.outputs.erase(smaller.outputs.begin() + static_cast<std::ptrdiff_t>(i));
    if (fails(smaller)) {
      program = std::move(smaller);
    }
  }
  for (std::size_t i = program.values.size(); i-- > 0;) {
    std::optional<Program> smaller = without(program, i);
    if (smaller && !smaller->outputs.empty() && fails(*smaller)) {
      program = *std::move(smaller);
    }
  }
  return program;
}

}  // namespace mtf::tests
