#include "stdlib/ops/order/sorted_parts.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "stdlib/ops/move/cut.h"
#include "stdlib/ops/order/keys.h"
#include "stdlib/ops/order/places.h"

namespace mtf {
namespace {

// The element of which `ordered` made the key.
template <typename T>
T element_of(KeyOf<T> key, bool descending) {
  key = descending ? ~key : key;
  if constexpr (std::is_floating_point_v<T>) {
    const bool positive = (key & kSignOf<T>) != 0;
    return key == static_cast<KeyOf<T>>(~KeyOf<T>{0})
               ? std::numeric_limits<T>::quiet_NaN()
               : std::bit_cast<T>(positive ? key ^ kSignOf<T> : static_cast<KeyOf<T>>(~key));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(key ^ kSignOf<T>);
  } else {
    return static_cast<T>(key);
  }
}

// What ranks swap of a part: lines of numbers, padded to the length of a part.
struct Swapped {
  Lines lines;            // of the digests and of the result
  std::size_t width = 0;  // numbers of a line
};

Swapped swapped(const KernelCall& call, std::string_view over) {
  const TensorView& digest = call.in[0];
  const Dim numbers = digest.shape[digest.shape.rank() - 1];
  const TensorView parts{.data = nullptr,
                         .shape = digest.shape.without(numbers.name),
                         .offset = {},
                         .dtype = digest.dtype};
  return {.lines = lines_of(parts, digest.shape[0].name, call.out, over),
          .width = static_cast<std::size_t>(numbers.size)};
}

std::size_t width_of_digest(const KernelCall& call) {
  return static_cast<std::size_t>(call.out.shape[call.out.shape.rank() - 1].size);
}

// ---- elements ------------------------------------------------------------------------------

// Calls put(number of the line, its keys) for each line along the dim, sorted; several threads do.
template <typename T, typename F>
void with_sorted_elements(const TensorView& x, const Lines& lines, std::size_t count,
                          bool descending, const Cpu& cpu, const F& put) {
  const T* from = elements<const T>(x).data();
  for_lines(cpu, lines, count, [&](std::size_t begin, std::size_t end) {
    std::vector<KeyOf<T>> line(count);
    std::vector<KeyOf<T>> other;
    for (std::size_t l = begin; l < end; ++l) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t at = lines.from[l] + static_cast<std::int64_t>(i) * lines.from_step;
        line[i] = ordered(from[at], descending);
      }
      sort_numbers(line, other);
      put(l, line);
    }
  });
}

template <typename T>
void put_elements(std::span<const KeyOf<T>> keys, bool descending, std::int64_t step, T* out) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    out[static_cast<std::int64_t>(i) * step] = element_of<T>(keys[i], descending);
  }
}

template <typename T>
void sort_elements_of(const KernelCall& call, std::string_view over, bool descending) {
  using Key = KeyOf<T>;
  if (call.part == CallPart::kRest) {
    const Swapped came = swapped(call, over);
    const auto count = static_cast<std::size_t>(extent_of(call.out, over).extent);
    const std::span keys = elements<const Key>(call.in[0]);
    for (std::size_t l = 0; l < came.lines.to.size(); ++l) {
      put_elements<T>(keys.subspan(l * came.width, count), descending, came.lines.to_step,
                      elements<T>(call.out).data() + came.lines.to[l]);
    }
    return;
  }
  const TensorView& x = call.in[0];
  const auto count = static_cast<std::size_t>(extent_of(x, over).extent);
  if (call.part == CallPart::kDigest) {
    const std::size_t width = width_of_digest(call);
    const std::span out = elements<Key>(call.out);
    std::ranges::fill(out, ~Key{0});
    with_sorted_elements<T>(x, lines_of(x, over, x, over), count, descending, call.host.cpu(),
                            [&](std::size_t l, const std::vector<Key>& line) {
                              std::ranges::copy(line, out.subspan(l * width).begin());
                            });
    return;
  }
  const Lines lines = lines_of(x, over, call.out, over);
  with_sorted_elements<T>(x, lines, count, descending, call.host.cpu(),
                          [&](std::size_t l, const std::vector<Key>& line) {
                            put_elements<T>(line, descending, lines.to_step,
                                            elements<T>(call.out).data() + lines.to[l]);
                          });
}

// ---- places --------------------------------------------------------------------------------

template <typename T, typename F>
void with_sorted_places(const TensorView& x, const Lines& lines, Interval part, bool descending,
                        const Cpu& cpu, const F& put) {
  const T* from = elements<const T>(x).data();
  const auto count = static_cast<std::size_t>(part.extent);
  for_lines(cpu, lines, count, [&](std::size_t begin, std::size_t end) {
    std::vector<Keyed<KeyOf<T>>> line(count);
    std::vector<Keyed<KeyOf<T>>> other;
    for (std::size_t l = begin; l < end; ++l) {
      for (std::size_t i = 0; i < line.size(); ++i) {
        const auto number = static_cast<std::int64_t>(i);
        line[i] = {.key = key_of(from[lines.from[l] + number * lines.from_step], descending),
                   .at = static_cast<std::uint32_t>(part.begin + number)};
      }
      sort_keys(line, other);
      put(l, line);
    }
  });
}

template <typename T>
void sort_places_of(const KernelCall& call, std::string_view over, bool descending) {
  using Line = std::vector<Keyed<KeyOf<T>>>;
  auto* out = static_cast<std::int32_t*>(call.out.data);
  if (call.part == CallPart::kRest) {
    const Swapped came = swapped(call, over);
    const auto words = static_cast<std::size_t>(call.space.digest->width);
    const std::int64_t count = extent_of(call.out, over).extent;
    const std::span numbers = elements<const std::uint64_t>(call.in[0]);
    for (std::size_t l = 0; l < came.lines.to.size(); ++l) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::size_t last = l * came.width + (static_cast<std::size_t>(i) + 1) * words - 1;
        out[came.lines.to[l] + i * came.lines.to_step] = static_cast<std::int32_t>(numbers[last]);
      }
    }
    return;
  }
  const TensorView& x = call.in[0];
  const Interval part = extent_of(x, over);
  if (call.part == CallPart::kDigest) {
    const std::size_t width = width_of_digest(call);
    const std::span numbers = elements<std::uint64_t>(call.out);
    with_sorted_places<T>(x, lines_of(x, over, x, over), part, descending, call.host.cpu(),
                          [&](std::size_t l, const Line& line) {
                            write_words(line, line.size(), numbers.subspan(l * width, width));
                          });
    return;
  }
  const Lines lines = lines_of(x, over, call.out, over);
  with_sorted_places<T>(x, lines, part, descending, call.host.cpu(),
                        [&](std::size_t l, const Line& line) {
                          for (std::size_t i = 0; i < line.size(); ++i) {
                            out[lines.to[l] + static_cast<std::int64_t>(i) * lines.to_step] =
                                static_cast<std::int32_t>(line[i].at);
                          }
                        });
}

}  // namespace

Digest digest_of_elements(DType dtype) {
  return {.dtype = bytes_of(dtype) > 4 ? DType::kI64 : DType::kI32};
}

Digest digest_of_places(DType dtype) {
  return {.dtype = DType::kI64, .width = words_of(dtype)};
}

void sort_elements(const KernelCall& call, std::string_view over, bool descending) {
  with_type(call.part == CallPart::kDigest ? call.in[0].dtype : call.out.dtype,
            [&](auto type) { sort_elements_of<decltype(type)>(call, over, descending); });
}

void sort_places(const KernelCall& call, std::string_view over, bool descending) {
  if (call.part == CallPart::kRest) {  // of the keys nothing is read
    return sort_places_of<float>(call, over, descending);
  }
  with_type(call.in[0].dtype,
            [&](auto type) { sort_places_of<decltype(type)>(call, over, descending); });
}

}  // namespace mtf
