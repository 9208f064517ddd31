// The variables of a program, by path, and whose they are.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "frontend/ast.h"
#include "frontend/elaborate.h"
#include "frontend/elaborate/host/value.h"

namespace mtf::host {

// Whose variables are declared: a model or another entry, an optimizer for one param, or a call at
// top level. Within one run of its body each path is declared once.
struct DeclaredBy {
  SourceSpan call;
  std::uint64_t number = 0;  // of the call, among all
  SourceSpan name;           // in the declaration
};

using Declared = std::map<std::string, DeclaredBy>;  // by path

struct Root {
  const ast::Fn* owner = nullptr;  // null for a call at top level
  bool is_placed = false;          // below a path that is given, whoever calls
  SourceSpan call;                 // at top level
  bool is_named = true;            // false: a call at top level without `as`
  SourceSpan as;                   // a name given to a call of what owns its variables
  Declared declared;
  bool is_refused = false;  // an error was reported; nothing can be declared
};

// One position of a dim of `each`, which may differ along others.
struct Picked {
  Dim dim;
  Value at;
};

// What is seen of a variable, in the precision in which it was declared.
struct Picks {
  std::vector<Picked> picked;
  std::optional<Precision> precision;
};

struct Variables {
  std::map<std::string, std::shared_ptr<VariableRecord>, std::less<>> by_path;

  std::set<const ast::Fn*> called;  // functions, whether or not that failed

  // Of what is declared here.
  Root* root = nullptr;
  std::string path;
  std::string call_name;                     // what the value of the next call is bound to
  Shape stacked;                             // what `each` adds to the dims of each
  std::vector<Picked> picked;                // and which of its positions are read and assigned
  const TensorType* initial_type = nullptr;  // of the variable whose initial value this is
};

// A variable under a name. `lasting`: it stays one in a list that is bound.
[[nodiscard]] Value variable_value(const std::shared_ptr<VariableRecord>& record,
                                   const std::string& name, bool lasting = false);

}  // namespace mtf::host
