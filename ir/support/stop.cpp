#include "ir/support/stop.h"

#include <atomic>

namespace mtf {
namespace {

constinit std::atomic<StopQuestion> asked = nullptr;

}  // namespace

StopQuestion ask_at_stop_points(StopQuestion question) {
  return asked.exchange(question, std::memory_order_relaxed);
}

void stop_point() {
  if (const StopQuestion question = asked.load(std::memory_order_relaxed)) {
    question();
  }
}

}  // namespace mtf
