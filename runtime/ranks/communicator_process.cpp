// A process that ends early takes the others with it.

#include "runtime/ranks/communicator_process.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <pmix.h>
#include <unistd.h>

#include <mpi.h>

namespace mtf {
namespace {

constexpr int kInternalError = 70;
constexpr std::chrono::milliseconds kPatience{1000};

bool is_running() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

[[noreturn]] void stop_all_at_terminate() {
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
    std::fputs("mtf: internal error: terminated\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mtf: internal error: %s\n", error.what());
  } catch (...) {
    std::fputs("mtf: internal error: unknown exception\n", stderr);
  }
  if (is_running()) {
    stop_all(kInternalError);
  }
  std::_Exit(kInternalError);
}

}  // namespace

void stop_all(int status) {
  if (PMIx_Initialized() == 0 || PMIx_Abort(status, "", nullptr, 0) != PMIX_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, status);  // another launcher's ranks
  }
  std::_Exit(status);
}

int end_of_launch(const Launch& launch, int status) {
  pmix_proc_t me;
  if (PMIx_Init(&me, nullptr, 0) != PMIX_SUCCESS) {
    return launch.rank == 0 ? status : 0;
  }
  if (launch.rank == 0 && status != 0) {
    std::fflush(nullptr);
    stop_all(status);
  }
  PMIx_Finalize(nullptr, 0);
  return 0;
}

bool all_ranks_arrive() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  int done = 0;
  while (std::chrono::steady_clock::now() < deadline) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) {
      return true;
    }
    usleep(200);
  }
  return false;
}

void stop_all_if_running() {
  if (is_running()) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "mtf: internal error: rank %d ended before the others\n", rank);
    stop_all(kInternalError);
  }
}

void stop_all_when_this_stops() {
  std::atexit(stop_all_if_running);
  std::set_terminate(stop_all_at_terminate);
}

}  // namespace mtf
