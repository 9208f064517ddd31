#include "frontend/driver/commands/compare.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string_view>

namespace mtf {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

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
    if (d.tolerance == 0) {
      return kInfinite;
    }
    const double of_roundings =
        d.rounding == 0 ? kInfinite : d.absolute / (kRoundings * d.rounding);
    return std::min(d.relative / d.tolerance, of_roundings);
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

struct Worst {
  double narrow = 0;  // what the narrowest floats that order has to do with allow
  std::optional<Difference> kept;
};

void keep_worse(Worst& worst, std::optional<Difference> found, const std::string& where) {
  // Another order of sums may round a narrow number the other way, and what is made of it is apart.
  if (found && found->tolerance > 0) {
    found->tolerance = std::max(found->tolerance, worst.narrow);
  }
  if (found && worse(*found, worst.kept)) {
    found->where = where;
    worst.kept = std::move(found);
  }
}

// The same tensor of some runs; a pointer is null where a run has none.
using Tensors = std::vector<const HostTensor*>;

// How far apart the first is from the others, at most. What is not a number there, or has another
// shape, says nothing of roundings.
double rounding_of(const HostTensor& tensor, const Tensors& rounded) {
  double most = 0;
  for (const HostTensor* other : rounded) {
    const std::optional<Difference> found =
        other == nullptr ? std::nullopt : difference(tensor, *other);
    if (found && std::isfinite(found->absolute)) {
      most = std::max(most, found->absolute);
    }
  }
  return most;
}

void keep_worse(Worst& worst, const HostTensor& a, const HostTensor* b, const Tensors& rounded,
                const std::string& where) {
  std::optional<Difference> found = b == nullptr ? complete("") : difference(a, *b);
  if (found) {
    found->rounding = rounding_of(a, rounded);
  }
  keep_worse(worst, std::move(found), where);
}

template <typename Find>
Tensors found_in(std::span<const Trace> traces, const Find& find) {
  Tensors tensors;
  std::ranges::transform(traces, std::back_inserter(tensors), find);
  return tensors;
}

using ObservedList = std::vector<Trace::Observed> Trace::*;

// Of what has the same place in both.
void keep_worse_of(Worst& worst, const Trace& a, const Trace& b, std::span<const Trace> rounded,
                   ObservedList list) {
  for (std::size_t i = 0; i < std::min((a.*list).size(), (b.*list).size()); ++i) {
    const auto find = [&](const Trace& trace) {
      return i < (trace.*list).size() ? &(trace.*list)[i].tensor : nullptr;
    };
    const Trace::Observed& observed = (a.*list)[i];
    keep_worse(worst, observed.tensor, find(b), found_in(rounded, find), observed.where);
  }
}

// Of what has the same name in both.
void keep_worse_of(Worst& worst, const Trace& a, const Trace& b, std::span<const Trace> rounded,
                   std::map<std::string, HostTensor> Trace::*tensors) {
  for (const auto& [name, tensor] : a.*tensors) {
    const auto find = [tensors, &name = name](const Trace& trace) {
      const auto found = (trace.*tensors).find(name);
      return found == (trace.*tensors).end() ? nullptr : &found->second;
    };
    keep_worse(worst, tensor, find(b), found_in(rounded, find), "`" + name + "`");
  }
}

}  // namespace

double tolerance_of(DType dtype) {
  if (!is_float(dtype)) {
    return 0;
  }
  if (is_narrow(dtype)) {  // sums are wide: a few roundings at the end
    return std::ldexp(8.0, -static_cast<int>(precision_of(dtype)));
  }
  return dtype == DType::kF64 ? 1e-10 : 1e-5;
}

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

std::optional<Difference> difference(const Trace& a, const Trace& b,
                                     std::span<const Trace> rounded) {
  Worst worst{.narrow = std::max(a.narrow, b.narrow), .kept = std::nullopt};
  keep_worse_of(worst, a, b, rounded, &Trace::seen);
  keep_worse_of(worst, a, b, rounded, &Trace::results);
  keep_worse_of(worst, a, b, rounded, &Trace::files);
  keep_worse_of(worst, a, b, rounded, &Trace::variables);
  if (worst.kept) {
    return worst.kept;
  }
  // The same numbers, so the same text, unless a function printed others or took another way.
  for (std::size_t i = 0; i < std::min(a.lines.size(), b.lines.size()); ++i) {
    keep_worse(worst, text_difference(a.lines[i], b.lines[i]),
               "printed line " + std::to_string(i + 1));
  }
  if (a.lines.size() != b.lines.size()) {
    return complete("printed line " + std::to_string(std::min(a.lines.size(), b.lines.size()) + 1));
  }
  return worst.kept;
}

std::int64_t Trace::bytes() const {
  std::int64_t bytes = 0;
  for (const std::vector<Observed>* list : {&seen, &results}) {
    for (const Observed& observed : *list) {
      bytes += std::ssize(observed.tensor.data);
    }
  }
  for (const std::map<std::string, HostTensor>* tensors : {&files, &variables}) {
    for (const auto& [name, tensor] : *tensors) {
      bytes += std::ssize(tensor.data);
    }
  }
  return bytes;
}

const Trace::Observed* first_apart(const Trace& a, const Trace& b) {
  const Trace::Observed* first = nullptr;
  for (const ObservedList list : {&Trace::seen, &Trace::results}) {
    for (std::size_t i = 0; i < std::min((a.*list).size(), (b.*list).size()); ++i) {
      const Trace::Observed& other = (b.*list)[i];
      if (difference((a.*list)[i].tensor, other.tensor)) {
        first = first == nullptr || other.order < first->order ? &other : first;
        break;
      }
    }
  }
  return first;
}

}  // namespace mtf
