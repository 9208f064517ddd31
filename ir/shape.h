// Named dims and shapes: the value types everything else is written in.
//
// Two tensors match by dim *name*, never by position. The order of a shape is only how the
// numbers lie in memory (row-major) and in print.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"

namespace mtf {

struct Dim {
  std::string name;
  std::int64_t size = 0;

  friend bool operator==(const Dim&, const Dim&) = default;
};

// Never changed once it is made: copies share their dims.
class Shape {
 public:
  // Out of line: copies of shapes inlined everywhere were a large part of what the compiler made.
  Shape();
  explicit Shape(std::vector<Dim> dims);  // requires: each name once
  Shape(const Shape& other);
  Shape(Shape&& other) noexcept;
  Shape& operator=(const Shape& other);
  Shape& operator=(Shape&& other) noexcept;
  ~Shape();

  [[nodiscard]] std::span<const Dim> dims() const {
    return known_ == nullptr ? std::span<const Dim>() : known_->dims;
  }
  [[nodiscard]] std::size_t rank() const { return dims().size(); }
  [[nodiscard]] const Dim& operator[](std::size_t index) const { return dims()[index]; }
  [[nodiscard]] const Dim* find(std::string_view name) const;  // null if absent
  [[nodiscard]] std::optional<std::size_t> index_of(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] std::int64_t volume() const;  // requires: checked_volume has a value
  [[nodiscard]] std::optional<std::int64_t> checked_volume() const {  // nullopt: beyond 2^62
    return known_ == nullptr ? 1 : known_->volume;
  }
  [[nodiscard]] Shape without(std::string_view name) const;
  [[nodiscard]] Shape with(Dim dim) const;  // appended; requires: its name is absent
  [[nodiscard]] Shape resized(std::string_view name, std::int64_t size) const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  struct Known {
    std::vector<Dim> dims;
    std::optional<std::int64_t> volume;  // asked for more often than shapes are made
  };

  std::shared_ptr<const Known> known_;  // null: no dims
};

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  [[nodiscard]] std::int64_t bytes() const;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

// The same dims with the same sizes, in any order.
[[nodiscard]] bool same_dims(const Shape& a, const Shape& b);
// All dims of `part` are in `whole` with the same size.
[[nodiscard]] bool contains(const Shape& whole, const Shape& part);
// Row-major strides, in elements.
[[nodiscard]] std::vector<std::int64_t> strides_of(const Shape& shape);

[[nodiscard]] std::string to_string(const Shape& shape);      // "[batch 8, hidden 16]"
[[nodiscard]] std::string to_string(const TensorType& type);  // "f32[batch 8, hidden 16]"

}  // namespace mtf
