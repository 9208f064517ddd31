// Small files that the ranks of this job on this machine share while it runs, in the launcher's
// folder of the job: for what they tell each other where MPI does not answer. The launcher removes
// them. Without such a launcher there are none, and each rank is on its own.

#pragma once

#include <string>
#include <string_view>

namespace mtf {

// Whether this is the first rank to ask for it by this name; each is, without shared files.
[[nodiscard]] bool is_first_here(std::string_view name);
// Adds a line, whole.
void append_to_job_file(std::string_view name, std::string_view line);
[[nodiscard]] std::string read_job_file(std::string_view name);  // empty if there is none
void remove_job_file(std::string_view name);

}  // namespace mtf
