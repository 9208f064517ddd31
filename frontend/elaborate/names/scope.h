// Scopes: what names stand for while statements run.
//
// The resolver has checked beforehand that names are known, declared once, and assigned only where
// they may be; a scope keeps to what was declared.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "frontend/elaborate/host/value.h"

namespace mtf::host {

enum class NameKind : std::uint8_t {
  kLet,
  kVar,
  kOption,
  kParameter,
  kLoop,  // the variable of a `for`
  kDim,
  kInlineDim,  // written in place, `[length: 128]`: gives way to any other declaration
  kFunction,
  kVariable,  // param or state
  kMesh,
  kLayout,
  kModule,
};

[[nodiscard]] std::string_view to_string(NameKind kind);  // "a `let`", "a dim"

struct Binding {
  Value value;
  NameKind kind{};
  SourceSpan span;
};

class Scope : public std::enable_shared_from_this<Scope> {
 public:
  // `unit`: the unit under construction that the scope is local to; 0 at top level.
  explicit Scope(std::shared_ptr<Scope> parent = nullptr, std::uint64_t unit = 0)
      : parent_(std::move(parent)), unit_(unit) {}

  struct Found {
    Binding* binding = nullptr;
    Scope* scope = nullptr;
  };

  [[nodiscard]] Found find(std::string_view name);  // outwards; null if unknown
  [[nodiscard]] Binding* own(std::string_view name);
  void declare(std::string_view name, Binding binding);
  // As it was: who points to a binding that was there finds it at the same place.
  void restore(const std::map<std::string, Binding, std::less<>>& names);
  [[nodiscard]] std::uint64_t unit() const { return unit_; }
  [[nodiscard]] const std::map<std::string, Binding, std::less<>>& names() const { return names_; }
  [[nodiscard]] const std::shared_ptr<Scope>& parent() const { return parent_; }
  // Functions that keep this scope alive are forgotten, which ends the cycle of the two.
  void clear() { names_.clear(); }

 private:
  std::map<std::string, Binding, std::less<>> names_;
  std::shared_ptr<Scope> parent_;
  std::uint64_t unit_;
};

}  // namespace mtf::host
