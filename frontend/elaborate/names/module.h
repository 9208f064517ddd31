// Files of functions and values that another file can import.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/elaborate/names/scope.h"
#include "ir/support/source.h"

namespace mtf::host {

struct Module {
  std::string name;
  ast::File file;
  std::shared_ptr<Scope> scope;
  std::vector<std::string> members;  // what its top level declares
  std::vector<std::string> shown;    // of these, what is for who imports it
  bool is_standard = false;
  bool is_main = false;      // given to the session, not imported
  bool is_answered = false;  // its one statement is an expression, whose value is shown
  bool ran = false;
  std::string path;    // canonical, of a file
  std::string folder;  // canonical; empty: of the process
  // By statement of the file, what its imports brought; null after an error.
  std::vector<std::pair<const ast::Import*, std::shared_ptr<Module>>> imports;
};

// What a file names of others that it imports, `m.f`; not of the standard library.
using NamesOfImports = std::set<std::string, std::less<>>;

// What stands in a function that the top level of a file declares.
struct FunctionUses {
  std::set<std::string, std::less<>> functions;  // of the top level, by name; and `m.f`
  bool expects = false;                          // an `expect` is in it
};

// Those of a session.
struct Modules {
  SourceMap& sources;
  // Of the standard library: the text of one, or nullopt; and what there is, for suggestions.
  std::function<std::optional<std::string>(std::string_view)> standard_text;
  std::vector<std::string> standard_names;

  std::vector<std::unique_ptr<Module>> files;             // what the session was given, in order
  std::map<std::string, std::shared_ptr<Module>> by_key;  // by name or canonical path
  std::vector<std::string> loading;                       // chain of imports
  // As names were resolved, in every file:
  std::map<const ast::Fn*, FunctionUses> uses;
  std::map<const Module*, NamesOfImports> imported;  // outside of its functions
  std::set<std::string, std::less<>> dims;           // what may be one somewhere, reached or not
  bool reads_own_dims = false;                  // a file, without dims: the operation names them
  bool have_save = false;                       // a statement that saves
  std::set<const ast::Checkpoint*> lone_saves;  // which read nothing that their block names
};

}  // namespace mtf::host
