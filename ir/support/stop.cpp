#include "ir/support/stop.h"

#include <atomic>

namespace mtf {
namespace {

constinit std::atomic<StopQuestion> asked = nullptr;
constinit std::atomic<TurnListener> listens = nullptr;

}  // namespace

StopQuestion ask_at_stop_points(StopQuestion question) {
  return asked.exchange(question, std::memory_order_relaxed);
}

void stop_point(std::size_t done, std::size_t of) {
  if (const StopQuestion question = asked.load(std::memory_order_relaxed)) {
    question(static_cast<std::int64_t>(done), static_cast<std::int64_t>(of));
  }
}

void listen_to_turns(TurnListener listener) {
  listens.store(listener, std::memory_order_relaxed);
}

void tell_turn(std::string_view variable, std::int64_t done, std::int64_t of) {
  if (const TurnListener listener = listens.load(std::memory_order_relaxed)) {
    listener(variable, done, of);
  }
}

}  // namespace mtf
