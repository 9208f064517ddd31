// Things as lists of numbers, which are equal if and only if the things are alike.

#pragma once

#include <cstdint>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/shape.h"

namespace mtf {

// Built up part by part; lists of things say how long they are, so that no two read the same.
class ContentKey {
 public:
  void clear() { parts_.clear(); }
  void add(std::uint64_t part) { parts_.push_back(part); }
  // What copies share and nobody changes. Equal things in two places are taken for different.
  void add_shared(const void* place) { add(reinterpret_cast<std::uintptr_t>(place)); }
  void add_type(const TensorType& type) {
    add_shared(type.shape.dims().data());
    add(static_cast<std::uint64_t>(type.dtype));
  }
  void add_axes(const Axes& axes);

  [[nodiscard]] const std::vector<std::uint64_t>& parts() const { return parts_; }

 private:
  std::vector<std::uint64_t> parts_;
};

}  // namespace mtf
