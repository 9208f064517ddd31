#include "ir/countable.h"

#include <algorithm>
#include <vector>

namespace mtf {
namespace {

// Everything that a plan adds up, as memory and what is received, is less than sixteen times this;
// so none of its 64-bit sums overflows, and no shortage of memory is hidden by one.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 58;

}  // namespace

bool check_countable(const Program& program, DiagSink& diags) {
  std::int64_t left = kMostBytes;
  std::vector<std::int64_t> bytes_of_value;
  bytes_of_value.reserve(program.values.size());
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    std::int64_t bytes = std::min(value.type.bytes(), kMostBytes);
    bytes_of_value.push_back(bytes);
    for (const ValueId operand : value.operands) {
      bytes = std::min(bytes + bytes_of_value[at(operand)], kMostBytes);
    }
    if (bytes >= left) {
      diags.error(
          DiagKind::kOverflow, value.span,
          "with " + to_string(value.type.shape) + " here, the tensors of " +
              (program.name.empty() ? "the program" : "`" + program.name + "`") +
              " are more than 2^58 bytes, the most that is planned; smaller dims are needed",
          notes_of(program, ValueId{static_cast<std::int32_t>(i)}));
      return false;
    }
    left -= bytes;
  }
  return true;
}

}  // namespace mtf
