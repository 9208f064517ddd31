// The process of a rank under MPI.

#pragma once

#include <string_view>

#include "runtime/ranks/cores.h"
#include "runtime/ranks/mpi/launch.h"

namespace mtf {

// Of ranks that end badly at once, one on a machine speaks: the first that asks.
[[nodiscard]] bool speaks_for_all();
// Ends all ranks with this status. After MPI_Abort, or where a rank ends with a status of its own,
// the launcher would print a banner; what there is to say, a rank has said.
[[noreturn]] void stop_all(int status);
// What other ranks do meanwhile: the launcher warns of those that end, too. Returns if
// nothing comes.
void wait_to_be_stopped();
// The same for a process of a launch that has not started MPI, and need not. Each of them comes
// here; the status of the first rank is that of all.
[[nodiscard]] int end_of_launch(const Launch& launch, int status);
// The end of a rank that fails: of all ranks. Rank 0 says why if all come here within the time that
// a failure may take to spread, otherwise who comes first.
[[noreturn]] void stop_together(int status, std::string_view message, bool is_rank_0);
// From now on an exit or an uncaught exception of this rank ends all of them. Collective.
void stop_all_when_this_stops();
// An early quiet end of one rank would leave the others waiting for ever.
void stop_all_if_running();
// The cores of this machine that are this rank's, as all ranks of the machine agree. Collective.
// requires: MPI runs.
[[nodiscard]] Cores cores_among_ranks();

}  // namespace mtf
