// The command line as a value.

#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
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
  kSearch,
  kDiff,
  kWhy,
  kCalibrate,
  kVerify,
  kOps,
  kDoctor,
  kRepl,
  kShow,
  kFmt,
  kDoc,
  kCompletion,
  kMan,
  kWatch
};
enum class Emit : std::uint8_t { kAst, kIr, kGrad, kSharded, kSpmd };
enum class ColorChoice : std::uint8_t { kAuto, kAlways, kNever };

inline constexpr int kDone = 0;
inline constexpr int kProgramError = 1;
inline constexpr int kUsageError = 2;
inline constexpr int kInternalError = 70;

// Of `search`.
struct SearchOptions {
  // That a mesh of any shape has; none: the declared one. Several of `scale` and `fit` alone.
  std::vector<std::int64_t> ranks;
  std::size_t axes = 0;            // that it may have; 0: two, or as many as are declared
  std::string mesh;                // the declared one that is meant, where there are several
  std::uint64_t memory = 0;        // bytes that a rank may hold; 0: what the hardware has
  std::string objective = "time";  // or memory, or bytes
  double budget = 10;              // seconds
  std::vector<std::string> whole;  // dims that are not to be split
  std::set<std::string> over;      // what may be varied beside rules; empty: everything
  bool write = false;              // the layout into the file
  bool plot = false;               // all candidates, on the terminal
  std::string svg;                 // … into this file
  bool fit = false;                // on as few ranks as it may
  std::string sensitivity;         // a figure of the hardware that is varied
  std::string scale;               // a dim that grows as the ranks do
  std::int64_t scale_each = 0;     // … to so much for each of them; 0: as declared
  std::string explain;             // a rule, "batch->rows"
};

struct Options {
  Command command = Command::kRun;
  std::string file;
  std::vector<std::string> files;  // of `fmt`; `-` is standard input
  std::string name;                // the entry of `plan` and `why`, the operation of `ops`, the
                                   // module of `doc`, a shell; may be empty
  std::string value;               // what `why` is asked of; of `doc`: what a file declares
  std::string html;                // the folder that `doc` writes
  std::string layout;
  std::vector<std::string> layouts;  // of `diff`: two
  std::string mesh;
  std::string rules;
  std::string script;            // that `repl` reads, with an echo
  std::string trace;             // the file to write; empty: none
  std::int64_t steps_begin = 0;  // that the trace has: of each entry and statement, from 0
  std::int64_t steps_end = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> metrics;   // files and folders that are written
  bool once = false;                  // of `watch`: draw what there is, and end
  std::string plot;                   // … into this file
  std::vector<std::string> settings;  // "data=folder", "--width=512"
  std::string precision;
  std::string hardware;
  std::uint64_t max_memory = 0;                                   // MiB; 0: what the machine has
  std::optional<std::chrono::steady_clock::time_point> deadline;  // `--timeout`, from its parsing
  std::chrono::seconds hang_timeout{0};                           // 0: none
  std::int64_t rank = 0;                                          // whose coordinates a plan shows
  std::int64_t ranks = 0;  // `-n`: start so many; 0: not given
  std::uint64_t seed = 0;
  SearchOptions search;
  std::optional<Emit> emit;
  ColorChoice color = ColorChoice::kAuto;
  std::optional<std::int64_t> marked;  // the rank whose block a picture marks
  std::string only;                    // what a plan is to show of itself; empty: everything
  std::optional<int> depth;            // and how much of it
  bool all = false;                    // repeated blocks as often as they are there
  std::optional<std::size_t> width;    // columns of the output; none: those of the terminal
  bool ascii = false;
  bool json = false;
  bool json_lines = false;  // beside `json`: an object a line, as they come
  bool count = false;
  bool lint = false;
  bool clean = false;   // of `doctor`: remove what it can
  bool check = false;   // of `fmt`: only say which files would change
  bool strict = false;  // a warning is an error
  bool profile = false;
  bool nan_is_error = false;
  bool check_nan = false;  // of everything that is computed
  bool exact = false;      // said so; it is the default
  bool fast = false;
  bool locked = false;  // no layout is searched anew
  bool verbose = false;
  std::vector<std::string> words;  // all but `-n N`, for the ranks that are started
};

// What there is to do instead: text to show, and the status to end with. Wrong usage is an object
// under `--json`, too.
struct Answer {
  std::string text;
  int status = kDone;
  bool json = false;
};

// `args` without the program's name.
[[nodiscard]] std::variant<Options, Answer> parse_options(std::span<const std::string> args);

}  // namespace mtf
