// Lookup of names.

#include "frontend/elaborate/names/scope.h"

namespace mtf::host {

std::string_view to_string(NameKind kind) {
  switch (kind) {
    case NameKind::kLet:
      return "a `let`";
    case NameKind::kVar:
      return "a `var`";
    case NameKind::kOption:
      return "an option";
    case NameKind::kParameter:
      return "a parameter";
    case NameKind::kLoop:
      return "the variable of a `for`";
    case NameKind::kDim:
    case NameKind::kInlineDim:
      return "a dim";
    case NameKind::kFunction:
      return "a function";
    case NameKind::kVariable:
      return "a param or state";
    case NameKind::kMesh:
      return "a mesh";
    case NameKind::kLayout:
      return "a layout";
    case NameKind::kModule:
      return "a module";
  }
  return "";
}

Scope::Found Scope::find(std::string_view name) {
  for (Scope* scope = this; scope != nullptr; scope = scope->parent_.get()) {
    if (Binding* binding = scope->own(name)) {
      return {.binding = binding, .scope = scope};
    }
  }
  return {};
}

Binding* Scope::own(std::string_view name) {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &found->second;
}

void Scope::declare(std::string_view name, Binding binding) {
  names_.insert_or_assign(std::string(name), std::move(binding));
}

void Scope::restore(const std::map<std::string, Binding, std::less<>>& names) {
  std::erase_if(names_, [&names](const auto& entry) { return !names.contains(entry.first); });
  for (const auto& [name, binding] : names) {
    names_.insert_or_assign(name, binding);
  }
}

}  // namespace mtf::host
