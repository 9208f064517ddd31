// Shapes: lookups by name, and sizes that never overflow unseen.

#include "ir/shape.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace mtf {
namespace {

constexpr std::int64_t kMaxVolume = std::int64_t{1} << 62;

[[maybe_unused]] bool each_name_once(std::span<const Dim> dims) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (dims[i].name == dims[j].name) {
        return false;
      }
    }
  }
  return true;
}

// A size of 0 does not hide an overflow of the others: their strides are needed all the same.
std::optional<std::int64_t> volume_of(std::span<const Dim> dims) {
  std::int64_t product = 1;
  bool empty = false;
  for (const Dim& dim : dims) {
    if (dim.size <= 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(product, dim.size, &product) || product > kMaxVolume) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

}  // namespace

Shape::Shape() = default;
Shape::Shape(const Shape& other) = default;
Shape::Shape(Shape&& other) noexcept = default;
Shape& Shape::operator=(const Shape& other) = default;
Shape& Shape::operator=(Shape&& other) noexcept = default;
Shape::~Shape() = default;

Shape::Shape(std::vector<Dim> dims) {
  assert(each_name_once(dims));
  if (!dims.empty()) {
    const std::optional<std::int64_t> volume = volume_of(dims);
    known_ = std::make_shared<const Known>(Known{.dims = std::move(dims), .volume = volume});
  }
}

bool operator==(const Shape& a, const Shape& b) {
  return a.known_ == b.known_ || std::ranges::equal(a.dims(), b.dims());
}

std::optional<std::size_t> Shape::index_of(std::string_view name) const {
  const auto found = std::ranges::find(dims(), name, &Dim::name);
  if (found == dims().end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - dims().begin());
}

const Dim* Shape::find(std::string_view name) const {
  const auto found = std::ranges::find(dims(), name, &Dim::name);
  return found == dims().end() ? nullptr : &*found;
}

std::int64_t Shape::volume() const {
  const std::optional<std::int64_t> result = checked_volume();
  assert(result);
  return *result;
}

Shape Shape::without(std::string_view name) const {
  std::vector<Dim> left;
  std::ranges::copy_if(dims(), std::back_inserter(left),
                       [&](const Dim& dim) { return dim.name != name; });
  return Shape(std::move(left));
}

Shape Shape::with(Dim dim) const {
  std::vector<Dim> more(dims().begin(), dims().end());
  more.push_back(std::move(dim));
  return Shape(std::move(more));
}

Shape Shape::resized(std::string_view name, std::int64_t size) const {
  std::vector<Dim> sized(dims().begin(), dims().end());
  for (Dim& dim : sized) {
    dim.size = dim.name == name ? size : dim.size;
  }
  return Shape(std::move(sized));
}

std::int64_t TensorType::bytes() const {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(shape.volume(), static_cast<std::int64_t>(bytes_of(dtype)), &result)) {
    return std::numeric_limits<std::int64_t>::max();  // more than any memory, which is all one asks
  }
  return result;
}

bool contains(const Shape& whole, const Shape& part) {
  return whole.dims().data() == part.dims().data() ||
         std::ranges::all_of(part.dims(), [&](const Dim& dim) {
           const Dim* other = whole.find(dim.name);
           return other != nullptr && other->size == dim.size;
         });
}

bool same_dims(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && contains(a, b);
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.rank(), 1);
  for (std::size_t i = shape.rank(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i].size;
  }
  return strides;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (const Dim& dim : shape.dims()) {
    text += text.size() > 1 ? ", " : "";
    text += dim.name + (dim.size == 0 ? "" : " " + std::to_string(dim.size));
  }
  return text + "]";
}

std::string to_string(const TensorType& type) {
  return std::string(to_string(type.dtype)) + to_string(type.shape);
}

}  // namespace mtf
