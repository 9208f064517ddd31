// The commands. Each returns the status to exit with.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "frontend/driver/options.h"

namespace mtf {

struct Outcome;
class Session;
struct Layout;
struct Workspace;

// What `mtf` does, with the words behind its name.
[[nodiscard]] int command_line(std::span<const std::string> words);

[[nodiscard]] int run_command(const Options& options);
[[nodiscard]] int check_command(const Options& options);
[[nodiscard]] int plan_command(const Options& options);
[[nodiscard]] int cost_command(const Options& options);
[[nodiscard]] int search_command(const Options& options);
[[nodiscard]] int calibrate_command(const Options& options);
[[nodiscard]] int diff_command(const Options& options);
[[nodiscard]] int why_command(const Options& options);
[[nodiscard]] int verify_command(const Options& options);
[[nodiscard]] int ops_command(const Options& options);
[[nodiscard]] int doctor_command(const Options& options);
[[nodiscard]] int repl_command(const Options& options);
[[nodiscard]] int show_command(const Options& options);
[[nodiscard]] int doc_command(const Options& options);
[[nodiscard]] int fmt_command(const Options& options);
[[nodiscard]] int completion_command(const Options& options);
[[nodiscard]] int watch_command(const Options& options);

// What some of them do with the program at hand; a session of `mtf repl` calls them, too.
[[nodiscard]] Outcome check_outcome(Workspace& workspace);
[[nodiscard]] Outcome plan_outcome(Workspace& workspace);
[[nodiscard]] Outcome cost_outcome(Workspace& workspace);
// `take`: of a session, which is no file, what is done with the layout's name and its declaration.
[[nodiscard]] Outcome search_outcome(
    Workspace& workspace,
    const std::function<void(const std::string& name, const std::string& text)>& take = {});
[[nodiscard]] Outcome diff_outcome(Workspace& workspace);
// Of a session as it is and under another layout, `to`. requires: nothing that it has built follows
// the layout.
[[nodiscard]] Outcome what_if_outcome(Workspace& workspace, Session& session, const Layout& to);
[[nodiscard]] Outcome why_outcome(Workspace& workspace);
[[nodiscard]] Outcome show_outcome(Workspace& workspace);
[[nodiscard]] Outcome verify_outcome(Workspace& workspace);

// Columns of the terminal; none where the output goes elsewhere.
[[nodiscard]] std::optional<std::size_t> terminal_columns();
[[nodiscard]] std::optional<std::size_t> terminal_rows();
// The same; 80 where the output goes elsewhere.
[[nodiscard]] std::size_t output_columns();
// Whether the terminal knows colours, and how to erase a line: TERM names one, which is not dumb.
[[nodiscard]] bool knows_escapes();
// Whether the output may have colours: it is a terminal, unless a choice was made.
[[nodiscard]] bool colors_output(ColorChoice choice);

}  // namespace mtf
