// What a session holds.

#pragma once

#include <memory>

#include "frontend/elaborate/context.h"

namespace mtf {

struct Session::State {
  State(ElaborateOptions session_options, SourceMap& sources, Device& device, DiagSink& diags);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;

  const ElaborateOptions options;
  host::Context context;
  std::shared_ptr<host::Scope> scope;  // the top level of all its files
  // Of statements that were taken back: a device knows units by their addresses.
  std::vector<std::unique_ptr<host::BuiltFunction>> undone;

  EntryCheck entry_check = EntryCheck::kAll;

  host::Module& add(ast::File file);
};

}  // namespace mtf
