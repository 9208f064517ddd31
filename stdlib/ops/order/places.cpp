#include "stdlib/ops/order/places.h"

#include <algorithm>
#include <span>
#include <vector>

#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/order/keys.h"

namespace mtf {
namespace {

constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

template <typename Key>
using Line = std::vector<Keyed<Key>>;

// The elements of a line of x, the largest first.
template <typename T>
void read_line(const T* x, const Lines& lines, std::size_t number, std::int64_t first,
               Line<KeyOf<T>>& line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const T element = x[lines.from[number] + static_cast<std::int64_t>(i) * lines.from_step];
    line[i] = {.key = key_of(element, true),
               .at = static_cast<std::uint32_t>(first + static_cast<std::int64_t>(i))};
  }
}

// Those places of the result that are this rank's.
template <typename Key>
void write_places(const Line<Key>& line, std::int64_t start, std::int64_t step, Interval want,
                  std::int32_t* out) {
  for (std::int64_t i = 0; i < want.extent; ++i) {
    const Keyed<Key>& chosen = line[static_cast<std::size_t>(want.begin + i)];
    out[start + i * step] = static_cast<std::int32_t>(chosen.at);
  }
}

template <typename Key>
void read_words(std::span<const std::uint64_t> words, Line<Key>& line) {
  constexpr std::size_t kWords = sizeof(Key) == 4 ? 1 : 2;
  for (std::size_t i = 0; i < words.size(); i += kWords) {
    const std::uint64_t key = kWords == 1 ? words[i] >> kPlaceBits : words[i];
    const auto at = static_cast<std::uint32_t>(words[i + kWords - 1]);
    if (at != kNoPlace) {
      line.push_back({.key = static_cast<Key>(key), .at = at});
    }
  }
}

template <typename T>
void top_of(const TensorView& x, std::string_view over, const TensorView& to,
            std::string_view taken, const Cpu& cpu) {
  const Interval want = extent_of(to, taken);
  const Lines lines = lines_of(x, over, to, taken);
  const auto size = static_cast<std::size_t>(extent_of(x, over).extent);
  for_lines(cpu, lines, size, [&](std::size_t begin, std::size_t end) {
    Line<KeyOf<T>> line(size);
    Line<KeyOf<T>> other;
    for (std::size_t l = begin; l < end; ++l) {
      read_line(elements<const T>(x).data(), lines, l, 0, line);
      sort_first(line, other, static_cast<std::size_t>(want.end()));
      write_places(line, lines.to[l], lines.to_step, want, elements<std::int32_t>(to).data());
    }
  });
}

template <typename T>
void proposals_of(const TensorView& x, std::string_view over, std::size_t width,
                  std::span<std::uint64_t> words, const Cpu& cpu) {
  const Interval part = extent_of(x, over);
  const Lines lines = lines_of(x, over, x, over);
  const auto size = static_cast<std::size_t>(part.extent);
  const std::size_t most = width / static_cast<std::size_t>(words_of(x.dtype));
  for_lines(cpu, lines, size, [&](std::size_t begin, std::size_t end) {
    Line<KeyOf<T>> line(size);
    Line<KeyOf<T>> other;
    const std::size_t count = std::min(most, size);
    for (std::size_t l = begin; l < end; ++l) {
      read_line(elements<const T>(x).data(), lines, l, part.begin, line);
      sort_first(line, other, count);
      write_words(line, count, words.subspan(l * width, width));
    }
  });
}

template <typename Key>
void choose(const TensorView& digests, const TensorView& to, std::string_view taken) {
  const Interval want = extent_of(to, taken);
  const Dim parts = digests.shape[0];
  const Dim numbers = digests.shape[digests.shape.rank() - 1];
  const auto width = static_cast<std::size_t>(numbers.size);
  const TensorView proposers{.data = nullptr,
                             .shape = digests.shape.without(numbers.name),
                             .offset = {},
                             .dtype = digests.dtype};
  const Lines lines = lines_of(proposers, parts.name, to, taken);
  const std::span words = elements<const std::uint64_t>(digests);
  Line<Key> line;
  Line<Key> other;
  for (std::size_t l = 0; l < lines.to.size(); ++l) {
    line.clear();
    for (std::size_t p = 0; p < static_cast<std::size_t>(parts.size); ++p) {
      read_words(words.subspan((p * lines.to.size() + l) * width, width), line);
    }
    sort_first(line, other, static_cast<std::size_t>(want.end()));
    write_places(line, lines.to[l], lines.to_step, want, elements<std::int32_t>(to).data());
  }
}

}  // namespace

std::int64_t words_of(DType dtype) {
  return bytes_of(dtype) > 4 ? 2 : 1;
}

void top_places(const TensorView& x, std::string_view over, const TensorView& to,
                std::string_view taken, const Cpu& cpu) {
  with_type(x.dtype, [&](auto type) { top_of<decltype(type)>(x, over, to, taken, cpu); });
}

void propose_places(const TensorView& x, std::string_view over, const TensorView& to,
                    const Cpu& cpu) {
  const auto width = static_cast<std::size_t>(to.shape[to.shape.rank() - 1].size);
  with_type(x.dtype, [&](auto type) {
    proposals_of<decltype(type)>(x, over, width, elements<std::uint64_t>(to), cpu);
  });
}

void choose_places(const TensorView& digests, std::int64_t words, const TensorView& to,
                   std::string_view taken) {
  words == 1 ? choose<std::uint32_t>(digests, to, taken)
             : choose<std::uint64_t>(digests, to, taken);
}

}  // namespace mtf
