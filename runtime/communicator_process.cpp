// A process that ends early takes the others with it.

#include "runtime/communicator_process.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include <mpi.h>

namespace mtf {
namespace {

constexpr int kInternalError = 70;

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
    MPI_Abort(MPI_COMM_WORLD, kInternalError);
  }
  std::_Exit(kInternalError);
}

}  // namespace

void stop_all_if_running() {
  if (is_running()) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::fprintf(stderr, "mtf: internal error: rank %d ended before the others\n", rank);
    MPI_Abort(MPI_COMM_WORLD, kInternalError);
  }
}

void stop_all_when_this_stops() {
  std::atexit(stop_all_if_running);
  std::set_terminate(stop_all_at_terminate);
}

}  // namespace mtf
