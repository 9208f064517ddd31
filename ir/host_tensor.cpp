// NumPy's way of printing arrays: one format for all elements, columns aligned, long lines broken,
// the middle of long dims left out.

#include "ir/host_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/support/number.h"

namespace mtf {
namespace {

constexpr std::int64_t kSummarise = 1'000;  // elements beyond which the middle is left out
constexpr std::int64_t kEdge = 3;           // elements shown at each end then
constexpr std::size_t kLineWidth = 74;      // and a bracket
constexpr int kDecimals = 4;

template <typename T>
T element(std::span<const std::byte> data, std::int64_t index) {
  T value{};
  std::memcpy(&value, data.data() + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

double real_element(DType dtype, std::span<const std::byte> data, std::int64_t index) {
  return with_stored(
      dtype, [&](auto type) { return static_cast<double>(element<decltype(type)>(data, index)); });
}

template <typename T>
std::int64_t whole(T element) {
  if constexpr (std::is_integral_v<T>) {
    return element;
  } else {
    return static_cast<std::int64_t>(static_cast<double>(element));
  }
}

std::string formatted_element(DType dtype, std::span<const std::byte> data, std::int64_t index,
                              const NumberFormat& numbers) {
  if (is_float(dtype)) {
    return formatted(real_element(dtype, data, index), numbers);
  }
  return with_stored(dtype, [&](auto type) {
    return formatted(whole(element<decltype(type)>(data, index)), numbers);
  });
}

std::string whole_element(DType dtype, std::span<const std::byte> data, std::int64_t index) {
  if (dtype == DType::kBool) {
    return element<std::uint8_t>(data, index) != 0 ? "true" : "false";
  }
  return with_stored(dtype, [&](auto type) {
    return std::to_string(whole(element<decltype(type)>(data, index)));
  });
}

// The texts of the elements that are shown, all of one width.
class Cells {
 public:
  Cells(const TensorType& type, std::span<const std::byte> data, const NumberFormat& numbers)
      : type_(type), data_(data), numbers_(numbers) {
    summarised_ = type.shape.volume() > kSummarise;
    strides_ = strides_of(type.shape);
    if (is_float(type.dtype) && numbers.is_plain()) {
      choose_format(0, 0);
      while (decimals_ > 1 && trailing_zero_) {
        --decimals_;
        trailing_zero_ = true;
        check_zeros(0, 0);
      }
    }
    measure(0, 0);
  }

  [[nodiscard]] std::string at(std::int64_t index) const {
    const std::string text = bare(index);
    return std::string(width_ - text.size(), ' ') + text;
  }

  // Positions of a dim that are shown, in order; -1 stands for those left out.
  [[nodiscard]] std::vector<std::int64_t> shown(std::size_t dim) const {
    const std::int64_t size = type_.shape[dim].size;
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < size; ++i) {
      if (summarised_ && size > 2 * kEdge && i == kEdge) {
        positions.push_back(-1);
        i = size - kEdge;
      }
      positions.push_back(i);
    }
    return positions;
  }
  [[nodiscard]] std::int64_t stride(std::size_t dim) const { return strides_[dim]; }
  [[nodiscard]] std::size_t rank() const { return strides_.size(); }

 private:
  template <typename F>
  void for_each(std::size_t dim, std::int64_t index, const F& f) const {
    if (dim == rank()) {
      f(index);
      return;
    }
    for (const std::int64_t i : shown(dim)) {
      if (i >= 0) {
        for_each(dim + 1, index + i * strides_[dim], f);
      }
    }
  }

  // Scientific if a number would lose its digits, or need many, in fixed notation.
  void choose_format(std::size_t dim, std::int64_t index) {
    for_each(dim, index, [this](std::int64_t i) {
      const double size = std::abs(real_element(type_.dtype, data_, i));
      scientific_ =
          scientific_ || (std::isfinite(size) && size != 0 && (size < 1e-4 || size >= 1e8));
    });
    trailing_zero_ = true;
    check_zeros(dim, index);
  }

  // Whether all numbers end in 0 at the present number of decimals.
  void check_zeros(std::size_t dim, std::int64_t index) {
    for_each(dim, index, [this](std::int64_t i) {
      const std::string text = bare(i);
      const std::string digits = text.substr(0, text.find('e'));
      trailing_zero_ =
          trailing_zero_ && (digits.back() == '0' || digits.find('.') == std::string::npos);
    });
  }

  void measure(std::size_t dim, std::int64_t index) {
    for_each(dim, index, [this](std::int64_t i) { width_ = std::max(width_, bare(i).size()); });
  }

  [[nodiscard]] std::string bare(std::int64_t index) const {
    if (!numbers_.is_plain() && type_.dtype != DType::kBool) {
      return formatted_element(type_.dtype, data_, index, numbers_);
    }
    if (!is_float(type_.dtype)) {
      return whole_element(type_.dtype, data_, index);
    }
    const double value = real_element(type_.dtype, data_, index);
    if (std::isnan(value)) {
      return "nan";
    }
    return scientific_ ? scientific(value, decimals_) : fixed(value, decimals_);
  }

  const TensorType& type_;
  std::span<const std::byte> data_;
  NumberFormat numbers_;
  std::vector<std::int64_t> strides_;
  bool summarised_ = false;
  bool scientific_ = false;
  bool trailing_zero_ = true;
  int decimals_ = kDecimals;
  std::size_t width_ = 0;
};

void print_row(const Cells& cells, std::int64_t index, std::string& text) {
  const std::size_t dim = cells.rank() - 1;
  const std::size_t indent = cells.rank();
  std::size_t column = indent;
  text += '[';
  bool first = true;
  for (const std::int64_t i : cells.shown(dim)) {
    const std::string cell = i < 0 ? "..." : cells.at(index + i * cells.stride(dim));
    if (!first && column + 1 + cell.size() > kLineWidth) {
      text += "\n" + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    text += (first ? "" : " ") + cell;
    column += cell.size() + (first ? 0 : 1);
    first = false;
  }
  text += ']';
}

void print_dim(const Cells& cells, std::size_t dim, std::int64_t index, std::string& text) {
  if (dim + 1 == cells.rank()) {
    print_row(cells, index, text);
    return;
  }
  text += '[';
  bool first = true;
  for (const std::int64_t i : cells.shown(dim)) {
    if (!first) {
      text += std::string(cells.rank() - dim - 1, '\n') + std::string(dim + 1, ' ');
    }
    first = false;
    if (i < 0) {
      text += "...";
    } else {
      print_dim(cells, dim + 1, index + i * cells.stride(dim), text);
    }
  }
  text += ']';
}

std::string scalar_text(DType dtype, std::span<const std::byte> data) {
  if (!is_float(dtype)) {
    return whole_element(dtype, data, 0);
  }
  const double value = real_element(dtype, data, 0);
  if (std::isnan(value)) {
    return "nan";
  }
  return significant(value, dtype == DType::kF64 ? 12 : 6);
}

}  // namespace

std::string format(const TensorType& type, std::span<const std::byte> data,
                   const NumberFormat& numbers) {
  if (type.shape.rank() == 0) {
    return numbers.is_plain() || type.dtype == DType::kBool
               ? scalar_text(type.dtype, data)
               : formatted_element(type.dtype, data, 0, numbers);
  }
  std::string text = to_string(type) + "\n";
  print_dim(Cells(type, data, numbers), 0, 0, text);
  return text;
}

std::string format(const HostTensor& tensor, const NumberFormat& numbers) {
  return format(tensor.type, tensor.data, numbers);
}

}  // namespace mtf
