// Diagnostics are values: built where the problem is seen, collected in a `DiagSink`, rendered
// once by the driver. Nothing below the driver prints.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/source.h"

namespace mtf {

// Every kind is produced by at least one golden test (a lint checks it).
enum class DiagKind : std::uint8_t {
  kSyntax,
  kBadText,       // not UTF-8, NUL bytes, too large
  kNestingLimit,  // brackets, prefix operators or calls too deep
  kUnknownName,
  kUnknownDim,
  kUnknownAxis,
  kUnusedAxis,  // warning
  kUnknownLayout,
  kUnknownEntry,
  kDuplicateName,
  kShadowedDim,
  kReassignedLet,
  kDuplicateParameter,  // one path declared by two calls
  kWrongType,           // a host value of another kind than is needed
  kDtypeMismatch,
  kBadArgument,
  kMissingArgument,
  kUnknownArgument,
  kDimMissing,
  kDimSize,  // one name, two sizes
  kRepeatedDim,
  kBroadcastConflict,
  kBadReshape,
  kBadEinsum,
  kBadIndex,
  kNotDifferentiable,
  kNoGradient,      // nothing to minimize, or a value the loss does not depend on
  kLayoutConflict,  // one axis would split a tensor twice
  kIndivisible,
  kMeshSize,  // the mesh against the number of ranks
  kFile,
  kBadImport,
  kImportCycle,
  kRecursionLimit,
  kOverflow,
  kMemory,
  kDivisionByZero,
  kNotANumber,  // warning
  kAssertion,
  kExpectation,  // a clause of `expect` that does not hold
  // Warnings of `check --lint`.
  kIdleStatement,
  kUnreached,
  kUnusedRule,
  kIdleAxis,
  kReplicated,
  kGatheredTwice,
  kSlicedReduction,
  kRepeatedReshard,
  kOtherBits,
};

enum class Severity : std::uint8_t { kError, kWarning };

[[nodiscard]] std::string_view slug(DiagKind kind);  // "unknown-dim"
// Said of a layout that does not fit the program; under another the program may be whole.
[[nodiscard]] bool is_of_layout(DiagKind kind);

struct Note {
  SourceSpan span;  // without a file: the note stands alone
  std::string text;
};

struct Diag {
  DiagKind kind{};
  Severity severity = Severity::kError;
  SourceSpan span;
  std::string text;  // lower case, no full stop, user code in `backticks`
  std::vector<Note> notes;
  std::string fix;  // replacement text for the span, where one is known
};

// "in `f`, called here": one of the calls that led to the place of a Diag.
[[nodiscard]] Note call_note(std::string_view function, SourceSpan call);
// A mistake that shows inside the library was made by who called it: the innermost call from
// outside becomes the place, and where it was found a note. False: it is not inside, or nobody
// outside called it.
bool move_to_caller(Diag& diag, const std::function<bool(FileId)>& is_library);

class DiagSink {
 public:
  void error(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes = {});
  void warning(DiagKind kind, SourceSpan span, std::string text, std::vector<Note> notes = {});
  void add(Diag diag);

  [[nodiscard]] bool ok() const { return errors_ == 0; }
  [[nodiscard]] std::size_t errors() const { return errors_; }
  [[nodiscard]] std::span<const Diag> diags() const { return diags_; }

 private:
  std::vector<Diag> diags_;
  std::size_t errors_ = 0;
};

// Throw-once failures of the world (files, MPI), caught in `main`: never for what a user wrote.
struct Failure {
  Diag diag;
};

// ---- names in messages -----------------------------------------------------------------------

[[nodiscard]] std::string joined(std::span<const std::string> parts, std::string_view separator);
[[nodiscard]] std::string first_line(const std::string& text);
[[nodiscard]] std::string in_backticks(std::string_view code);  // in backticks

// Of meshes, axes, layouts: what has a `name`.
template <typename List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  names.reserve(list.size());
  for (const auto& named : list) {
    names.emplace_back(named.name);
  }
  return names;
}

// The candidates closest to `name` in spelling, each once; empty: none is close enough to suggest.
[[nodiscard]] std::vector<std::string_view> all_closest(std::string_view name,
                                                        std::span<const std::string> candidates);
// The first of them, or empty.
[[nodiscard]] std::string_view closest(std::string_view name,
                                       std::span<const std::string> candidates);
// "; did you mean `x` or `y`?", or `otherwise` when none is close enough.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string> candidates,
                                       std::string_view otherwise = "");

}  // namespace mtf
