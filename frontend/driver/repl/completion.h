// What may stand where the cursor is.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mtf {

class Repl;

struct Candidate {
  std::string text;
  std::string says;  // its type, or what it does
};

// `line`: up to the cursor. `word`: how much of its end a candidate takes the place of.
struct Candidates {
  std::size_t word = 0;
  std::vector<Candidate> list;  // in alphabetical order
};

[[nodiscard]] Candidates candidates(Repl& repl, std::string_view line);

}  // namespace mtf
