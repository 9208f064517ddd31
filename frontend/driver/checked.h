// A program after its check: evaluated with no values, every entry built, every unit lowered.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/driver/check_device.h"
#include "frontend/driver/workspace.h"

namespace mtf {

struct CheckedProgram {
  CheckedProgram(Workspace& workspace, bool every_layout);

  CheckDevice device;
  Session session;
};

// Null if the text does not parse. Errors are in the workspace's diags.
[[nodiscard]] std::unique_ptr<CheckedProgram> check_program(Workspace& workspace, FileId file,
                                                            bool every_layout);

// What `--emit` shows: the tree of the file, or a later phase of each of the units.
[[nodiscard]] std::string emitted(Emit emit, const CheckedProgram& program,
                                  std::span<const Unit* const> units);

}  // namespace mtf
