#include "tests/fuzz/signals.h"

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>
#include <execinfo.h>
#include <sys/time.h>
#include <unistd.h>

namespace fuzz {
namespace {

void start_timer(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const itimerval timer{.it_interval = {},
                        .it_value = {.tv_sec = whole,
                                     .tv_usec = static_cast<suseconds_t>(
                                         (seconds - static_cast<double>(whole)) * 1e6)}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

std::atomic<int> interrupts = 0;      // still to be tried
constexpr double kSecondsBehind = 5;  // of one, until the next is due

extern "C" void say_where(int signal) {
  std::array<void*, 96> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

extern "C" void interrupt_or_say_where(int signal) {
  if (interrupts.fetch_sub(1) > 0) {
    std::raise(SIGINT);
    start_timer(kSecondsBehind);
  } else {
    say_where(signal);
  }
}

}  // namespace

void catch_signals() {
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);  // loads what it needs
  static std::array<char, 65536> room{};
  const stack_t stack{.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()};
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
  for (const int signal : kSignals) {
#ifdef __SANITIZE_ADDRESS__
    if (signal != SIGPROF) {
      continue;  // the sanitizer says it better
    }
#endif
    action.sa_handler = signal == SIGPROF ? interrupt_or_say_where : say_where;
    action.sa_flags = SA_ONSTACK | (signal == SIGPROF ? 0 : static_cast<int>(SA_RESETHAND));
    sigaction(signal, &action, nullptr);
  }
}

void arm(double seconds, int interrupts_before) {
  interrupts = interrupts_before;
  start_timer(seconds);
}

}  // namespace fuzz
