// What every command begins with: the program's text, its tree, and where messages go.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "frontend/ast.h"
#include "frontend/diagnostics.h"
#include "frontend/driver/options.h"
#include "frontend/elaborate.h"
#include "ir/support/diag.h"
#include "lowering/price/cost.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct Interrupted;

// How a command ends: its status, and the messages for standard error that are still to be shown.
struct Outcome {
  int status = kDone;
  std::string message;
};

// Hands on what is new in sinks: each diagnostic once, however often and in whichever sink it is
// found. (A file is read again to run it after the check, and an entry is built after its calls.)
class Messages {
 public:
  explicit Messages(const SourceMap& sources) : sources_(sources) {}

  // Ordered by place.
  [[nodiscard]] std::vector<Diag> take(const DiagSink& diags);
  [[nodiscard]] std::vector<Diag> take(std::span<const Diag> diags);

 private:
  const SourceMap& sources_;
  std::map<const DiagSink*, std::size_t> seen_;
  std::set<std::tuple<DiagKind, std::string, std::uint32_t, std::string>> taken_;
};

// What was priced before, by layout and entry.
struct KnownCosts {
  std::string program;  // and what else it was priced with, as one text
  // Null: not priced yet.
  std::shared_ptr<const Cost>& cost_of(const std::string& layout, const std::string& entry) {
    return costs[{layout, entry}];
  }
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Cost>> costs;
};

// For ElaborateOptions::search.
using FindLayout = std::function<std::optional<Layout>(const Layout&, DiagSink&)>;

struct Workspace {
  explicit Workspace(Options from_command_line);

  Options options;
  SourceMap sources;
  DiagSink diags;
  Messages messages;
  ColorMode color;
  std::vector<Diag> told;  // whose text was taken

  // What `--json` shows as one object.
  std::vector<std::string> answers;  // JSON objects of different keys
  std::vector<std::string> lines;    // that standard output would have had
  std::vector<Remark> remarks;

  // Of a session that people type; null: of a file.
  KnownCosts* known_costs = nullptr;
  bool in_session = false;  // of `mtf repl`: JSON on one line
  std::string unknown;      // a layout that is only looked at, and another one next time

  // The ranks that were started together; null: this process alone.
  Communicator* world = nullptr;
  std::map<std::string, Layout> found_layouts;  // that are `auto`, once they are searched

  // Large things that the command has no more use for. They are taken apart with the workspace,
  // which takes as long as a twentieth of a plan of 1,000 layers, or not at all where the process
  // ends.
  std::vector<std::shared_ptr<const void>> left;

  // Of a session that people type, its program, and what it has found, or finds, for layouts that
  // are `auto`; none: the program is the file of the command line.
  std::function<std::optional<ast::File>(DiagSink&)> program;
  FindLayout find_layout;
};

// Shows a text on standard output; under `--json`, its lines go into the object.
void say(Workspace& workspace, std::string_view text);
// The same for one line of the program's own, which is for reading now.
void say_line(Workspace& workspace, std::string_view line);
// Warnings, where they must not wait for the end.
void warn(Workspace& workspace, const DiagSink& diags);

// The new diagnostics of a sink as text.
[[nodiscard]] std::string take_text(Workspace& workspace, const DiagSink& diags);

// Under `--json`, prints the one object of the command: under `output` what it said, its answers,
// and under `diagnostics` what standard error would show.
void show_json(Workspace& workspace, Outcome& outcome);

[[nodiscard]] ColorMode color_mode(const Options& options);
// Whether what is written there may have colours: it is a terminal that has them, and NO_COLOR does
// not say otherwise.
[[nodiscard]] bool shows_color(int stream);

// The program of the command line; nullopt after an error, recorded in `diags`. Collective, if
// there is a world: of `-`, standard input, only the first rank has anything.
[[nodiscard]] std::optional<FileId> read_program(Workspace& workspace,
                                                 Communicator* world = nullptr);
// Its text, and why that is not a program's.
struct ProgramText {
  std::string text;
  std::string obstacle;  // empty: nothing
};
[[nodiscard]] ProgramText read_standard_input();
// Its tree, made anew at each call.
[[nodiscard]] std::optional<ast::File> parse_program(const Workspace& workspace, FileId file,
                                                     DiagSink& diags);

[[nodiscard]] ElaborateOptions elaborate_options(const Options& options);

// Without its warnings.
[[nodiscard]] std::vector<Diag> errors_of(const DiagSink& diags);

// Errors in `diags` end with status 1; their text, and that of warnings, is the message.
[[nodiscard]] Outcome outcome_of(Workspace& workspace, const DiagSink& diags);

inline constexpr const char* kUnwritten = "mtf: standard output cannot be written\n";
// Writes out what was printed; where that fails, so does the command.
void flush_output(Outcome& outcome);

// A command that needs no other ranks: started by mpirun, the first one does it alone.
[[nodiscard]] int run_alone(const Options& options, Outcome (*body)(Workspace&));

// Shows a text, to standard error with a status that is none of success, unless it is JSON.
[[nodiscard]] int show_alone(const std::string& text, int status, bool json = false);
[[nodiscard]] int show_usage_error(const std::string& text, bool json);

// "mtf: interrupted after step 3; `x.safetensors` is saved". `where`: " after step 3", or empty.
void say_interrupted(Workspace& workspace, const Interrupted& interrupted, const std::string& where,
                     Outcome& outcome);

// Runs `body`; what it throws becomes the outcome, a `Failure` as an ordinary diagnostic.
[[nodiscard]] Outcome guarded(Workspace& workspace, const std::function<Outcome()>& body);

}  // namespace mtf
