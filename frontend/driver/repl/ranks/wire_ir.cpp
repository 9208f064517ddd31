#include "frontend/driver/repl/ranks/wire_ir.h"

#include <algorithm>
#include <set>

#include "stdlib/ops/table.h"

namespace mtf::wire {
namespace {

// The name itself, for those of arguments that no parameter has ("to" of an operator).
std::string_view kept(const std::string& name) {
  static std::set<std::string> names;  // of which there are few
  return *names.insert(name).first;
}

}  // namespace

template <>
void Writer::put(const Shape& value) {
  put(std::vector<Dim>(value.dims().begin(), value.dims().end()));
}

template <>
void Reader::get(Shape& value) {
  value = Shape(take<std::vector<Dim>>());
}

template <>
void Writer::put(const Axes& value) {
  put(std::vector<AxisId>(value.begin(), value.end()));
}

template <>
void Reader::get(Axes& value) {
  const auto axes = take<std::vector<AxisId>>();
  value = Axes(axes.data(), axes.data() + axes.size());
}

template <>
void Writer::put(const OpArgs& value) {
  put(std::vector<OpArgs::Entry>(value.entries().begin(), value.entries().end()));
}

template <>
void Reader::get(OpArgs& value) {
  for (auto left = take<std::size_t>(); left > 0; --left) {
    const auto name = take<std::string>();
    value.set(kept(name), take<ArgValue>());
  }
}

template <>
void Writer::put(const OpDef* const& value) {
  put(static_cast<std::size_t>(std::ranges::find(op_table(), value) - op_table().begin()));
}

template <>
void Reader::get(const OpDef*& value) {
  const auto place = take<std::size_t>();
  value = place < op_table().size() ? op_table()[place] : nullptr;
}

}  // namespace mtf::wire
