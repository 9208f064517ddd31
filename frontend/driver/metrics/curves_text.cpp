// Curves in characters: of Braille, which have two by four dots each, or one of ASCII for each
// cell.

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <optional>
#include <sstream>

#include "frontend/driver/metrics/curves.h"
#include "frontend/report/quantity.h"
#include "ir/support/number.h"
#include "ir/support/utf8.h"

namespace mtf {
namespace {

constexpr std::size_t kCurveRows = 12;
constexpr std::size_t kFewestRows = 3;
constexpr std::size_t kRowsBeside = 3;  // of a picture: its name, its steps, and the blank one
constexpr int kTextDigits = 4;

// Dots that are set, row by row from the top.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows, bool ascii)
      : wide_(ascii ? 1 : 2),
        high_(ascii ? 1 : 4),
        columns_(columns * wide_),
        rows_(rows * high_),
        dots_(columns_ * rows_, false) {}

  [[nodiscard]] std::size_t columns() const { return columns_; }

  // `height`: 0 … 1
  [[nodiscard]] std::size_t row_at(double height) const {
    return rows_ - 1 -
           static_cast<std::size_t>(std::lround(height * static_cast<double>(rows_ - 1)));
  }
  void line_down(std::size_t column, std::size_t from, std::size_t to) {
    for (std::size_t row = std::min(from, to); row <= std::max(from, to); ++row) {
      dots_[row * columns_ + column] = true;
    }
  }

  // A row of characters.
  [[nodiscard]] std::string text(std::size_t row) const {
    std::string text;
    for (std::size_t column = 0; column < columns_; column += wide_) {
      text += wide_ == 1 ? std::string(1, is_set(row, column) ? '*' : ' ')
                         : braille(row * high_, column);
    }
    text.resize(text.find_last_not_of(' ') + 1);
    return text;
  }

 private:
  [[nodiscard]] bool is_set(std::size_t row, std::size_t column) const {
    return dots_[row * columns_ + column];
  }
  [[nodiscard]] std::string braille(std::size_t row, std::size_t column) const {
    constexpr std::array<std::array<unsigned, 2>, 4> kBits = {
        {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};
    constexpr char32_t kNone = 0x2800;
    unsigned bits = 0;
    for (std::size_t r = 0; r < kBits.size(); ++r) {
      for (std::size_t c = 0; c < 2; ++c) {
        bits |= is_set(row + r, column + c) ? kBits[r][c] : 0;
      }
    }
    return bits == 0 ? " " : to_utf8(kNone + bits);
  }

  std::size_t wide_;
  std::size_t high_;
  std::size_t columns_;
  std::size_t rows_;
  std::vector<bool> dots_;
};

// The rows that the points of each column have; `first` below `last` where there is none.
struct ColumnSpan {
  std::size_t first = 1;
  std::size_t last = 0;
};

std::vector<ColumnSpan> column_spans(const Curve2d& curve, const CurveBounds& bounds,
                                     const Canvas& canvas) {
  std::vector<ColumnSpan> spans(canvas.columns());
  for (const auto& [step, value] : curve.points) {
    const auto column = static_cast<std::size_t>(
        std::lround(bounds.across(step) * static_cast<double>(canvas.columns() - 1)));
    const std::size_t row = canvas.row_at(bounds.up(value));
    ColumnSpan& span = spans[column];
    const bool is_first = span.first > span.last;
    span = {.first = is_first ? row : std::min(span.first, row),
            .last = is_first ? row : std::max(span.last, row)};
  }
  return spans;
}

// A straight line between columns that have points.
void draw_curve(const Curve2d& curve, const CurveBounds& bounds, Canvas& canvas) {
  const std::vector<ColumnSpan> spans = column_spans(curve, bounds, canvas);
  std::optional<std::size_t> before;
  for (std::size_t column = 0; column < spans.size(); ++column) {
    if (spans[column].first > spans[column].last) {
      continue;
    }
    for (std::size_t between = before.value_or(column) + 1; between < column; ++between) {
      const double share =
          static_cast<double>(between - *before) / static_cast<double>(column - *before);
      const auto from = static_cast<double>(spans[*before].last);
      const auto to = static_cast<double>(spans[column].first);
      const auto row = static_cast<std::size_t>(std::lround(from + share * (to - from)));
      canvas.line_down(between, row, row);
    }
    canvas.line_down(column, spans[column].first, spans[column].last);
    before = column;
  }
}

bool may_be_shown(char32_t code, const CurveStyle& style) {
  const bool is_control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  return !is_control && (!style.ascii || code < 0x7F);
}

std::string escaped(char32_t code) {
  const bool is_long = code > 0xFFFF;
  std::ostringstream text;
  text << (is_long ? "\\U" : "\\u") << std::hex << std::setfill('0') << std::setw(is_long ? 8 : 4)
       << static_cast<std::uint32_t>(code);
  return text.str();
}

// A name as a terminal may have it: no longer than a line, without control characters and, where
// all is to be ASCII, with what is not as `\u00e4`.
std::string shown_name(const std::string& name, const CurveStyle& style) {
  constexpr char32_t kEllipsis = 0x2026;
  const std::string all = shortened(name, style.columns);
  std::string text;
  for (std::string_view rest = all; !rest.empty();) {
    const CodePoint code = first_code_point(rest);
    if (code.length == 0) {
      text += '?';
    } else if (may_be_shown(code.value, style)) {
      text += rest.substr(0, code.length);
    } else {
      text += code.value == kEllipsis ? "..." : escaped(code.value);
    }
    rest.remove_prefix(std::max<std::size_t>(code.length, 1));
  }
  return text;
}

// How many pictures there are, and how high.
struct PicturePlan {
  std::size_t count = 0;
  std::size_t rows = kCurveRows;
};

// On a screen with `taken` rows below them, one for the cursor and, where some are left out, one
// that says so.
PicturePlan planned_pictures(std::size_t wanted, std::size_t taken, const CurveStyle& style) {
  if (!style.rows || wanted == 0) {
    return {.count = wanted};
  }
  const std::size_t room = *style.rows - std::min(*style.rows, taken + 1);
  const std::size_t each = room / wanted;
  if (each >= kFewestRows + kRowsBeside) {
    return {.count = wanted, .rows = std::min(kCurveRows, each - kRowsBeside)};
  }
  const std::size_t count = (room - std::min<std::size_t>(room, 1)) / (kFewestRows + kRowsBeside);
  return {.count = std::max<std::size_t>(count, 1), .rows = kFewestRows};
}

std::string curve_picture(const Curve2d& curve, std::size_t rows, const CurveStyle& style) {
  const CurveBounds bounds = bounds_of(curve);
  const std::string top = significant(bounds.top, kTextDigits);
  const std::string bottom = significant(bounds.bottom, kTextDigits);
  const std::size_t margin = std::max(top.size(), bottom.size());
  const std::size_t width = std::max<std::size_t>(20, style.columns - 1) - margin - 2;
  Canvas canvas(width, rows, style.ascii);
  draw_curve(curve, bounds, canvas);
  std::string text = shown_name(curve.name, style) + "\n";
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string mark = row == 0 ? top : row + 1 == rows ? bottom : "";
    text += std::string(margin - mark.size(), ' ') + mark + (style.ascii ? " |" : " │") +
            canvas.text(row) + "\n";
  }
  const std::string left = count_text(static_cast<std::int64_t>(bounds.left));
  const std::string right = "step " + count_text(static_cast<std::int64_t>(bounds.right));
  return text + std::string(margin + 2, ' ') + left +
         std::string(width - std::min(width, left.size() + right.size()), ' ') + right + "\n\n";
}

// What each curve ends with.
std::string last_values(const Curves& curves, const CurveStyle& style) {
  std::string values;
  std::int64_t step = 0;
  for (const Curve2d& curve : curves.curves) {
    const auto& [at, value] = curve.points.back();
    step = std::max(step, curve.not_finite.value_or(at));
    values += ", " + shown_name(curve.name, style) + " " +
              (curve.not_finite ? "not finite" : significant(value, kTextDigits));
  }
  return "step " + count_text(step) + values;
}

}  // namespace

std::string curves_text(const Curves& curves, const CurveStyle& style) {
  if (curves.curves.empty()) {
    return "no metrics yet: " + curves.found + "\n" + std::string(kWritesMetrics) + "\n";
  }
  const std::string last = last_values(curves, style);
  const auto pictures =
      static_cast<std::size_t>(std::ranges::count(curves.curves, false, &Curve2d::is_rate));
  const std::size_t taken = (display_width(last) + style.columns - 1) / style.columns;
  const PicturePlan plan = planned_pictures(pictures, taken, style);
  std::string text;
  std::size_t drawn = 0;
  for (const Curve2d& curve : curves.curves) {
    if (!curve.is_rate && drawn < plan.count) {
      text += curve_picture(curve, plan.rows, style);
      ++drawn;
    }
  }
  if (drawn < pictures) {
    text += count_text(static_cast<std::int64_t>(pictures - drawn)) +
            " more; `--once` draws all, and so does `--plot x.svg`\n";
  }
  return text + last + "\n";
}

}  // namespace mtf
