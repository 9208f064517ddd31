// What the command line gives a program, by `--set` and behind `--`, and what the program asked
// for.

#pragma once

#include <set>
#include <string>
#include <vector>

namespace mtf::host {

struct Settings {
  std::vector<std::string> given;  // "data=folder", and what stood behind `--`: "--d_model=512"
  std::vector<std::string> before_dashes;  // "--layout": options that do not stand there
  std::set<std::string> asked;             // by `setting`
  std::set<std::string> options;           // declared
};

}  // namespace mtf::host
