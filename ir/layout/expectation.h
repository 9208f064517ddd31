// What a program promises of each rank: `expect { all_reduce(cols) = 1, peak_memory < 2 GiB }`.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/source.h"

namespace mtf {

enum class Measure : std::uint8_t {
  kCalls,     // of collectives
  kElements,  // that a rank hands to them
  kBytes,     // that a rank receives from them
  kPeakMemory,
  kFlops,
  kParameters,
};

enum class Relation : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual
};
[[nodiscard]] bool holds(double value, Relation relation, double bound);

// The collectives that a contract may name.
inline constexpr std::array kCollectiveKinds = std::to_array<std::string_view>(
    {"all_gather", "all_to_all", "permute", "halo_exchange", "exclusive_scan", "sort_exchange",
     "serve", "all_reduce", "reduce_scatter", "broadcast", "reduce"});

struct Expectation {
  Measure measure{};
  std::string kind;                              // of collectives; "" for all
  std::optional<std::vector<std::string>> axes;  // over exactly these; absent: over any
  Relation relation{};
  double bound = 0;
  std::string text;  // "all_reduce(cols) = 1"
  SourceSpan span;
};

// The clauses of one `expect`. Those in a function are about it, wherever it is run.
struct Contract {
  std::string entry;  // of one at top level
  SourceSpan entry_span;
  std::vector<std::string> layouts;  // empty: every layout
  std::vector<SourceSpan> layout_spans;
  std::vector<Expectation> clauses;
};

}  // namespace mtf
