// Errors with the calls that led to them, each place reported once.
//
// A loop that runs into the same error a thousand times says it once; and what follows from an
// error is `Unknown`, which nobody complains about.

#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/support/diag.h"

namespace mtf::host {

struct CallFrame {
  std::string function;
  SourceSpan call;  // without a file: an entry that is built and not called
  std::vector<std::pair<std::string, SourceSpan>> dims = {};  // among its arguments
  std::uint64_t number = 0;                                   // of all calls, in order
};

class Reporter {
 public:
  explicit Reporter(DiagSink& sink) : sink_(sink) {}

  void error(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes = {},
             std::string fix = {});
  void warning(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes = {});
  // Nothing more of this kind is said at this place: it was told elsewhere.
  void leave_out(DiagKind kind, SourceSpan span);
  // Nothing more is said of dims of this name, which was told to be missing.
  void leave_out_dim(std::string_view name) { missing_.emplace(name); }
  [[nodiscard]] bool is_missing(std::string_view name) const { return missing_.contains(name); }
  [[nodiscard]] bool misses_names() const { return !missing_.empty(); }
  // Which of its declarations a name means is not known; one of them was told.
  void leave_out_declared(const std::string& name) { declared_twice_.insert(name); }
  [[nodiscard]] bool is_declared_twice(std::string_view name) const {
    return declared_twice_.contains(name);
  }
  // What someone else recorded, an operation's rule or the device: with the calls, where
  // `with_calls`, as theirs end at the unit's border.
  void forward(const DiagSink& from, bool with_calls);

  // What is wrong there is told at the call that led into it.
  void is_library(FileId file) { library_.insert(file.index); }

  // An error that was reported where this program does not see it.
  void fail() { ++failures_; }
  // Errors so far, whether or not they were new to the sink.
  [[nodiscard]] std::size_t failures() const { return failures_; }
  // How many places something was said of.
  [[nodiscard]] std::size_t told() const { return told_.size(); }
  // Statements were taken back, before which there were so many: what is wrong there is said again.
  void forget_since(std::size_t told);
  // Whether a function is one of those that an error already tells to call each other without end;
  // if not, it and all that is being called now are from here on.
  [[nodiscard]] bool was_too_deep(const std::string& function);
  [[nodiscard]] DiagSink& sink() { return sink_; }

  std::vector<CallFrame> calls;  // outermost first
  std::uint64_t calls_begun = 0;
  // They went too deep: until the outermost one has ended, no other is made. Each of so many would
  // go as deep again.
  bool is_too_deep = false;

 private:
  // By kind, place and rule of a layout; by their text where they have no place.
  using Place =
      std::tuple<DiagKind, std::int32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::string>;

  // False: it has been.
  bool tell_of(Place place);
  void add(Diag diag);
  void add_calls(Diag& diag) const;
  [[nodiscard]] SourceSpan argument_meant(SourceSpan call, const std::string& text) const;

  DiagSink& sink_;
  std::set<Place> seen_;
  std::vector<std::set<Place>::const_iterator> told_;  // in order
  std::set<std::int32_t> library_;                     // files
  std::set<std::string, std::less<>> declared_twice_;
  std::set<std::string, std::less<>> missing_;
  std::set<std::string> too_deep_;
  std::size_t failures_ = 0;
};

// "; did you mean `x`?", or nothing; with the replacement for Diag::fix.
struct Suggestion {
  std::string text;
  std::string fix;
};

[[nodiscard]] Suggestion suggest(std::string_view name, std::span<const std::string> candidates);

// "`a`, `b` and `c`"
[[nodiscard]] std::string quoted_list(std::span<const std::string> names);
// "; there is `a` and `b`", or "; there is none"
[[nodiscard]] std::string there_is(std::span<const std::string> names);

}  // namespace mtf::host
