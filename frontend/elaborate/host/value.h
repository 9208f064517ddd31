// Host values: what expressions evaluate to while a program is being built.
//
// A tensor is one of them, but what a host value holds is only where its elements are or will be.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "frontend/ast.h"
#include "frontend/device.h"
#include "ir/layout/hardware.h"

namespace mtf::host {

struct Value;
class Scope;
struct Module;
struct HostFn;
struct Picks;

using Values = std::vector<Value>;

struct Nothing {};

// The result of an error, or what a check cannot know. All that is computed from it is unknown too,
// without another message.
struct Unknown {};

struct List {
  std::shared_ptr<const Values> items;  // never null
};

// What `return a, b` gives.
struct Results {
  std::shared_ptr<const Values> items;
};

struct Range {  // 0..n
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// A function and the scope it was written in.
struct Function {
  const ast::Fn* fn = nullptr;
  std::shared_ptr<Scope> scope;
};

struct MeshRef {
  std::size_t index = 0;
};

struct LayoutRef {
  std::size_t index = 0;
};

using HardwareRef = std::shared_ptr<const Hardware>;

// A param or state that exists; `mtf::Variable` is what the device knows of it.
struct VariableRecord {
  mtf::Variable variable;
  std::size_t ordinal = 0;  // in order of declaration
  const void* owner = nullptr;
  SourceSpan root;  // the call at top level under which it was declared, if nobody owns it
  SourceSpan call;  // the call that declared it
};

enum class Where : std::uint8_t {
  kHandle,    // held by the device
  kRecorded,  // a value of the unit under construction
  kVariable,  // a param or state, read where it is used
  kSlot,      // in a signature: stands for any tensor of the type
  kOutput,    // in the result of a finished unit
};

struct Tensor {
  Where where = Where::kHandle;
  TensorType type;
  TensorHandle handle;
  std::shared_ptr<VariableRecord> variable;
  std::int32_t index = -1;  // of the value, slot or output
  std::uint64_t unit = 0;   // the unit that a recorded value belongs to
  std::string name;         // as the user bound it
  bool whole = false;       // whole numbers, written without a dtype: i32 where one is needed
  bool lasting = false;     // a variable that stays one in a list that is bound: of `params`
  // Of a `var` that a loop hands on as i32, because it began as an int: where it is declared.
  SourceSpan whole_since = {};
  // Of a variable: the positions of it that `each` picked, which are all that is seen of it.
  std::shared_ptr<const Picks> picks = {};
};

// Its special members are out of line: made anew in every file, they were a third of the build.
struct ValueNode
    : std::variant<Nothing, Unknown, bool, std::int64_t, double, std::string, Dim, Shape, DType,
                   List, Results, Range, Function, const OpDef*, const HostFn*,
                   std::shared_ptr<Module>, MeshRef, LayoutRef, HardwareRef, Tensor> {
  using variant::variant;
  ValueNode();
  ValueNode(const ValueNode& other);
  ValueNode(ValueNode&& other) noexcept;
  ValueNode& operator=(const ValueNode& other);
  ValueNode& operator=(ValueNode&& other) noexcept;
  ~ValueNode();
};

struct Value {
  ValueNode node;

  template <typename T>
  [[nodiscard]] const T* get() const {
    return std::get_if<T>(&node);
  }
  template <typename T>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<T>(node);
  }
};

template <typename T>
[[nodiscard]] Value make(T value) {
  return Value{.node = std::move(value)};
}
[[nodiscard]] inline Value unknown() {
  return Value{.node = Unknown{}};
}
[[nodiscard]] inline Value nothing() {
  return Value{.node = Nothing{}};
}
[[nodiscard]] Value make_list(Values items);
[[nodiscard]] Values dim_values(const Shape& shape);  // its dims

// "an int", "a tensor f32[batch 8]": what a message says of the value.
[[nodiscard]] std::string kind_of(const Value& value);
// "; …": what makes a bool of such a value, or nothing.
[[nodiscard]] std::string bool_of_it(const Value& value);
// As `print` shows it; tensors are the caller's.
[[nodiscard]] std::string to_string(const Value& value);
// The shortest text that reads back as the same number, in Python's form: 0.1, 1.0, 1e-07.
[[nodiscard]] std::string to_text(double number);

// Of values on the host; functions by identity, shapes whatever their order.
[[nodiscard]] bool equal(const Value& a, const Value& b);

[[nodiscard]] bool is_unknown(const Value& value);  // or holds something unknown
[[nodiscard]] bool has_tensor(const Value& value);  // or is one

// Beyond, a program that doubles a text or a list in a loop would only fill the memory.
inline constexpr std::size_t kMaxText = std::size_t{1} << 24U;
inline constexpr std::size_t kMaxItems = std::size_t{1} << 20U;

// Calls `f(Tensor&)` for each tensor in a value, and gives the value with what `f` made of them.
template <typename F>
[[nodiscard]] Value map_tensors(Value value, F&& f) {
  if (auto* tensor = std::get_if<Tensor>(&value.node)) {
    f(*tensor);
    return value;
  }
  const auto map_items = [&f](const std::shared_ptr<const Values>& items) {
    Values mapped;
    mapped.reserve(items->size());
    for (const Value& item : *items) {
      mapped.push_back(map_tensors(item, f));
    }
    return std::make_shared<const Values>(std::move(mapped));
  };
  if (auto* list = std::get_if<List>(&value.node); list != nullptr && has_tensor(value)) {
    list->items = map_items(list->items);
  } else if (auto* results = std::get_if<Results>(&value.node);
             results != nullptr && has_tensor(value)) {
    results->items = map_items(results->items);
  }
  return value;
}

}  // namespace mtf::host
