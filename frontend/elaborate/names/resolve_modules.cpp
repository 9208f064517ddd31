// Of a name that is unknown: whether a module is called so, or has it.

#include <algorithm>

#include "frontend/elaborate/names/elsewhere.h"
#include "frontend/elaborate/names/modules.h"
#include "frontend/elaborate/names/resolver.h"

namespace mtf::host {
namespace {

bool declares_dim(const ast::File& file, std::string_view name) {
  return std::ranges::any_of(file.statements, [name](const ast::Stmt& statement) {
    const auto* dims = std::get_if<ast::Dims>(&statement.node);
    return dims != nullptr && std::ranges::any_of(dims->dims, [name](const ast::Sized& dim) {
             return dim.name.text == name;
           });
  });
}

}  // namespace

// In one that the file imports; `is_dim`: as one of its dims.
std::string Resolver::in_imported(std::string_view name, bool is_dim) const {
  for (const auto& [import, module] : module_.imports) {
    const bool is_member = module != nullptr && std::ranges::count(module->members, name) > 0;
    if (is_member && (!is_dim || declares_dim(module->file, name))) {
      return "; the module `" + name_of(*import).text + "` has it: `" + name_of(*import).text +
             "." + std::string(name) + "`";
    }
  }
  return {};
}

// Or the name of one.
std::string Resolver::in_module(std::string_view name) const {
  for (const auto& [import, module] : module_.imports) {
    if (module != nullptr && !import->is_file && import->module.text == name) {
      return "; the module is imported as `" + name_of(*import).text + "`";
    }
  }
  if (std::ranges::find(c_.modules.standard_names, name) != c_.modules.standard_names.end()) {
    return "; `import " + std::string(name) + "` makes the module known";
  }
  if (std::string found = in_imported(name, /*is_dim=*/false); !found.empty()) {
    return found;
  }
  for (const std::string& module : c_.modules.standard_names) {
    const std::vector<std::string> members = standard_names(c_, module);
    if (std::ranges::find(members, name) != members.end()) {
      return "; the module `" + module + "` has it: `import " + module + "`, then `" + module +
             "." + std::string(name) + "`";
    }
  }
  return {};
}

// Of names in standard modules, one that others call so, as `dense` of nn for `Linear`, or that has
// `name` among its words: `softmax_cross_entropy` for `cross_entropy`.
std::string Resolver::alike_in_module(std::string_view name) const {
  for (const std::string& module : c_.modules.standard_names) {
    const std::vector<std::string> members = standard_names(c_, module);
    if (const std::string_view alike = member_called(name, members); !alike.empty()) {
      return "; the module `" + module + "` has `" + std::string(alike) + "`";
    }
  }
  const std::string part = "_" + std::string(name) + "_";
  for (const std::string& module : c_.modules.standard_names) {
    const std::vector<std::string> members = standard_names(c_, module);
    const auto longer = std::ranges::find_if(members, [&part](const std::string& member) {
      return ("_" + member + "_").find(part) != std::string::npos;
    });
    if (longer != members.end()) {
      return "; the module `" + module + "` has `" + *longer + "`";
    }
  }
  return {};
}

}  // namespace mtf::host
