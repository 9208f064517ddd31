// The two sessions that follow a script: one that plans, and one that runs when it must.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/driver/options.h"
#include "frontend/driver/repl/plan_device.h"
#include "frontend/driver/repl/ranks/session_device.h"
#include "frontend/driver/repl/script/script.h"
#include "frontend/driver/search/automatic.h"
#include "frontend/elaborate/context.h"

namespace mtf {

// Where a session was before a statement.
struct PlannedState {
  std::shared_ptr<const host::Saved> session;
  HeldLayouts held;
  Layout layout;
};

// As of ElaborateOptions.
struct AutoLayouts {
  FindLayout search;
  std::function<bool(const Layout&)> puts_off;
};

// Everything that was accepted, planned under the layout in use.
class PlannedSession {
 public:
  PlannedSession(const Options& options, SourceMap& sources, const AutoLayouts& layouts);

  // Errors are in `diags()`, and false is returned.
  bool run(ast::File file);
  // The value of the one expression of the file.
  host::Value evaluate(ast::File file);

  [[nodiscard]] PlannedState save() const;
  void restore(PlannedState state);

  [[nodiscard]] DiagSink& diags() { return diags_; }
  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] PlanDevice& device() { return device_; }
  [[nodiscard]] const host::Context& context() const { return session_.context(); }
  // What a name stands for; null if for nothing.
  [[nodiscard]] const host::Value* value(std::string_view name) const;

 private:
  DiagSink diags_;
  PlanDevice device_;
  Session session_;
};

using Print = std::function<void(std::string_view)>;

// Runs on the mesh what has to be run: simulated in this process, or on ranks of their own.
class RunningSession {
 public:
  // `find`: what was found for them. `workers`: null for none.
  RunningSession(const Options& options, SourceMap& sources, const FindLayout& find, Print print,
                 Workers* workers);

  // The statements of a program that ran before, or of which nothing is to be shown.
  bool replay(ast::File file);
  // One statement more: wholly, or not at all.
  bool run(ast::File file);
  // Goes on as `planned` lays things out, if that is on the same mesh and nothing that was built
  // depends on it. False: it has to begin anew.
  bool switch_to(PlannedSession& planned);
  // Goes on there; null: in this process. The bytes that moved.
  std::int64_t move_to(Workers* workers) { return device_->move_to(workers); }
  // Of tensors: what is bound, and the paths of variables.
  [[nodiscard]] std::vector<std::string> held() const;

  [[nodiscard]] DiagSink& diags() { return diags_; }
  [[nodiscard]] const host::Context& context() const { return session_->context(); }

 private:
  DiagSink diags_;
  Print print_;
  bool quiet_ = false;
  Interruption interruption_;
  std::unique_ptr<SessionDevice> device_;
  std::unique_ptr<Session> session_;
};

}  // namespace mtf
