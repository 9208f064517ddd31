// This reads the keys that NumPy writes, and no Python.

#include "stdlib/ops/source/npy_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "ir/support/diag.h"
#include "ir/support/utf8.h"
#include "runtime/vector_math/unsigned.h"

namespace mtf {
namespace {

constexpr std::size_t kMaxRank = 64;

struct Entry {
  std::string_view descr;
  DType dtype;
  bool is_unsigned = false;
};
// NumPy has no bf16: its elements go as two bytes without a meaning, as ml_dtypes' do.
constexpr std::array<Entry, 13> kDescrs{{{"<f4", DType::kF32},
                                         {"<f8", DType::kF64},
                                         {"<V2", DType::kBF16},
                                         {"<f2", DType::kF16},
                                         {"<i4", DType::kI32},
                                         {"<i8", DType::kI64},
                                         {"<i2", DType::kI16},
                                         {"|i1", DType::kI8},
                                         {"|u1", DType::kU8},
                                         {"|b1", DType::kBool},
                                         {"<u2", widened_unsigned(2), true},
                                         {"<u4", widened_unsigned(4), true},
                                         {"<u8", widened_unsigned(8), true}}};

constexpr std::array<std::string_view, 3> kKeys = {"descr", "fortran_order", "shape"};

// What is left of the text.
struct Reader {
  std::string_view text;

  void skip_space() {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) {
      text.remove_prefix(1);
    }
  }
  bool take(std::string_view token) {
    skip_space();
    if (!text.starts_with(token)) {
      return false;
    }
    text.remove_prefix(token.size());
    return true;
  }
  std::optional<std::string_view> quoted() {
    skip_space();
    if (text.empty() || (text.front() != '\'' && text.front() != '"')) {
      return std::nullopt;
    }
    const std::size_t end = text.find(text.front(), 1);
    if (end == std::string_view::npos) {
      return std::nullopt;
    }
    const std::string_view inside = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    return inside;
  }
  std::optional<std::int64_t> number() {
    skip_space();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 0) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    static_cast<void>(take("L"));  // Python 2 wrote long integers so
    return value;
  }
};

// What NumPy makes of floats that are wider than any here; "" of what are no numbers.
std::string readable_as(std::string_view descr) {
  const bool is_wide = descr.ends_with("f12") || descr.ends_with("f16");
  return is_wide ? "; `.astype(\"<f8\")` makes it readable, rounded" : "";
}

// A kind and a size, as an entry has it, without the sign of the order of bytes.
std::string_view kind_of(std::string_view descr) {
  return descr.substr(std::min(descr.find_first_not_of("<>|="), descr.size()));
}

void take_descr(std::string_view descr, NpyInfo& info) {
  const auto* entry = std::ranges::find_if(
      kDescrs, [&](const Entry& one) { return kind_of(one.descr) == kind_of(descr); });
  if (entry == kDescrs.end()) {
    info.problem = "holds " + in_backticks(descr.substr(0, 16)) + "; what can be read is " +
                   std::string(dtype_names()) + ", and unsigned integers" + readable_as(descr);
    return;
  }
  info.dtype = entry->dtype;
  info.is_unsigned = entry->is_unsigned;
  info.is_big_endian = descr.starts_with('>');
  info.stored_bytes = entry->descr.back() - '0';
}

// As a message can show them: whatever is no printable character of ASCII is a `?`.
std::string printable(std::string_view bytes) {
  constexpr std::size_t kShown = 24;
  std::string text(bytes.substr(0, std::min(bytes.find('\n'), 2 * kShown)));
  std::ranges::replace_if(
      text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return shortened(text, kShown);
}

class DictReader {
 public:
  explicit DictReader(std::string_view dict) : reader_{dict} {}

  NpyInfo run() {
    if (!reader_.take("{")) {
      unlike("`{`");
    }
    while (is_fine() && !reader_.take("}")) {
      read_pair();
    }
    reader_.skip_space();
    if (is_fine() && !reader_.text.empty()) {
      unlike("the end");
    }
    const auto* lacking = std::ranges::find(has_, false);
    if (is_fine() && lacking != has_.end()) {
      cannot_be_read("it has no `'" +
                     std::string(kKeys[static_cast<std::size_t>(lacking - has_.begin())]) + "'`");
    }
    return std::move(info_);
  }

 private:
  [[nodiscard]] bool is_fine() const { return info_.problem.empty(); }

  void cannot_be_read(const std::string& why) {
    info_.problem = "has a header that cannot be read: " + why +
                    "; `numpy.save` writes one as `{'descr': '<f4', 'fortran_order': False, "
                    "'shape': (4, 8), }`";
  }

  void unlike(const std::string& expected) {
    reader_.skip_space();
    cannot_be_read(
        (reader_.text.empty() ? "it ends" : in_backticks(printable(reader_.text)) + " stands") +
        " where " + expected + " is expected");
  }

  void read_pair() {
    const Reader before = reader_;
    const std::optional<std::string_view> key = reader_.quoted();
    const auto* known = key ? std::ranges::find(kKeys, *key) : kKeys.end();
    if (known == kKeys.end()) {
      reader_ = before;
      return unlike("`'descr'`, `'fortran_order'` or `'shape'`");
    }
    if (!reader_.take(":")) {
      return unlike("`:`");
    }
    has_[static_cast<std::size_t>(known - kKeys.begin())] = true;
    read_value(*key);
    if (is_fine() && !reader_.take(",") && !reader_.text.starts_with("}")) {
      unlike("`,` or `}`");
    }
  }

  void read_value(std::string_view key) {
    if (key == "descr") {
      read_descr();
    } else if (key == "fortran_order") {
      info_.in_fortran_order = reader_.take("True");
      if (!info_.in_fortran_order && !reader_.take("False")) {
        unlike("`True` or `False`");
      }
    } else {
      read_sizes();
    }
  }

  void read_descr() {
    const Reader before = reader_;
    const std::optional<std::string_view> descr = reader_.quoted();
    if (descr && !descr->empty()) {
      return take_descr(*descr, info_);
    }
    reader_ = before;
    if (reader_.take("[")) {
      info_.problem = "holds records, and not an array of numbers";
    } else {
      unlike("a type in quotes, as `'<f4'`,");
    }
  }

  void read_sizes() {
    info_.sizes.clear();
    if (!reader_.take("(")) {
      return unlike("`(`, as of `(4, 8)`,");
    }
    while (!reader_.take(")")) {
      const std::optional<std::int64_t> size = reader_.number();
      if (!size) {
        return unlike("a size");
      }
      if (info_.sizes.size() == kMaxRank) {
        return cannot_be_read("it has more than " + std::to_string(kMaxRank) + " sizes");
      }
      info_.sizes.push_back(*size);
      if (!reader_.take(",") && !reader_.text.starts_with(")")) {
        return unlike("`,` or `)`");
      }
    }
  }

  Reader reader_;
  NpyInfo info_;
  std::array<bool, kKeys.size()> has_{};
};

}  // namespace

NpyInfo parse_npy_dict(std::string_view dict) {
  return DictReader(dict).run();
}

std::string npy_dict(const TensorType& type) {
  std::string descr;
  for (const Entry& entry : kDescrs) {
    descr = entry.dtype == type.dtype && !entry.is_unsigned ? entry.descr : descr;
  }
  std::string sizes;
  for (const Dim& dim : type.shape.dims()) {
    sizes += std::to_string(dim.size) + (type.shape.rank() == 1 ? "," : ", ");
  }
  if (type.shape.rank() > 1) {
    sizes.resize(sizes.size() - 2);
  }
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
}

}  // namespace mtf
