// Whose rules a value is under: a pin's, a variable's, those for what a `let` named, of a region or
// of the layout.

#pragma once

#include <string>
#include <vector>

#include "ir/layout/layout.h"
#include "ir/program.h"
#include "lowering/layout/let_blocks.h"

namespace mtf {

struct RuleSource {
  const Layout* layout = nullptr;         // that of the region, or the one in use
  const std::string* variable = nullptr;  // the path of the variable in whose place it is, or null
  const Pin* pin = nullptr;               // its `@`, if it is for this mesh
  // For what a `let` named, in whose place it is; or null.
  const LetBlocks::Blocks* blocks = nullptr;

  // Under the rules of the layout alone.
  [[nodiscard]] bool is_plain() const {
    return variable == nullptr && pin == nullptr && blocks == nullptr;
  }
};

class RuleSources {
 public:
  RuleSources(const Program& program, const Layout& layout);

  [[nodiscard]] RuleSource of(ValueId id) const;

 private:
  [[nodiscard]] const std::string* initialised() const;
  [[nodiscard]] bool has_let_blocks() const;
  [[nodiscard]] std::vector<const Layout*> layouts_of_free() const;
  void belongs(ValueId root, const std::string& path, const Shape& shape);
  [[nodiscard]] const Layout& layout_of(const Value& value) const;

  const Program& program_;
  const Layout& layout_;
  std::vector<const std::string*> variable_;  // per value
  LetBlocks lets_;
};

// The value that this one is another name of.
[[nodiscard]] ValueId root_of(const Program& program, ValueId id);

// The value's `@`, if it is for the mesh; or null.
[[nodiscard]] const Pin* pin_on(const Value& value, const Mesh& mesh);

// The rules of a pin, as the rules of a layout. requires: the pin is for the mesh.
[[nodiscard]] std::vector<Rule> rules_of(const Pin& pin, const Mesh& mesh);

}  // namespace mtf
