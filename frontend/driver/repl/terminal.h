// A line editor on a terminal: the only code that sees libedit.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/driver/repl/completion.h"

namespace mtf {

struct TypedLine {
  std::string text;
  bool was_waiting = false;  // it was there before the prompt was: pasted
  bool interrupted = false;  // Ctrl-C: the line is dropped
};

class Terminal {
 public:
  // `history`: the file that keeps it; empty: none.
  Terminal(std::string history, std::function<Candidates(std::string_view)> complete);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  Terminal(Terminal&&) = delete;
  Terminal& operator=(Terminal&&) = delete;

  // nullopt: Ctrl-D, or there is no more.
  std::optional<TypedLine> read(std::string_view prompt);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace mtf
