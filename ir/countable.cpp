#include "ir/countable.h"

#include <algorithm>

namespace mtf {
namespace {

// Everything that a plan adds up, as memory and what is received, is less than sixteen times this;
// so none of its 64-bit sums overflows, and no shortage of memory is hidden by one.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 58;

}  // namespace

bool check_countable(const Program& program, DiagSink& diags) {
  std::int64_t left = kMostBytes;
  for (const Value& value : program.values) {
    std::int64_t bytes = std::min(value.type.bytes(), kMostBytes);
    for (const ValueId operand : value.operands) {
      bytes = std::min(bytes + std::min(program.at(operand).type.bytes(), kMostBytes), kMostBytes);
    }
    if (bytes >= left) {
      diags.error(
          DiagKind::kOverflow, value.span,
          "with " + to_string(value.type.shape) + " here, the tensors of " +
              (program.name.empty() ? "the program" : "`" + program.name + "`") +
              " are more than 2^58 bytes, the most that is planned; smaller dims are needed");
      return false;
    }
    left -= bytes;
  }
  return true;
}

}  // namespace mtf
