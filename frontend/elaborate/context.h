// The state of one session: what evaluation reads and changes as it goes from statement to
// statement.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/elaborate.h"
#include "frontend/elaborate/layouts/layouts.h"
#include "frontend/elaborate/names/module.h"
#include "frontend/elaborate/report.h"
#include "frontend/elaborate/tensors/recording.h"

namespace mtf::host {

// Sets a variable and puts the old value back at the end of the scope.
template <typename T>
class Restore {
 public:
  Restore(T& variable, T value)
      : variable_(variable), old_(std::exchange(variable, std::move(value))) {}
  ~Restore() { variable_ = std::move(old_); }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;
  Restore(Restore&&) = delete;
  Restore& operator=(Restore&&) = delete;

 private:
  T& variable_;
  T old_;
};

// Whose variables are declared: a model or another entry, an optimizer for one param, or a call at
// top level. Within one run of its body each path is declared once.
struct Root {
  const ast::Fn* owner = nullptr;              // null for a call at top level
  SourceSpan call;                             // at top level
  bool is_named = true;                        // false: a call at top level without `as`
  SourceSpan as;                               // a name given to a call of what owns its variables
  std::map<std::string, SourceSpan> declared;  // path to the call that declared it
  bool is_refused = false;                     // an error was reported; nothing can be declared
};

// A function that was built for one signature.
struct BuiltFunction {
  std::shared_ptr<Scope> scope;
  std::vector<std::optional<Value>> arguments;  // tensors are slots
  std::vector<OutsideRead> reads;               // tensors are slots
  std::size_t slots = 0;
  bool rooted = false;
  std::string name;    // of the call
  std::string region;  // the layout of `with layout`, or empty
  SourceSpan call;     // matters if rooted
  bool failed = false;
  bool runs = false;
  std::unique_ptr<Unit> unit;
  Value result;  // tensors are outputs or slots
};

struct Context {
  Context(ElaborateOptions session_options, SourceMap& source_map, Device& on, DiagSink& diags);

  ElaborateOptions options;
  SourceMap& sources;
  Device& device;
  Reporter report;
  Layouts layouts;

  // Where evaluation stands.
  std::shared_ptr<Scope> scope;
  std::vector<std::unique_ptr<Recording>> recordings;
  std::int32_t frame = -1;  // in the program under construction
  Root* root = nullptr;
  std::string path;                  // of the variables declared here
  std::string call_name;             // what the value of the next call is bound to
  const TensorType* fill = nullptr;  // the type of the variable whose initial value this is
  Value result;                      // of the `return` that was reached
  std::size_t statements = 0;
  bool may_leave = false;  // a check does not know whether a `break` or `continue` is reached
  bool dry = false;        // after an error in a run: checks on, computes nothing
  bool ended = false;      // what went on for long enough
  const char* stack_base = nullptr;

  // What exists.
  std::map<std::string, std::shared_ptr<VariableRecord>, std::less<>> variables;  // by path
  std::map<const ast::Fn*, std::vector<std::unique_ptr<BuiltFunction>>> built;
  std::unordered_map<std::string, std::unique_ptr<Unit>> statement_units;  // by text and place
  std::vector<std::unique_ptr<Module>> files;              // what the session was given, in order
  std::map<std::string, std::shared_ptr<Module>> modules;  // by name or canonical path
  std::vector<std::string> loading;                        // chain of imports
  std::set<std::string> settings_asked;
  std::vector<Contract> contracts;             // of top level, on entries
  std::map<std::string, DType> written;        // files, by a check that writes none
  std::set<std::string> dim_names;             // every dim a tensor may have
  std::vector<std::weak_ptr<Scope>> closures;  // scopes that functions keep alive
  std::uint64_t next_unit = 1;

  [[nodiscard]] bool at_top_level() const { return recordings.empty(); }
  // requires: not at top level; `evaluate` opens a unit where there is none.
  [[nodiscard]] Recording& recording() { return *recordings.back(); }
  // The body of a function, rather than tensor work of a top-level statement.
  [[nodiscard]] bool in_function() const;
  // Whether the calls of functions become units of their own.
  [[nodiscard]] bool calls_are_units() const;
  // Nothing that is computed now has a value that could be read.
  [[nodiscard]] bool checks_only() const { return options.check || dry; }

  Recording& open(UnitKind kind, std::string name);
  [[nodiscard]] std::unique_ptr<Recording> close();
  // Reports, and marks the unit under construction as not to be run.
  void error(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes = {},
             std::string fix = {});
  void fail();
  // Work as of so many statements is about to be done. False: there has been enough of it, which is
  // an error in a function and in time, and the quiet end of a check.
  [[nodiscard]] bool may_go_on(SourceSpan span, std::size_t work = 1);
  // Moves what the builder recorded to the reporter.
  void take_diags();
};

}  // namespace mtf::host
