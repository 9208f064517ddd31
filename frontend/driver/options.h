// The command line as a value.

#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace mtf {

enum class Command : std::uint8_t {
  kRun,
  kCheck,
  kPlan,
  kCost,
  kDiff,
  kWhy,
  kCalibrate,
  kVerify,
  kOps
};
enum class Emit : std::uint8_t { kAst, kIr, kGrad, kSharded, kSpmd };
enum class ColorChoice : std::uint8_t { kAuto, kAlways, kNever };

inline constexpr int kDone = 0;
inline constexpr int kProgramError = 1;
inline constexpr int kUsageError = 2;
inline constexpr int kInternalError = 70;

struct Options {
  Command command = Command::kRun;
  std::string file;
  std::string name;   // the entry of `plan` and `why`, the operation of `ops`; may be empty
  std::string value;  // what `why` is asked of
  std::string layout;
  std::vector<std::string> layouts;  // of `diff`: two
  std::string mesh;
  std::string rules;
  std::string trace;             // the file to write; empty: none
  std::int64_t steps_begin = 0;  // that the trace has: of each entry and statement, from 0
  std::int64_t steps_end = std::numeric_limits<std::int64_t>::max();
  std::string settings;
  std::string hardware;
  std::uint64_t max_memory = 0;                                   // MiB; 0: what the machine has
  std::optional<std::chrono::steady_clock::time_point> deadline;  // `--timeout`, from its parsing
  std::int64_t rank = 0;                                          // whose coordinates a plan shows
  std::int64_t ranks = 0;  // `-n`: start so many; 0: not given
  std::uint64_t seed = 0;
  std::optional<Emit> emit;
  ColorChoice color = ColorChoice::kAuto;
  bool json = false;
  bool count = false;
  bool lint = false;
  bool strict = false;  // a warning is an error
  bool profile = false;
  bool nan_is_error = false;
  bool exact = false;  // said so; it is the default
  bool fast = false;
  bool verbose = false;
  std::vector<std::string> words;  // all but `-n N`, for the ranks that it starts
};

// What there is to do instead: text to show, and the status to end with.
struct Answer {
  std::string text;
  int status = kDone;
};

// `args` without the program's name.
[[nodiscard]] std::variant<Options, Answer> parse_options(std::span<const std::string> args);

}  // namespace mtf
