// Whose rules a value is under: a pin's, a variable's, those of a region or of the layout.

#pragma once

#include <string>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/program.h"

namespace mtf {

struct RuleSource {
  const Layout* layout = nullptr;         // that of the region, or the one in use
  const std::string* variable = nullptr;  // the path of the variable in whose place it is, or null
  const Pin* pin = nullptr;               // its `@`, if it is for this mesh
};

class RuleSources {
 public:
  RuleSources(const Program& program, const Layout& layout);

  [[nodiscard]] RuleSource of(ValueId id) const;

 private:
  void belongs(ValueId root, const std::string& path, const Shape& shape);

  const Program& program_;
  const Layout& layout_;
  std::vector<const std::string*> variable_;  // per value
};

// The value that this one is another name of.
[[nodiscard]] ValueId root_of(const Program& program, ValueId id);

// The value's `@`, if it is for the mesh; or null.
[[nodiscard]] const Pin* pin_on(const Value& value, const Mesh& mesh);

// The rules of a pin, as the rules of a layout. requires: the pin is for the mesh.
[[nodiscard]] std::vector<Rule> rules_of(const Pin& pin, const Mesh& mesh);

}  // namespace mtf
