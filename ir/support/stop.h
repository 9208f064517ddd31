// How work is watched and ended from outside: between two of its parts it says how many of them
// are done, and may be thrown out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mtf {

// What this process asks at each `stop_point`: a function that may throw to end the work, or null,
// as at first, for nothing. What was asked before.
using StopQuestion = void (*)(std::int64_t done, std::int64_t of);
StopQuestion ask_at_stop_points(StopQuestion question);

void stop_point(std::size_t done, std::size_t of);

// What is said where a deadline ends it.
inline constexpr std::string_view kTimeIsOver = "the time that `--timeout` gives is over here";

// Who wants to know of the turns of loops that run: how many are done of how many; 0: nobody knows.
// At the end 1 of 1. Null, as at first: nobody.
using TurnListener = void (*)(std::string_view variable, std::int64_t done, std::int64_t of);
void listen_to_turns(TurnListener listener);

void tell_turn(std::string_view variable, std::int64_t done, std::int64_t of);

}  // namespace mtf
