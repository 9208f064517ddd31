// A file of functions and values that another file can import.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/elaborate/names/scope.h"

namespace mtf::host {

struct Module {
  std::string name;
  ast::File file;
  std::shared_ptr<Scope> scope;
  std::vector<std::string> members;  // what its top level declares
  bool is_standard = false;
  bool is_main = false;  // given to the session, not imported
  bool ran = false;
  std::string path;    // canonical, of a file
  std::string folder;  // canonical; empty: of the process
  // By statement of the file, what its imports brought; null after an error.
  std::vector<std::pair<const ast::Import*, std::shared_ptr<Module>>> imports;
};

}  // namespace mtf::host
