// What `--set` gives a program, and what the program asked for.

#pragma once

#include <set>
#include <string>

namespace mtf::host {

struct Settings {
  std::string given;  // "data=folder,size=large"
  std::set<std::string> asked;
};

}  // namespace mtf::host
