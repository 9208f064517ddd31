// and, or, not of bools, which are 0 or 1.

#include "stdlib/ops/ops.h"
#include "stdlib/ops/rules.h"
#include "stdlib/ops/tiles.h"

namespace mtf::ops {
namespace {

void and_tile(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  const auto* a = static_cast<const std::uint8_t*>(in[0]);
  const auto* b = static_cast<const std::uint8_t*>(in[1]);
  auto* y = static_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = a[i] & b[i];
  }
}

void or_tile(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  const auto* a = static_cast<const std::uint8_t*>(in[0]);
  const auto* b = static_cast<const std::uint8_t*>(in[1]);
  auto* y = static_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = a[i] | b[i];
  }
}

void not_tile(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  const auto* a = static_cast<const std::uint8_t*>(in[0]);
  auto* y = static_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = a[i] ^ 1U;
  }
}

double and_host(std::span<const double> x) {
  return x[0] != 0 && x[1] != 0 ? 1 : 0;
}
double or_host(std::span<const double> x) {
  return x[0] != 0 || x[1] != 0 ? 1 : 0;
}
double not_host(std::span<const double> x) {
  return x[0] == 0 ? 1 : 0;
}

}  // namespace

const OpDef kAnd{.name = "logical_and",
                 .symbol = "and",
                 .precedence = 2,
                 .summary = "whether both are true",
                 .family = "logic",
                 .params = two_operands(),
                 .shape_rule = kUnionOfDims,
                 .example = R"(dim length = 4
let i = range(length)
print i > 0 and i < 3
)",
                 .type = bool_elements,
                 .space = kept_space,
                 .flops = one_flop_each,
                 .tile = and_tile,
                 .host = and_host,
                 .primitive = Primitive::kAnd};

const OpDef kOr{.name = "logical_or",
                .symbol = "or",
                .precedence = 1,
                .summary = "whether either is true",
                .family = "logic",
                .params = two_operands(),
                .shape_rule = kUnionOfDims,
                .example = R"(dim length = 4
let i = range(length)
print i < 1 or i > 2
)",
                .type = bool_elements,
                .space = kept_space,
                .flops = one_flop_each,
                .tile = or_tile,
                .host = or_host,
                .primitive = Primitive::kOr};

const OpDef kNot{.name = "logical_not",
                 .symbol = "not",
                 .precedence = 3,
                 .summary = "whether it is false",
                 .family = "logic",
                 .params = one_operand(),
                 .shape_rule = kSameDims,
                 .example = R"(dim length = 4
print not (range(length) < 2)
)",
                 .type = bool_elements,
                 .space = kept_space,
                 .flops = one_flop_each,
                 .tile = not_tile,
                 .host = not_host};

}  // namespace mtf::ops
