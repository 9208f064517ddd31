// The names that a program has given by now.

#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/elaborate/names/scope.h"

namespace mtf::host {

struct Names {
  std::shared_ptr<Scope> scope;                // where evaluation stands
  std::set<std::string> dims;                  // every dim a tensor may have
  std::set<std::string> lets;                  // what `let`s named, behind the paths of their calls
  std::vector<std::weak_ptr<Scope>> closures;  // scopes that functions keep alive
  const ast::Call* paired = nullptr;           // the call that several names are bound to
  bool are_cut_short = false;  // a check did not come to all statements that give names values
};

}  // namespace mtf::host
