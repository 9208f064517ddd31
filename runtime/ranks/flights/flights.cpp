#include "runtime/ranks/flights/flights.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "ir/support/index.h"
#include "runtime/execute/step_time.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostScratch = std::int64_t{1} << 22;
constexpr std::chrono::microseconds kPause{20};  // where nothing has come

}  // namespace

std::unique_lock<std::mutex> Flights::hold() {
  is_wanted_ = true;
  std::unique_lock<std::mutex> lock(mutex_);
  is_wanted_ = false;
  return lock;
}

std::size_t Flights::begin(ReduceRounds rounds, std::unique_ptr<Wire> wire) {
  const std::size_t number = next_++;
  flights_.emplace(number, Going{.rounds = std::move(rounds), .wire = std::move(wire)});
  begin_next();
  if (own_thread_ && !thread_.joinable()) {
    thread_ = std::thread([this] { run_thread(); });
  }
  something_to_do_.notify_one();
  return number;
}

// As many as there is memory for, and always the oldest.
void Flights::begin_next() {
  for (auto& [number, flight] : flights_) {
    const std::int64_t bytes = flight.rounds.scratch_bytes();
    if (flight.has_begun) {
      continue;
    }
    if (scratch_ > 0 && scratch_ + bytes > kMostScratch) {
      return;
    }
    scratch_ += bytes;
    flight.scratch = scratch_of(bytes);
    flight.has_begun = true;
    flight.begun = nanoseconds_now();
    lead_on(flight);
  }
}

std::vector<std::byte> Flights::scratch_of(std::int64_t bytes) {
  if (unused_.empty()) {
    return std::vector<std::byte>(at(bytes));
  }
  const auto largest = std::ranges::max_element(unused_, {}, &std::vector<std::byte>::size);
  std::vector<std::byte> taken = std::move(*largest);
  unused_.erase(largest);
  if (taken.size() < at(bytes)) {
    taken.resize(at(bytes));
  }
  return taken;
}

// Whether it is there. Of a wire without messages, all are done.
bool Flights::lead_on(Going& flight) {
  while (flight.has_begun && !flight.is_done && flight.wire->is_done()) {
    if (!flight.rounds.next(*flight.wire, flight.scratch.data())) {
      flight.is_done = true;
      flight.done = nanoseconds_now();
      scratch_ -= flight.rounds.scratch_bytes();
      unused_.push_back(std::exchange(flight.scratch, {}));
    }
  }
  return flight.is_done;
}

void Flights::lead_on() {
  bool any_done = false;
  for (auto& [number, flight] : flights_) {
    const bool was_done = flight.is_done;
    any_done = (lead_on(flight) && !was_done) || any_done;
  }
  if (any_done) {
    begin_next();
  }
}

std::vector<std::int64_t> Flights::missing(std::size_t number) const {
  return flights_.at(number).wire->missing();
}

Landed Flights::land(std::size_t number) {
  const auto place = flights_.find(number);
  Going& flight = place->second;
  while (!flight.is_done) {
    lead_on();
  }
  Landed landed{.moved = {flight.wire->moved()}, .begun = flight.begun, .done = flight.done};
  flights_.erase(place);
  return landed;
}

void Flights::run_thread() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_) {
    const auto is_under_way = [](const auto& entry) { return !entry.second.is_done; };
    something_to_do_.wait(lock,
                          [&] { return ends_ || std::ranges::any_of(flights_, is_under_way); });
    lead_on();
    lock.unlock();
    do {
      std::this_thread::sleep_for(kPause);
    } while (is_wanted_);
    lock.lock();
  }
}

void Flights::stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::unique_lock<std::mutex> lock = hold();
    ends_ = true;
  }
  something_to_do_.notify_one();
  thread_.join();
}

}  // namespace mtf
