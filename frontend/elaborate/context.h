// The state of one session, in parts: what evaluation reads and changes as it goes from statement
// to statement.
//
// What evaluates expressions may reach all of it and takes the whole; everything else takes the
// parts that it works on.

#pragma once

#include <utility>
#include <vector>

#include "frontend/elaborate/host/settings.h"
#include "frontend/elaborate/layouts/layouts.h"
#include "frontend/elaborate/limits.h"
#include "frontend/elaborate/names/module.h"
#include "frontend/elaborate/names/names.h"
#include "frontend/elaborate/report.h"
#include "frontend/elaborate/tensors/execution.h"
#include "frontend/elaborate/tensors/recording.h"
#include "frontend/elaborate/tensors/variables.h"

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

// What the statements of a body have come to.
struct Control {
  Value result;                               // of the `return` that was reached
  std::vector<SourceSpan> returned;           // what stands in it
  std::optional<Precision> returned_in = {};  // that of the block it stands in
  // That the function running now gives itself, and what its names stand for.
  const ast::Gradient* gradient = nullptr;
  std::shared_ptr<Scope> gradient_scope = {};
  std::uint64_t stops = 0;  // how often an `assert` has ended a function, and its callers with it
  bool may_leave = false;   // a check does not know whether a `break` or `continue` is reached
};

struct Context {
  Context(const ElaborateOptions& options, SourceMap& sources, Device& device, DiagSink& diags);

  Reporter report;
  Execution execution;
  Limits limits;
  Names names;
  Modules modules;
  Units units;
  Variables variables;
  Layouts layouts;
  Settings settings;
  Control control;
  std::vector<Contract> contracts;  // of top level, on entries
};

}  // namespace mtf::host
