// The process of a rank under MPI.

#pragma once

namespace mtf {

// From now on an exit or an uncaught exception of this rank ends all of them.
void stop_all_when_this_stops();
// An early quiet end of one rank would leave the others waiting for ever.
void stop_all_if_running();

}  // namespace mtf
