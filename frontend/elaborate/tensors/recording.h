// A unit under construction: the program so far, and what it reads from outside.

#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/elaborate/names/scope.h"
#include "ir/builder.h"

namespace mtf::host {

enum class UnitKind : std::uint8_t {
  kStatement,  // tensor work of one top-level statement
  kFunction,   // the body of a function called at top level
  kInitial,    // the initial value of a variable: nothing may come in
};

// What a unit has made of a variable: the input, then one value per assignment.
struct VariableUse {
  std::shared_ptr<VariableRecord> variable;
  std::size_t input = 0;
  std::vector<ValueId> versions;
};

// A name from outside that the body of a function read, and what it stood for.
struct OutsideRead {
  std::shared_ptr<Scope> scope;  // keeps the binding alive
  const Binding* binding = nullptr;
  Value value;
};

class Recording {
 public:
  Recording(UnitKind unit_kind, std::uint64_t number, std::string program_name, OpTable ops);

  const UnitKind kind;
  const std::uint64_t serial;
  std::unique_ptr<Unit> unit;
  DiagSink diags;  // of the builder; forwarded with the calls that led there
  Builder builder;
  bool failed = false;
  std::size_t statements = 0;  // run so far; a measure of the work in it
  bool inline_calls = false;   // a statement that differentiates: its calls are part of it
  bool rooted = false;         // declares variables under the path of the call at top level
  std::vector<OutsideRead> reads;

  // NOLINTNEXTLINE(readability-make-member-function-const): it hands out what may be changed
  [[nodiscard]] Program& program() { return unit->program; }
  // An input for a tensor from outside, one per tensor.
  ValueId capture(const Tensor& tensor);
  // A new input, though the tensor may be one already.
  ValueId argument(std::string name, const Tensor& tensor);
  // The variable as of now.
  ValueId read(const std::shared_ptr<VariableRecord>& variable);
  void assign(const std::shared_ptr<VariableRecord>& variable, ValueId value);
  [[nodiscard]] std::vector<VariableUse>& variables() { return variables_; }
  [[nodiscard]] const std::vector<TensorHandle>& arguments() const { return arguments_; }
  // Place of a handle among the arguments, if it was captured.
  [[nodiscard]] std::optional<std::size_t> slot_of(const TensorHandle& handle) const;
  // Place among the arguments of an input that is no variable.
  [[nodiscard]] std::optional<std::size_t> slot_of(ValueId input) const;
  // The tensor becomes an output of the program. requires: it was recorded here.
  void add_output(Tensor& tensor);
  // Writes the assignments into the program.
  void finish();
  // Whether running it does anything but compute outputs.
  [[nodiscard]] bool acts() const;

 private:
  VariableUse& use(const std::shared_ptr<VariableRecord>& variable);

  std::vector<TensorHandle> arguments_;  // one per input that is no variable
  std::vector<ValueId> argument_values_;
  std::unordered_map<const DeviceTensor*, std::size_t> captured_;  // slots
  std::vector<VariableUse> variables_;
};

}  // namespace mtf::host
