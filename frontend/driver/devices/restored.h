// What a checkpoint has, against the variables that are to have it.

#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "frontend/device.h"
#include "runtime/checkpoint/read.h"

namespace mtf {

// That the file cannot be read, and which one beside it can.
[[nodiscard]] Diag unreadable(const RestoreRequest& request, const std::string& problem);

// The note that the file at that place was saved with; nullopt after an error, or where it `may`
// not be there yet, and is not.
std::optional<std::string> note_in(const RestoreRequest& request, const std::string& place,
                                   bool may_be_missing, DiagSink& diags);

// Whether a variable has a value there.
[[nodiscard]] bool has_value_for(const RestoreRequest& request, const CheckpointFile& file,
                                 const std::string& variable);

// One error for all that does not fit: params that the file does not have, and variables that have
// another shape there, or a dtype that they cannot take. A state that is missing begins as it was
// declared. False after it.
bool compare(const RestoreRequest& request, const CheckpointFile& file,
             std::span<const Variable> variables, DiagSink& diags);
// Whether each glob names a variable of the whole program; if not, an error. `failed`: there may be
// more variables than are known, so it is one only where a known one was meant.
bool globs_are_known(const RestoreRequest& request, std::span<const Variable> variables,
                     bool failed, DiagSink& diags);
// Warnings of what a file and the variables of the whole program do not share. Requires: they fit.
void warn_of_others(const RestoreRequest& request, const CheckpointFile& file,
                    std::span<const Variable> variables, DiagSink& diags);
// A warning of states that there are and the file lacks, or that it has nothing at all for what the
// request names, now or later. Requires: they fit.
void warn_of_nothing(const RestoreRequest& request, const CheckpointFile& file,
                     std::span<const Variable> variables, DiagSink& diags);

}  // namespace mtf
