// How long work is ended from outside: between two of its parts it asks, and may be thrown out.

#pragma once

namespace mtf {

// What this process asks at each `stop_point`: a function that throws to end the work, or null, as
// at first, for nothing. What was asked before.
using StopQuestion = void (*)();
StopQuestion ask_at_stop_points(StopQuestion question);

void stop_point();

}  // namespace mtf
