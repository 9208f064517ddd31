// What a session and its ranks say to each other.

#pragma once

#include "frontend/driver/repl/ranks/wire_ir.h"

namespace mtf::wire {

// ---- to the ranks ----------------------------------------------------------------------------

struct Start {  // with nothing held
  bool exact = true;
  bool nan_is_error = false;
  std::uint64_t seed = 0;
  std::uint64_t max_memory = 0;
};
struct Use {
  Layout layout;
};
struct Declare {
  Variable variable;
};
struct AddUnit {
  std::uint64_t unit = 0;
  Program program;
  bool is_entry = false;
};
struct Run {
  std::uint64_t unit = 0;
  std::vector<std::uint64_t> arguments;
  std::uint64_t first_result = 0;
};
struct Print {
  std::uint64_t tensor = 0;
  NumberFormat numbers;
};
struct Tell {  // all of its elements
  std::uint64_t tensor = 0;
};
enum class Plainly : std::uint8_t { kBegin, kUndo, kTellState };
struct SwitchTo {
  Layout layout;
  HeldLayouts wanted;
};
struct Release {
  std::vector<std::uint64_t> tensors;
};
struct Read {
  std::uint64_t tensor = 0;
};
struct ReadVariable {
  std::string path;
};
struct TakeOver {
  HeldState state;
};
struct Hold {
  std::uint64_t tensor = 0;
  HeldTensor slices;  // of the rank that is told so
};
struct HoldVariable {
  std::string path;
  HeldTensor slices;
};

using Request =
    std::variant<Start, Use, Declare, AddUnit, Run, Print, Tell, Plainly, SwitchTo, Release, Read,
                 ReadVariable, TakeOver, Hold, HoldVariable, SaveRequest, RestoreRequest>;

// ---- from a rank -----------------------------------------------------------------------------

struct Hello {
  std::int64_t rank = 0;
  std::int64_t process = 0;
};
struct Line {  // of the program's output; from the first rank
  std::string text;
};
struct Result {
  TensorType type;
  std::optional<double> number;  // of a scalar
};
// To the last request of those that came together.
struct Reply {
  bool done = true;     // if not, `diags` say why
  bool thrown = false;  // it was not the program's mistake: other ranks may be elsewhere
  std::vector<Diag> diags;
  std::vector<Result> results;
  std::string text;
  std::vector<std::byte> whole;
  HeldTensor tensor;
  HeldState state;
};

using Answer = std::variant<Hello, Line, Reply>;

template <>
inline constexpr int kMembers<Start> = 4;
template <>
inline constexpr int kMembers<Use> = 1;
template <>
inline constexpr int kMembers<Declare> = 1;
template <>
inline constexpr int kMembers<AddUnit> = 3;
template <>
inline constexpr int kMembers<Run> = 3;
template <>
inline constexpr int kMembers<Print> = 2;
template <>
inline constexpr int kMembers<Tell> = 1;
template <>
inline constexpr int kMembers<SwitchTo> = 2;
template <>
inline constexpr int kMembers<Release> = 1;
template <>
inline constexpr int kMembers<Read> = 1;
template <>
inline constexpr int kMembers<ReadVariable> = 1;
template <>
inline constexpr int kMembers<TakeOver> = 1;
template <>
inline constexpr int kMembers<Hold> = 2;
template <>
inline constexpr int kMembers<HoldVariable> = 2;
template <>
inline constexpr int kMembers<Hello> = 2;
template <>
inline constexpr int kMembers<Line> = 1;
template <>
inline constexpr int kMembers<Result> = 2;
template <>
inline constexpr int kMembers<Reply> = 8;

}  // namespace mtf::wire
