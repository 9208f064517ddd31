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
void Writer::put(const Shape& shape) {
  put(std::vector<Dim>(shape.dims().begin(), shape.dims().end()));
}

template <>
void Reader::get(Shape& shape) {
  shape = Shape(take<std::vector<Dim>>());
}

template <>
void Writer::put(const OpArgs& args) {
  put(args.entries);
}

template <>
void Reader::get(OpArgs& args) {
  for (auto left = take<std::size_t>(); left > 0; --left) {
    const auto name = take<std::string>();
    args.set(kept(name), take<ArgValue>());
  }
}

template <>
void Writer::put(const OpDef* const& op) {
  put(static_cast<std::size_t>(std::ranges::find(op_table(), op) - op_table().begin()));
}

template <>
void Reader::get(const OpDef*& op) {
  const auto place = take<std::size_t>();
  op = place < op_table().size() ? op_table()[place] : nullptr;
}

}  // namespace mtf::wire
