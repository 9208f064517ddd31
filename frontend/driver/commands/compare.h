// How far two runs of a program are apart: `mtf verify`.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/driver/devices/execute_device.h"

namespace mtf {

// What one run showed: its printed lines, the values it looked at, what its entries and statements
// gave, the files it wrote, and its variables at the end.
struct Trace {
  struct Observed {
    HostTensor tensor;
    std::string where;        // "printed line 3", "what `f` gives"
    std::size_t order = 0;    // of all that was observed
    std::size_t endings = 0;  // of the promise: from this one on those of the program that made it
  };

  std::vector<std::string> lines;
  std::vector<Observed> seen;               // by the program
  std::vector<Observed> results;            // of entries and statements
  std::map<std::string, HostTensor> files;  // by path
  std::map<std::string, HostTensor> variables;
  // The tolerance of the narrowest floats that sums have to do with; 0: of none.
  double narrow = 0;

  [[nodiscard]] std::int64_t bytes() const;
  [[nodiscard]] bool is_empty() const {
    return lines.empty() && seen.empty() && results.empty() && files.empty() && variables.empty();
  }
};

struct Difference {
  double absolute = 0;
  double relative = 0;      // to the largest element of the tensor
  double tolerance = 0;     // that this element type allows, relative
  double rounding = 0;      // absolute: what roundings alone change there, as far as is known
  std::string where;        // "`two_layer/w`", "printed line 3"
  bool only_signs = false;  // of zeros
};

// How often what roundings changed in a few runs they may change in another one.
constexpr double kRoundings = 16;

// Or it is as small as what roundings change anyway, where a sum of large terms is nearly 0 and its
// size says nothing: the gradient of a bias that a normalisation takes out again.
[[nodiscard]] inline bool is_rounding(const Difference& difference) {
  return difference.tolerance > 0 && difference.absolute <= kRoundings * difference.rounding;
}

[[nodiscard]] inline bool tolerated(const Difference& difference) {
  return difference.relative <= difference.tolerance || is_rounding(difference);
}

// Relative, of what is as exact as the type; integers and truth values must be equal.
[[nodiscard]] double tolerance_of(DType dtype);

// nullopt: the same bits, but that one NaN is as good as another.
[[nodiscard]] std::optional<Difference> difference(const HostTensor& a, const HostTensor& b);

// The largest difference of two runs, as a share of what is tolerated; nullopt: everything is
// equal, to the bit. Other shapes are an infinite difference, and so is other text, but for the
// numbers in it: those count as f32, as exact as they are printed. `rounded`: runs that should be
// like `a` but for roundings.
[[nodiscard]] std::optional<Difference> difference(const Trace& a, const Trace& b,
                                                   std::span<const Trace> rounded = {});

// What b observed first that is not as in a; null: nothing.
[[nodiscard]] const Trace::Observed* first_apart(const Trace& a, const Trace& b);

}  // namespace mtf
