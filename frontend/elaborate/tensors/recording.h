// Units under construction, each the program so far and what it reads from outside; and those that
// are built.

#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/elaborate.h"
#include "frontend/elaborate/names/scope.h"
#include "frontend/elaborate/report.h"
#include "frontend/elaborate/tensors/execution.h"
#include "frontend/elaborate/tensors/variables.h"
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

// What `params` was asked for, and what there was then.
struct VariableQuery {
  std::function<std::vector<std::shared_ptr<VariableRecord>>(const Variables&)> ask;
  std::vector<std::shared_ptr<VariableRecord>> found;
};

// How far a unit is.
struct RecordingMark {
  std::size_t values = 0;
  std::size_t inputs = 0;
  std::size_t lets = 0;
  std::size_t contracts = 0;
  std::size_t arguments = 0;
  std::vector<std::size_t> versions;  // of each variable
};

class Recording {
 public:
  Recording(UnitKind unit_kind, std::uint64_t number, std::string program_name, OpTable ops,
            std::size_t failures);

  const UnitKind kind;
  const std::uint64_t serial;
  std::unique_ptr<Unit> unit;
  DiagSink diags;  // of the builder; forwarded with the calls that led there
  Builder builder;
  const std::size_t failures_before;
  std::size_t statements = 0;  // run so far; a measure of the work in it
  bool inline_calls = false;   // a statement that differentiates: its calls are part of it
  bool of_top_level = false;   // an entry made of statements that stood there
  ValueId alive;               // in a turn of a bounded loop: whether it is to change anything
  int trips = 0;               // loops on tensors whose body is being recorded
  bool rooted = false;         // declares variables under the path of the call at top level
  std::vector<OutsideRead> reads;
  std::vector<VariableQuery> queries;

  // NOLINTNEXTLINE(readability-make-member-function-const): it hands out what may be changed
  [[nodiscard]] Program& program() { return unit->program; }
  // An input for a tensor from outside, one per tensor.
  ValueId capture(const Tensor& tensor);
  // A new input, though the tensor may be one already.
  ValueId argument(std::string name, const Tensor& tensor);
  // The variable as of now.
  ValueId read(const std::shared_ptr<VariableRecord>& variable);
  void assign(const std::shared_ptr<VariableRecord>& variable, ValueId value);
  [[nodiscard]] const std::vector<VariableUse>& variables() const { return variables_; }
  [[nodiscard]] const std::vector<TensorHandle>& arguments() const { return arguments_; }
  // Place of a handle among the arguments, if it was captured.
  [[nodiscard]] std::optional<std::size_t> slot_of(const TensorHandle& handle) const;
  // Place among the arguments of an input that is no variable.
  [[nodiscard]] std::optional<std::size_t> slot_of(ValueId input) const;
  // The tensor becomes an output of the program. requires: it was recorded here.
  void add_output(Tensor& tensor);
  [[nodiscard]] RecordingMark mark() const;
  // Forgets what was recorded since, so that it can be recorded in another way.
  void forget_since(const RecordingMark& mark);
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
  std::unordered_map<const VariableRecord*, std::size_t> places_;  // in variables_
};

// A function that was built for one signature.
struct BuiltFunction {
  std::shared_ptr<Scope> scope;
  std::vector<std::optional<Value>> arguments;  // tensors are slots
  std::vector<OutsideRead> reads;               // tensors are slots
  std::vector<VariableQuery> queries;
  std::size_t slots = 0;
  bool rooted = false;
  std::string name;    // of the call
  std::string region;  // the layout of `with layout`, or empty
  std::optional<Precision> precision;
  SourceSpan call;  // matters if rooted
  bool failed = false;
  bool runs = false;
  std::unique_ptr<Unit> unit;
  Value result;            // tensors are outputs or slots
  std::uint64_t used = 0;  // when it was called last: as much was run before it
};

// What a call made inside the unit of another function.
struct RanInside {
  std::vector<ValueId> results;
  // Of the results, once the unit is whole. Whatever else would be there alone is there as well,
  // unless a result is not used: nullopt.
  std::optional<std::vector<TensorType>> types;
};

// A statement's, by text and place.
struct StatementUnit {
  std::unique_ptr<Unit> unit;
  std::uint64_t used = 0;  // when it was run last: as so many were before it
};

class Units {
 public:
  Units(OpTable table, bool keeps_written, Execution& runs_on, Reporter& reporter);

  const OpTable ops;
  const bool as_written;  // units are not simplified
  Execution& execution;
  Reporter& report;

  std::vector<std::unique_ptr<Recording>> recordings;  // under construction, the innermost last
  std::int32_t frame = -1;                             // in the program of the innermost
  std::optional<Precision> precision;                  // of `with precision`, or `--precision`
  std::map<const ast::Fn*, std::vector<std::unique_ptr<BuiltFunction>>> built;
  std::unordered_map<std::string, StatementUnit> of_statements;
  std::set<const ast::Fn*> told_rebuilt;  // that they are, for each value of a number
  // The first call of this function is looked at, and what it made, if it ran as it would alone.
  const ast::Fn* looked_for = nullptr;
  std::optional<RanInside> inside;
  // The entry that is looked at before anyone has called it, in a session; and those that name
  // variables which are not there: later statements may make them before they call it.
  const ast::Fn* uncalled = nullptr;
  std::set<const ast::Fn*> put_off;
  std::uint64_t statements = 0;         // that were run, and calls of functions
  std::size_t most_statements = 4'096;  // that are kept, if the device can forget any

  [[nodiscard]] bool at_top_level() const { return recordings.empty(); }
  // requires: not at top level; `evaluate` opens a unit where there is none.
  [[nodiscard]] Recording& recording() const { return *recordings.back(); }
  // The body of a function, rather than tensor work of a top-level statement.
  [[nodiscard]] bool in_function() const;
  // Whether the calls of functions become units of their own.
  [[nodiscard]] bool calls_are_units() const;
  // Of the innermost, to which what is local belongs; 0 at top level.
  [[nodiscard]] std::uint64_t serial() const;
  // An error since the unit was opened: it is not to be run.
  [[nodiscard]] bool failed(const Recording& unit) const;

  Recording& open(UnitKind kind, std::string name);
  [[nodiscard]] std::unique_ptr<Recording> close();
  // A name from outside was read: the functions under construction depend on it.
  void note_read(const Scope::Found& found);
  // What the unit computes as devices take it. requires: it did not fail, and nobody adds to it.
  [[nodiscard]] Program simplified(Program program) const;
  // Moves what the builder recorded to the reporter.
  void take_diags();

 private:
  std::uint64_t next_ = 1;
};

}  // namespace mtf::host
