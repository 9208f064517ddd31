// Numbers for things of equal content, in the order in which they first came: then what is made of
// them is compared number by number.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
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

// Lists of numbers. Layers ask for the same ones in the same order: what followed a list the last
// time that it was asked for is looked at first.
class NumberedLists {
 public:
  Number number(const std::vector<std::uint64_t>& list) {
    return is_expected(list) ? note(asked_[next_]) : note(lists_.number(hash_of(list), list));
  }
  [[nodiscard]] std::optional<Number> find(const std::vector<std::uint64_t>& list) {
    if (is_expected(list)) {
      return note(asked_[next_]);
    }
    const std::optional<Number> known = lists_.find(hash_of(list), list);
    return known ? std::optional(note(*known)) : std::nullopt;
  }
  [[nodiscard]] std::size_t size() const { return lists_.size(); }

 private:
  [[nodiscard]] bool is_expected(const std::vector<std::uint64_t>& list) const {
    return next_ < asked_.size() && lists_[asked_[next_]] == list;
  }
  Number note(Number number) {
    constexpr std::size_t kMost = std::size_t{1} << 16;
    if (asked_.size() == kMost) {
      asked_.clear();
      last_.clear();
    }
    last_.resize(lists_.size(), kNever);
    const bool goes_on = next_ < asked_.size() && asked_[next_] == number;
    const std::size_t here = goes_on ? next_ : last_[number];
    next_ = here == kNever ? kNever : here + 1;
    last_[number] = asked_.size();
    asked_.push_back(number);
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
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  std::vector<Number> asked_;      // in that order
  std::vector<std::size_t> last_;  // of each list, where there
  std::size_t next_ = kNever;      // there, what is expected
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
