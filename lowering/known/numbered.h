// Numbers for things of equal content, in the order in which they first came: then what is made of
// them is compared number by number.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/shape.h"

namespace mtf {

using Number = std::uint32_t;

// Of content, part by part.
class ContentHash {
 public:
  void add(std::size_t part) {
    value_ = (value_ ^ part) * 0x9E37'79B9'7F4A'7C15U;
    value_ ^= value_ >> 29U;
  }
  [[nodiscard]] std::size_t value() const { return value_; }

 private:
  std::size_t value_ = 0;
};

inline void add_shape(const Shape& shape, ContentHash& hash) {
  for (const Dim& dim : shape.dims()) {
    hash.add(static_cast<std::size_t>(dim.size));
    hash.add(std::hash<std::string>()(dim.name));
  }
}

// `T` is compared by ==.
template <typename T>
class Numbered {
 public:
  // `hash`: of the thing; equal things have equal ones.
  Number number(std::size_t hash, const T& thing) {
    if (const std::optional<Number> known = find(hash, thing)) {
      return *known;
    }
    const auto number = static_cast<Number>(things_.size());
    numbers_.emplace(hash, number);
    things_.push_back(thing);
    return number;
  }

  // nullopt: it is new.
  [[nodiscard]] std::optional<Number> find(std::size_t hash, const T& thing) const {
    const auto [begin, end] = numbers_.equal_range(hash);
    for (auto found = begin; found != end; ++found) {
      if (things_[found->second] == thing) {
        return found->second;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] const T& operator[](Number number) const { return things_[number]; }
  [[nodiscard]] std::size_t size() const { return things_.size(); }

 private:
  std::unordered_multimap<std::size_t, Number> numbers_;  // by hash
  std::deque<T> things_;                                  // in places that do not change
};

// Lists of numbers. Layers ask for the same ones in the same order: what followed a list when it
// was last asked for is looked at first.
class NumberedLists {
 public:
  Number number(const std::vector<std::uint64_t>& list) {
    if (const std::optional<Number> next = expected(list)) {
      return *next;
    }
    return follow(lists_.number(hash_of(list), list));
  }
  [[nodiscard]] std::optional<Number> find(const std::vector<std::uint64_t>& list) {
    if (const std::optional<Number> next = expected(list)) {
      return next;
    }
    const std::optional<Number> known = lists_.find(hash_of(list), list);
    return known ? std::optional(follow(*known)) : std::nullopt;
  }
  [[nodiscard]] std::size_t size() const { return lists_.size(); }

 private:
  std::optional<Number> expected(const std::vector<std::uint64_t>& list) {
    if (last_ >= next_.size() || lists_[next_[last_]] != list) {
      return std::nullopt;
    }
    last_ = next_[last_];
    return last_;
  }
  Number follow(Number number) {
    next_.resize(lists_.size(), 0);
    next_[last_] = number;
    last_ = number;
    return number;
  }

  static std::size_t hash_of(const std::vector<std::uint64_t>& list) {
    ContentHash hash;
    for (const std::uint64_t part : list) {
      hash.add(part);
    }
    return hash.value();
  }

  Numbered<std::vector<std::uint64_t>> lists_;
  std::vector<Number> next_;  // after each list
  Number last_ = 0;           // that was asked for
};

class NumberedTexts {
 public:
  Number number(const std::string& text) {
    return texts_.number(std::hash<std::string>()(text), text);
  }

 private:
  Numbered<std::string> texts_;
};

}  // namespace mtf
