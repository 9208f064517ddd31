// A list of mesh axes. Layouts are lists of lists of them, which plans are full of: so this one
// needs no memory of its own, and is copied as it is.

#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>

namespace mtf {

// Position of an axis in its mesh.
using AxisId = std::uint8_t;

inline constexpr std::size_t kMaxAxes = 16;

// Ordered, major first. To be used as a std::vector.
class Axes {
 public:
  static constexpr std::size_t kRoom = 2 * kMaxAxes;  // those of two layouts, one behind the other

  using value_type = AxisId;
  using iterator = AxisId*;
  using const_iterator = const AxisId*;
  using size_type = std::size_t;

  Axes() = default;
  Axes(std::initializer_list<AxisId> axes) : Axes(axes.begin(), axes.end()) {}
  Axes(const AxisId* first, const AxisId* last) { insert(end(), first, last); }

  [[nodiscard]] iterator begin() { return axes_.data(); }
  [[nodiscard]] iterator end() { return axes_.data() + size_; }
  [[nodiscard]] const_iterator begin() const { return axes_.data(); }
  [[nodiscard]] const_iterator end() const { return axes_.data() + size_; }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] AxisId& operator[](std::size_t i) { return axes_[i]; }
  [[nodiscard]] AxisId operator[](std::size_t i) const { return axes_[i]; }
  [[nodiscard]] AxisId front() const { return axes_[0]; }
  [[nodiscard]] AxisId back() const { return axes_[size_ - std::size_t{1}]; }

  void clear() { size_ = 0; }
  void resize(std::size_t size) {
    while (size_ < size) {
      push_back(0);
    }
    size_ = static_cast<std::uint8_t>(size);
  }
  void push_back(AxisId axis) {
    if (size_ == kRoom) {
      throw std::length_error("a list of more axes than two layouts have");
    }
    axes_[size_++] = axis;
  }
  void pop_back() { --size_; }
  // requires: what is inserted is not of this list.
  iterator insert(const_iterator before, const AxisId* first, const AxisId* last) {
    const auto at = before - begin();
    const auto had = end() - begin();
    for (; first != last; ++first) {
      push_back(*first);
    }
    std::rotate(begin() + at, begin() + had, end());
    return begin() + at;
  }
  iterator insert(const_iterator before, AxisId axis) { return insert(before, &axis, &axis + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const auto at = first - begin();
    // NOLINTNEXTLINE(misc-misplaced-const): it is the iterator that does not change
    const iterator rest = std::copy(last, static_cast<const_iterator>(end()), begin() + at);
    size_ = static_cast<std::uint8_t>(rest - begin());
    return begin() + at;
  }
  iterator erase(const_iterator axis) { return erase(axis, axis + 1); }

  friend bool operator==(const Axes& a, const Axes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::strong_ordering operator<=>(const Axes& a, const Axes& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<AxisId, kRoom> axes_{};
  std::uint8_t size_ = 0;
};

template <typename Predicate>
void erase_if(Axes& axes, Predicate predicate) {
  axes.erase(std::remove_if(axes.begin(), axes.end(), predicate), axes.end());
}
inline void erase(Axes& axes, AxisId axis) {
  axes.erase(std::remove(axes.begin(), axes.end(), axis), axes.end());
}

}  // namespace mtf
