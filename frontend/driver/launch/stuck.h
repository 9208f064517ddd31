// mpirun now and then waits for itself and never ends, behind ranks that all have: a lock of its
// process manager is taken while the thread that holds it is ended (Open MPI 4.1 with PMIx 4). So
// where it sleeps for some seconds and no rank is alive it is ended, and the ranks say how they
// did.

#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <sys/types.h>
#include <thread>

namespace mtf {

class StuckWatch {
 public:
  // From a time when it has begun, until this goes.
  explicit StuckWatch(pid_t mpirun);
  ~StuckWatch();
  StuckWatch(const StuckWatch&) = delete;
  StuckWatch& operator=(const StuckWatch&) = delete;
  StuckWatch(StuckWatch&&) = delete;
  StuckWatch& operator=(StuckWatch&&) = delete;

  // The status of the ranks, as far as mpirun had not asked for it, once it has been ended.
  [[nodiscard]] std::optional<int> status();

 private:
  void watch();
  void look();

  pid_t mpirun_;
  bool has_begun_ = false;  // a rank was seen
  int looks_ = 0;           // without one that is alive, in a row
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::optional<int> status_;
  std::thread thread_;
};

}  // namespace mtf
