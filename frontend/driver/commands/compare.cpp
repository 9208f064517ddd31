#include "frontend/driver/commands/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

namespace mtf {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Integers and truth values must be equal.
double tolerance_of(DType dtype) {
  if (!is_float(dtype)) {
    return 0;
  }
  if (is_narrow(dtype)) {  // sums are wide: a few roundings at the end
    return std::ldexp(8.0, -static_cast<int>(precision_of(dtype)));
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
std::optional<Difference> largest(const HostTensor& a, const HostTensor& b) {
  Difference result;
  double scale = 0;
  bool equal = true;
  for (std::size_t i = 0; i < a.data.size() / sizeof(T); ++i) {
    const auto x = static_cast<double>(element<T>(a, i));
    const auto y = static_cast<double>(element<T>(b, i));
    if (std::isfinite(x)) {
      scale = std::max(scale, std::abs(x));
    }
    const bool both_nan = std::isnan(x) && std::isnan(y);
    const bool same = x == y || both_nan;
    const std::size_t place = i * sizeof(T);
    equal = equal && (both_nan || std::memcmp(&a.data[place], &b.data[place], sizeof(T)) == 0);
    const double apart = same ? 0.0 : std::abs(x - y);
    result.absolute = std::max(result.absolute, std::isnan(apart) ? kInfinite : apart);
  }
  if (equal) {
    return std::nullopt;
  }
  result.only_signs = result.absolute == 0;
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

// Text cut into what is no number and the numbers between, with the worth of their last digits.
struct Printed {
  std::vector<std::string> words = {""};
  std::vector<double> numbers;
  std::vector<double> last_digits;
};

Printed cut(std::string_view text) {
  Printed result;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto length = static_cast<std::size_t>(end - text.data());
    if (error != std::errc()) {
      result.words.back() += text.front();
      text.remove_prefix(1);
      continue;
    }
    const std::string_view digits = text.substr(0, std::min(length, text.find_first_of("eE")));
    const std::size_t point = digits.find('.');
    const double places =
        point == std::string_view::npos ? 0 : static_cast<double>(digits.size() - point - 1);
    const double power = number == 0 ? 0 : std::floor(std::log10(std::abs(number)));
    const bool scaled = digits.size() < length;  // 1.5e-07: places count from its first digit
    result.last_digits.push_back(std::pow(10, (scaled ? power : 0) - places));
    result.numbers.push_back(number);
    result.words.emplace_back();
    text.remove_prefix(length);
  }
  return result;
}

std::optional<Difference> text_difference(std::string_view a, std::string_view b) {
  if (a == b) {
    return std::nullopt;
  }
  const Printed x = cut(a);
  const Printed y = cut(b);
  if (x.words != y.words) {
    return complete("");
  }
  Difference result{
      .absolute = 0, .relative = 0, .tolerance = tolerance_of(DType::kF32), .where = ""};
  double scale = 0;
  for (std::size_t i = 0; i < x.numbers.size(); ++i) {
    scale = std::max(scale, std::abs(x.numbers[i]));
    const double unseen = std::max(x.last_digits[i], y.last_digits[i]);
    const double apart = std::abs(x.numbers[i] - y.numbers[i]) - unseen;
    result.absolute = std::max(result.absolute, std::isnan(apart) ? kInfinite : apart);
  }
  result.relative = scale > 0 ? result.absolute / scale : 0;
  return result;
}

void keep_worse(std::optional<Difference>& kept, std::optional<Difference> found,
                const std::string& where) {
  if (found && worse(*found, kept)) {
    found->where = where;
    kept = std::move(found);
  }
}

// Of what has the same name in both.
void keep_worse_of(std::optional<Difference>& kept, const std::map<std::string, HostTensor>& a,
                   const std::map<std::string, HostTensor>& b) {
  for (const auto& [name, tensor] : a) {
    const auto found = b.find(name);
    keep_worse(kept, found == b.end() ? complete("") : difference(tensor, found->second),
               "`" + name + "`");
  }
}

}  // namespace

std::optional<Difference> difference(const HostTensor& a, const HostTensor& b) {
  if (!(a.type == b.type) || a.data.size() != b.data.size()) {
    return complete("");
  }
  if (a.data == b.data) {
    return std::nullopt;
  }
  std::optional<Difference> result =
      with_stored(a.type.dtype, [&](auto zero) { return largest<decltype(zero)>(a, b); });
  if (result) {
    result->tolerance = tolerance_of(a.type.dtype);
  }
  return result;
}

std::optional<Difference> difference(const Trace& a, const Trace& b) {
  std::optional<Difference> result;
  for (std::size_t i = 0; i < std::min(a.seen.size(), b.seen.size()); ++i) {
    keep_worse(result, difference(a.seen[i].tensor, b.seen[i].tensor),
               "printed line " + std::to_string(a.seen[i].line));
  }
  for (std::size_t i = 0; i < std::min(a.results.size(), b.results.size()); ++i) {
    keep_worse(result, difference(a.results[i].second, b.results[i].second),
               a.results[i].first.empty() ? "a value" : "what `" + a.results[i].first + "` gives");
  }
  keep_worse_of(result, a.files, b.files);
  keep_worse_of(result, a.variables, b.variables);
  if (result) {
    return result;
  }
  // The same numbers, so the same text, unless a function printed others or took another way.
  for (std::size_t i = 0; i < std::min(a.lines.size(), b.lines.size()); ++i) {
    keep_worse(result, text_difference(a.lines[i], b.lines[i]),
               "printed line " + std::to_string(i + 1));
  }
  if (a.lines.size() != b.lines.size()) {
    return complete("printed line " + std::to_string(std::min(a.lines.size(), b.lines.size()) + 1));
  }
  return result;
}

}  // namespace mtf
