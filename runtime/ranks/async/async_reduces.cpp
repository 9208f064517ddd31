#include "runtime/ranks/async/async_reduces.h"

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

std::unique_lock<std::mutex> AsyncReduces::hold() {
  is_wanted_ = true;
  std::unique_lock<std::mutex> lock(mutex_);
  is_wanted_ = false;
  return lock;
}

std::size_t AsyncReduces::start(ReduceRounds rounds, std::unique_ptr<Wire> wire) {
  const std::size_t number = next_++;
  pending_.emplace(number, Pending{.rounds = std::move(rounds), .wire = std::move(wire)});
  start_next();
  if (own_thread_ && !thread_.joinable()) {
    thread_ = std::thread([this] { run_thread(); });
  }
  something_to_do_.notify_one();
  return number;
}

// As many as there is memory for, and always the oldest.
void AsyncReduces::start_next() {
  for (auto& [number, reduce] : pending_) {
    const std::int64_t bytes = reduce.rounds.scratch_bytes();
    if (reduce.has_started) {
      continue;
    }
    if (scratch_ > 0 && scratch_ + bytes > kMostScratch) {
      return;
    }
    scratch_ += bytes;
    reduce.scratch = scratch_of(bytes);
    reduce.has_started = true;
    reduce.started = nanoseconds_now();
    progress(reduce);
  }
}

std::vector<std::byte> AsyncReduces::scratch_of(std::int64_t bytes) {
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
bool AsyncReduces::progress(Pending& reduce) {
  while (reduce.has_started && !reduce.is_done && reduce.wire->is_done()) {
    if (!reduce.rounds.next(*reduce.wire, reduce.scratch.data())) {
      reduce.is_done = true;
      reduce.done = nanoseconds_now();
      scratch_ -= reduce.rounds.scratch_bytes();
      unused_.push_back(std::exchange(reduce.scratch, {}));
    }
  }
  return reduce.is_done;
}

void AsyncReduces::progress() {
  bool any_done = false;
  for (auto& [number, reduce] : pending_) {
    const bool was_done = reduce.is_done;
    any_done = (progress(reduce) && !was_done) || any_done;
  }
  if (any_done) {
    start_next();
  }
}

std::vector<std::int64_t> AsyncReduces::missing(std::size_t number) const {
  return pending_.at(number).wire->missing();
}

FinishedReduce AsyncReduces::finish(std::size_t number) {
  const auto place = pending_.find(number);
  const Pending& reduce = place->second;
  FinishedReduce finished{
      .moved = {reduce.wire->moved()}, .started = reduce.started, .done = reduce.done};
  pending_.erase(place);
  return finished;
}

void AsyncReduces::run_thread() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_) {
    const auto is_under_way = [](const auto& entry) { return !entry.second.is_done; };
    something_to_do_.wait(lock,
                          [&] { return ends_ || std::ranges::any_of(pending_, is_under_way); });
    progress();
    lock.unlock();
    do {
      std::this_thread::sleep_for(kPause);
    } while (is_wanted_);
    lock.lock();
  }
}

void AsyncReduces::stop() {
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
