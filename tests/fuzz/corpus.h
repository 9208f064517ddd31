// The programs that are mutated: all of the tree, and those that its pages show.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fuzz {

struct Seed {
  std::string name;              // its path in the tree
  std::filesystem::path folder;  // relative: where it is run, so that its imports are found
  std::string text;
  std::vector<std::vector<std::string>> args;  // of a golden, without the file
  bool is_right = false;                       // nothing is wrong with it
};

// In an order that does not depend on the file system.
[[nodiscard]] std::vector<Seed> read_corpus(const std::filesystem::path& root);

// What the seeds import or read, copied to `scratch`.
void copy_tree(const std::filesystem::path& root, const std::filesystem::path& scratch);

}  // namespace fuzz
