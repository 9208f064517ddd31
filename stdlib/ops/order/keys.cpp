// Radix sort, lowest digit first: it keeps equal keys in their order.

#include "stdlib/ops/order/keys.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <utility>

#include "runtime/kernels/strided.h"
#include "runtime/kernels/thread_team.h"

namespace mtf {
namespace {

constexpr std::size_t kFew = 64;  // below, comparing is quicker

// Bits of a digit: fewer for short lines, which then have less to count.
constexpr std::size_t kShort = 1024;
constexpr unsigned kShortDigit = 8;
constexpr unsigned kLongDigit = 11;

template <typename Key, unsigned kBits>
struct Digits {
  static constexpr unsigned kCount = (8 * sizeof(Key) + kBits - 1) / kBits;
  static constexpr std::size_t kValues = std::size_t{1} << kBits;
  using Counts = std::array<std::array<std::uint32_t, kValues>, kCount>;

  static std::size_t at(Key key, unsigned digit) {
    return static_cast<std::size_t>(key >> (digit * kBits)) & (kValues - 1);
  }
};

template <typename Key>
Key key_in(const Keyed<Key>& element) {
  return element.key;
}
template <std::unsigned_integral Key>
Key key_in(Key element) {
  return element;
}

// `counts`: zeros.
template <unsigned kBits, typename Element, typename Counts>
void by_digits(std::vector<Element>& line, std::vector<Element>& other, Counts& counts) {
  using Of = Digits<decltype(key_in(line.front())), kBits>;
  other.resize(line.size());
  for (const Element& element : line) {
    for (unsigned digit = 0; digit < Of::kCount; ++digit) {
      ++counts[digit][Of::at(key_in(element), digit)];
    }
  }
  for (unsigned digit = 0; digit < Of::kCount; ++digit) {
    auto& places = counts[digit];
    if (places[Of::at(key_in(line.front()), digit)] == line.size()) {
      continue;  // all have the same
    }
    std::uint32_t place = 0;
    for (std::uint32_t& count : places) {
      place += std::exchange(count, place);
    }
    for (const Element& element : line) {
      other[places[Of::at(key_in(element), digit)]++] = element;
    }
    line.swap(other);
  }
}

template <typename Element>
void by_radix(std::vector<Element>& line, std::vector<Element>& other) {
  using Key = decltype(key_in(line.front()));
  if (line.size() < kShort) {
    typename Digits<Key, kShortDigit>::Counts counts = {};
    by_digits<kShortDigit>(line, other, counts);
  } else {
    const auto counts = std::make_unique<typename Digits<Key, kLongDigit>::Counts>();
    by_digits<kLongDigit>(line, other, *counts);
  }
}

template <typename Key>
bool comes_first(const Keyed<Key>& a, const Keyed<Key>& b) {
  return a.key != b.key ? a.key < b.key : a.at < b.at;
}

template <typename Key>
void sort_line(std::vector<Keyed<Key>>& line, std::vector<Keyed<Key>>& other) {
  if (line.size() < kFew) {
    std::ranges::sort(line, comes_first<Key>);
  } else {
    by_radix(line, other);
  }
}

template <typename Key>
void sort_plain(std::vector<Key>& line, std::vector<Key>& other) {
  if (line.size() < kFew) {
    std::ranges::sort(line);
  } else {
    by_radix(line, other);
  }
}

template <typename Key>
void sort_head(std::vector<Keyed<Key>>& line, std::vector<Keyed<Key>>& other, std::size_t count) {
  if (count * 8 > line.size()) {
    return sort_line(line, other);
  }
  const auto head = line.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::nth_element(line, head, comes_first<Key>);
  std::sort(line.begin(), head, comes_first<Key>);
}

std::vector<std::int64_t> starts_of(const Shape& shape, std::size_t without,
                                    const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> starts = {0};
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (i == without) {
      continue;
    }
    std::vector<std::int64_t> next;
    next.reserve(starts.size() * static_cast<std::size_t>(shape[i].size));
    for (const std::int64_t start : starts) {
      for (std::int64_t j = 0; j < shape[i].size; ++j) {
        next.push_back(start + j * strides[i]);
      }
    }
    starts = std::move(next);
  }
  return starts;
}

}  // namespace

void sort_keys(std::vector<Keyed<std::uint32_t>>& line, std::vector<Keyed<std::uint32_t>>& other) {
  sort_line(line, other);
}

void sort_keys(std::vector<Keyed<std::uint64_t>>& line, std::vector<Keyed<std::uint64_t>>& other) {
  sort_line(line, other);
}

void sort_numbers(std::vector<std::uint32_t>& line, std::vector<std::uint32_t>& other) {
  sort_plain(line, other);
}

void sort_numbers(std::vector<std::uint64_t>& line, std::vector<std::uint64_t>& other) {
  sort_plain(line, other);
}

void sort_first(std::vector<Keyed<std::uint32_t>>& line, std::vector<Keyed<std::uint32_t>>& other,
                std::size_t count) {
  sort_head(line, other, count);
}

void sort_first(std::vector<Keyed<std::uint64_t>>& line, std::vector<Keyed<std::uint64_t>>& other,
                std::size_t count) {
  sort_head(line, other, count);
}

void for_lines(const Cpu& cpu, const Lines& lines, std::size_t count,
               const std::function<void(std::size_t begin, std::size_t end)>& task) {
  const auto number = static_cast<std::int64_t>(lines.from.size());
  const int threads = threads_for(cpu, number * static_cast<std::int64_t>(count));
  run_in_parts(threads, number, [&task](Interval part) {
    task(static_cast<std::size_t>(part.begin), static_cast<std::size_t>(part.end()));
  });
}

Lines lines_of(const TensorView& from, std::string_view from_dim, const TensorView& to,
               std::string_view to_dim) {
  const std::size_t at = from.shape.index_of(from_dim).value();
  const std::vector<std::int64_t> own = strides_of(from.shape);
  return {.from = starts_of(from.shape, at, own),
          .to = starts_of(from.shape, at, strides_by_name(to.shape, from.shape)),
          .from_step = own[at],
          .to_step = strides_of(to.shape)[to.shape.index_of(to_dim).value()]};
}

}  // namespace mtf
