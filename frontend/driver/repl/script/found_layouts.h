// What was found for the layouts of a session that are `auto`, and for how long it holds: a layout
// that a person works with does not change because something is added.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/driver/repl/script/script.h"
#include "ir/layout/layout.h"

namespace mtf {

class FoundLayouts {
 public:
  // For a layout as it is declared, in a program that still has all that it was searched for: each
  // dim, function and import. nullopt: it is to be searched.
  [[nodiscard]] std::optional<Layout> find(const Layout& declared,
                                           std::span<const Statement> program) const;
  void add(const Layout& declared, std::span<const Statement> program, Layout answer);

 private:
  struct Found {
    SourceSpan declared;
    std::string mesh;  // with its sizes
    std::vector<SourceSpan> searched_for;
    Layout answer;
  };
  std::vector<Found> found_;
};

}  // namespace mtf
