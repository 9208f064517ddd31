#include "runtime/execute/finite/expected.h"

#include <algorithm>

namespace mtf {

std::vector<bool> expected_to_overflow(const Program& program) {
  const std::size_t count = program.values.size();
  std::vector<bool> is_of_gradients(count, false);
  for (std::size_t v = 0; v < count; ++v) {
    const Value& value = program.values[v];
    is_of_gradients[v] = value.backward || std::ranges::any_of(value.operands, [&](ValueId id) {
                           return is_of_gradients[static_cast<std::size_t>(id.index)];
                         });
  }
  std::vector<bool> is_tested(count, false);
  for (std::size_t v = count; v-- > 0;) {  // readers stand behind what they read
    const Value& value = program.values[v];
    const bool tests = value.op != nullptr && value.op->tests_numbers;
    if (!tests && !is_tested[v]) {
      continue;
    }
    for (const ValueId id : value.operands) {
      is_tested[static_cast<std::size_t>(id.index)] = true;
    }
  }
  for (std::size_t v = 0; v < count; ++v) {
    is_tested[v] = is_tested[v] && is_of_gradients[v];
  }
  return is_tested;
}

}  // namespace mtf
