// mpirun now and then waits for itself and never ends, behind ranks that all have: a lock of its
// process manager is taken while the thread that holds it is ended (Open MPI 4.1 with PMIx 4). So
// where it sleeps for some seconds and no rank is alive it is ended, and the ranks say how they
// did. Who watches it sees the ranks come and go, too, and says so.

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <sys/types.h>
#include <thread>

#include "frontend/driver/launch/seen_ranks.h"

namespace mtf {

class StuckWatch {
 public:
  // From a time when it has begun, until this goes. `came`: called from another thread, some times
  // after a rank was seen for the first time, and no more than a few seconds later.
  StuckWatch(pid_t mpirun, std::function<void()> came);
  ~StuckWatch();
  StuckWatch(const StuckWatch&) = delete;
  StuckWatch& operator=(const StuckWatch&) = delete;
  StuckWatch(StuckWatch&&) = delete;
  StuckWatch& operator=(StuckWatch&&) = delete;

  // The status of the ranks, as far as mpirun had not asked for it, once it has been ended.
  [[nodiscard]] std::optional<int> status();
  // The rank that ended while all others went on, if it was seen.
  [[nodiscard]] std::optional<std::int64_t> first_gone();

 private:
  void watch();
  void look();

  pid_t mpirun_;
  std::function<void()> came_;
  SeenRanks seen_;
  bool has_begun_ = false;  // a rank was seen
  int looks_ = 0;           // without one that is alive, in a row
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::optional<int> status_;
  std::thread thread_;
};

}  // namespace mtf
