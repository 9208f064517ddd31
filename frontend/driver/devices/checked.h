// A program evaluated under one of its layouts, as if the command line had chosen it, so that `@`
// and `with layout` mean to every command what they mean when the program runs.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/driver/devices/check_device.h"
#include "frontend/driver/workspace.h"
#include "lowering/lower.h"

namespace mtf {

// What the command line says, but for the layout, of which this is the name; "": one rank.
[[nodiscard]] ElaborateOptions choosing(const Options& options, std::string_view layout);

struct CheckedProgram {
  CheckedProgram(ElaborateOptions options, Lowered lowered, SourceMap& sources, DiagSink& diags);

  // The one in use; one rank if none is.
  [[nodiscard]] Layout layout() const;

  CheckDevice device;
  Session session;
};

// Every entry built, every unit lowered, under the layout that the command line or the file
// chooses. Null if the text does not parse. Errors are in the workspace's diags.
[[nodiscard]] std::unique_ptr<CheckedProgram> check_program(Workspace& workspace, FileId file);

// For a command that plans top entries: an entry that another one runs is not built alone as well,
// where that would find nothing. kNot: `lowered` is what the command itself does.
[[nodiscard]] std::unique_ptr<CheckedProgram> check_to_plan(Workspace& workspace, FileId file,
                                                            ElaborateOptions options,
                                                            Lowered lowered);

// Under a layout of that name, with its errors in `diags`; "": on one rank.
[[nodiscard]] std::unique_ptr<CheckedProgram> check_under(Workspace& workspace, FileId file,
                                                          std::string_view layout, DiagSink& diags);
// With nothing lowered: a command does that for the entries that it is about.
[[nodiscard]] std::unique_ptr<CheckedProgram> build_under(Workspace& workspace, FileId file,
                                                          std::string_view layout, DiagSink& diags);

// What can be told at once: every entry built, nothing lowered, and no layout searched.
[[nodiscard]] std::unique_ptr<CheckedProgram> look_at(Workspace& workspace, FileId file);

// One that a command looks at, and what was built for it.
struct UnderLayout {
  CheckedProgram* program = nullptr;
  Layout layout;
};

// A program under all layouts that a command means where none is named.
struct CheckedLayouts {
  // What was built may serve several layouts.
  std::vector<std::unique_ptr<CheckedProgram>> programs;
  std::vector<UnderLayout> layouts;  // one rank where the file declares none
};

// The one layout that was chosen, the one rank of a file without layouts, or nothing.
[[nodiscard]] std::vector<UnderLayout> in_use(CheckedProgram& program);
// Under the layout that the command line names, else under every one that the file declares but
// those that serve regions alone. Empty if the text does not parse.
[[nodiscard]] CheckedLayouts check_layouts(Workspace& workspace, FileId file);

// An entry in the layout in use; nullopt after an error. `last`: nobody asks for what was built of
// it again, so that of a large program there is one form less.
[[nodiscard]] std::optional<SpmdProgram> plan_of(Workspace& workspace, CheckedProgram& program,
                                                 std::string_view entry, bool last = false);

// Whether the layout that the command line names exists; if not, an error.
[[nodiscard]] bool knows_layout(Workspace& workspace, const Session& session);

// Evaluated anew for units that are not simplified, which nobody is to lower.
[[nodiscard]] std::unique_ptr<CheckedProgram> as_written(Workspace& workspace, FileId file,
                                                         DiagSink& diags);
// What `--emit` shows of a program that was checked: the tree of the file, or a later phase of each
// of the entries, or of all units if none is named.
[[nodiscard]] std::string emitted(Workspace& workspace, FileId file, CheckedProgram& program,
                                  std::span<const std::string> entries = {});

}  // namespace mtf
