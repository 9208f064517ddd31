#include "frontend/driver/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace mtf {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Integers and truth values must be equal.
double tolerance_of(DType dtype) {
  if (!is_float(dtype)) {
    return 0;
  }
  return dtype == DType::kF64 ? 1e-10 : 1e-5;
}

template <typename T>
T element(const HostTensor& tensor, std::size_t i) {
  T value{};
  std::memcpy(&value, tensor.data.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
Difference largest(const HostTensor& a, const HostTensor& b) {
  Difference result;
  double scale = 0;
  for (std::size_t i = 0; i < a.data.size() / sizeof(T); ++i) {
    const auto x = static_cast<double>(element<T>(a, i));
    const auto y = static_cast<double>(element<T>(b, i));
    if (std::isfinite(x)) {
      scale = std::max(scale, std::abs(x));
    }
    const bool same = x == y || (std::isnan(x) && std::isnan(y));
    const double apart = same ? 0.0 : std::abs(x - y);
    result.absolute = std::max(result.absolute, std::isnan(apart) ? kInfinite : apart);
  }
  if (result.absolute > 0) {
    result.relative = scale > 0 ? result.absolute / scale : kInfinite;
  }
  return result;
}

Difference complete(const std::string& where) {
  return {.absolute = kInfinite, .relative = kInfinite, .tolerance = 0, .where = where};
}

// Which of two differences is worse, each as a share of what it may be.
bool worse(const Difference& a, const std::optional<Difference>& b) {
  const auto share = [](const Difference& d) {
    return d.tolerance == 0 ? kInfinite : d.relative / d.tolerance;
  };
  return !b || share(a) > share(*b);
}

void keep_worse(std::optional<Difference>& kept, std::optional<Difference> found,
                const std::string& where) {
  if (found && worse(*found, kept)) {
    found->where = where;
    kept = std::move(found);
  }
}

}  // namespace

std::optional<Difference> difference(const HostTensor& a, const HostTensor& b) {
  if (!(a.type == b.type)) {
    return complete("");
  }
  if (a.data == b.data) {
    return std::nullopt;
  }
  Difference result =
      with_type(a.type.dtype, [&](auto zero) { return largest<decltype(zero)>(a, b); });
  result.tolerance = tolerance_of(a.type.dtype);
  return result;
}

std::optional<Difference> difference(const Trace& a, const Trace& b) {
  std::optional<Difference> result;
  for (std::size_t i = 0; i < std::min(a.seen.size(), b.seen.size()); ++i) {
    keep_worse(result, difference(a.seen[i].tensor, b.seen[i].tensor),
               "printed line " + std::to_string(a.seen[i].line));
  }
  for (const auto& [path, tensor] : a.variables) {
    const auto found = b.variables.find(path);
    keep_worse(result,
               found == b.variables.end() ? complete("") : difference(tensor, found->second),
               "`" + path + "`");
  }
  if (result) {
    return result;
  }
  // The same numbers, so the same text, unless the program took another way.
  const std::size_t common = std::min(a.lines.size(), b.lines.size());
  const auto at = std::mismatch(
      a.lines.begin(), a.lines.begin() + static_cast<std::ptrdiff_t>(common), b.lines.begin());
  if (at.first - a.lines.begin() < static_cast<std::ptrdiff_t>(common) ||
      a.lines.size() != b.lines.size()) {
    return complete("printed line " + std::to_string(at.first - a.lines.begin() + 1));
  }
  return std::nullopt;
}

}  // namespace mtf
