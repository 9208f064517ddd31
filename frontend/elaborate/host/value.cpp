// Text, kinds and equality of host values.

#include "frontend/elaborate/host/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "frontend/elaborate/host/builtin.h"
#include "frontend/elaborate/names/module.h"
#include "ir/support/match.h"

namespace mtf::host {

ValueNode::ValueNode() = default;
ValueNode::ValueNode(const ValueNode& other) = default;
ValueNode::ValueNode(ValueNode&& other) noexcept = default;
ValueNode& ValueNode::operator=(const ValueNode& other) = default;
ValueNode& ValueNode::operator=(ValueNode&& other) noexcept = default;
ValueNode::~ValueNode() = default;

namespace {

std::string joined(const Values& items) {
  std::string text;
  for (const Value& item : items) {
    text += (text.empty() ? "" : ", ") + to_string(item);
  }
  return text;
}

bool all_equal(const Values& a, const Values& b) {
  return std::ranges::equal(a, b, [](const Value& x, const Value& y) { return equal(x, y); });
}

template <typename Predicate>
bool any_item(const Value& value, Predicate&& predicate) {
  if (const auto* list = value.get<List>()) {
    return std::ranges::any_of(*list->items, predicate);
  }
  const auto* results = value.get<Results>();
  return results != nullptr && std::ranges::any_of(*results->items, predicate);
}

std::string exponent_text(int exponent) {
  const std::string digits = std::to_string(std::abs(exponent));
  return (exponent < 0 ? "e-" : "e+") + (digits.size() < 2 ? "0" + digits : digits);
}

bool same_tensor(const Tensor& a, const Tensor& b) {
  return a.where == b.where && a.handle == b.handle && a.variable == b.variable &&
         a.index == b.index && a.unit == b.unit && a.picks == b.picks;
}

}  // namespace

Values dim_values(const Shape& shape) {
  Values dims;
  for (const Dim& dim : shape.dims()) {
    dims.push_back(make(dim));
  }
  return dims;
}

Value make_list(Values items) {
  return Value{.node = List{std::make_shared<const Values>(std::move(items))}};
}

std::string kind_of(const Value& value) {
  return match(
      value.node,  //
      [](const Nothing&) -> std::string { return "nothing"; },
      [](const Unknown&) -> std::string { return "unknown"; },
      [](bool) -> std::string { return "a bool"; },
      [](std::int64_t) -> std::string { return "an int"; },
      [](double) -> std::string { return "a float"; },
      [](const std::string&) -> std::string { return "a string"; },
      [](const Dim& dim) { return "the dim `" + dim.name + "`"; },
      [](const Shape& shape) { return "the shape " + mtf::to_string(shape); },
      [](DType) -> std::string { return "a dtype"; },
      [](const List& list) -> std::string {
        return list.items->empty() ? "an empty list" : "a list";
      },
      [](const Results& results) { return std::to_string(results.items->size()) + " values"; },
      [](const Range&) -> std::string { return "a range"; },
      [](const Function& function) {
        return (function.fn->is_model ? "the model `" : "the function `") + function.fn->name.text +
               "`";
      },
      [](const OpDef* op) { return "the operation `" + std::string(op->name) + "`"; },
      [](const HostFn* fn) { return "the function `" + std::string(fn->name) + "`"; },
      [](const std::shared_ptr<Module>& module) { return "the module `" + module->name + "`"; },
      [](const MeshRef&) -> std::string { return "a mesh"; },
      [](const LayoutRef&) -> std::string { return "a layout"; },
      [](const HardwareRef&) -> std::string { return "a hardware profile"; },
      [](const Tensor& tensor) { return "a tensor " + mtf::to_string(tensor.type); });
}

std::string bool_of_it(const Value& value) {
  const bool is_number = value.is<std::int64_t>() || value.is<double>() || value.is<Dim>();
  return is_number                 ? "; `!= 0` makes a bool of it"
         : value.is<std::string>() ? "; `!= \"\"` makes a bool of it"
         : value.is<List>()        ? "; `len(…) > 0` makes a bool of it"
                                   : "";
}

std::string to_text(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-inf" : "inf";
  }
  std::array<char, 40> buffer{};
  auto* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(number),
                                  std::chars_format::scientific)
                        .ptr;
  const std::string text(buffer.data(), end);
  const std::size_t mark = text.find('e');
  const int exponent = std::stoi(text.substr(mark + 1));
  std::string digits = text.substr(0, 1) + (mark > 2 ? text.substr(2, mark - 2) : "");
  const std::string sign = std::signbit(number) ? "-" : "";
  constexpr int kMaxFixed = 16;  // Python's bounds
  constexpr int kMinFixed = -4;
  if (exponent < kMinFixed || exponent >= kMaxFixed) {
    return sign + text.substr(0, mark) + exponent_text(exponent);
  }
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    digits += std::string(whole - digits.size() + 1, '0');
  }
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string to_string(const Value& value) {
  return match(
      value.node,  //
      [](const Nothing&) -> std::string { return "nothing"; },
      [](const Unknown&) -> std::string { return "unknown"; },
      [](bool flag) -> std::string { return flag ? "true" : "false"; },
      [](std::int64_t number) { return std::to_string(number); },
      [](double number) { return to_text(number); }, [](const std::string& text) { return text; },
      [](const Dim& dim) { return dim.name + " " + std::to_string(dim.size); },
      [](const Shape& shape) { return mtf::to_string(shape); },
      [](DType dtype) { return std::string(mtf::to_string(dtype)); },
      [](const List& list) { return "[" + joined(*list.items) + "]"; },
      [](const Results& results) { return joined(*results.items); },
      [](const Range& range) {
        return std::to_string(range.begin) + ".." + std::to_string(range.end);
      },
      [&value](const auto&) { return kind_of(value); });
}

bool equal(const Value& a, const Value& b) {
  return std::visit(
      Overloaded{
          [](const Nothing&, const Nothing&) { return true; },
          [](bool x, bool y) { return x == y; },
          [](std::int64_t x, std::int64_t y) { return x == y; },
          [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); },
          [](std::int64_t x, double y) { return static_cast<double>(x) == y; },
          [](double x, std::int64_t y) { return x == static_cast<double>(y); },
          [](const std::string& x, const std::string& y) { return x == y; },
          [](const Dim& x, const Dim& y) { return x == y; },
          [](const Dim& x, std::int64_t y) { return x.size == y; },
          [](std::int64_t x, const Dim& y) { return x == y.size; },
          [](const Shape& x, const Shape& y) { return same_dims(x, y); },
          [](DType x, DType y) { return x == y; },
          [](const List& x, const List& y) { return all_equal(*x.items, *y.items); },
          [](const Results& x, const Results& y) { return all_equal(*x.items, *y.items); },
          [](const Range& x, const Range& y) { return x.begin == y.begin && x.end == y.end; },
          [](const Function& x, const Function& y) { return x.fn == y.fn && x.scope == y.scope; },
          [](const OpDef* x, const OpDef* y) { return x == y; },
          [](const HostFn* x, const HostFn* y) { return x == y; },
          [](const std::shared_ptr<Module>& x, const std::shared_ptr<Module>& y) { return x == y; },
          [](const MeshRef& x, const MeshRef& y) { return x.index == y.index; },
          [](const LayoutRef& x, const LayoutRef& y) { return x.index == y.index; },
          [](const HardwareRef& x, const HardwareRef& y) { return x == y; },
          [](const Tensor& x, const Tensor& y) { return same_tensor(x, y); },
          [](const auto&, const auto&) { return false; }},
      a.node, b.node);
}

bool is_unknown(const Value& value) {
  return value.is<Unknown>() || any_item(value, is_unknown);
}

bool has_tensor(const Value& value) {
  return value.is<Tensor>() || any_item(value, has_tensor);
}

}  // namespace mtf::host
