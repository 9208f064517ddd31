// What ends a trial: a signal says where it came, and time that is over asks a session to stop.

#pragma once

namespace fuzz {

void catch_signals();
// After so many seconds of processor time the trial ends and says where it is; a session, which may
// be asked to do something endless, gets that many times a Ctrl-C before. 0 seconds: never.
void arm(double seconds, int interrupts_before);

}  // namespace fuzz
