// A process that ends early takes the others with it; and which cores are whose.

#include "runtime/ranks/mpi/process.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <optional>
#include <pmix.h>
#include <string>
#include <unistd.h>
#include <vector>

#include <mpi.h>

#include "runtime/ranks/mpi/job_files.h"

namespace mtf {
namespace {

constexpr int kInternalError = 70;
constexpr std::chrono::milliseconds kPatience{1000};

// Of ranks that fail: what they ask of each other is no answer to what others wait for.
MPI_Comm at_the_end = MPI_COMM_NULL;

bool is_running() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

// The last words of this rank, unless another has begun to speak; it is about to stop all.
void say_last(const char* words) {
  if (is_running() && !speaks_for_all()) {
    wait_to_be_stopped();
    return;
  }
  std::fprintf(stderr, "mtf: internal error: %s\n", words);
}

[[noreturn]] void stop_all_at_terminate() {
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
    say_last("terminated");
  } catch (const std::exception& error) {
    say_last(error.what());
  } catch (...) {
    say_last("unknown exception");
  }
  if (is_running()) {
    stop_all(kInternalError);
  }
  std::_Exit(kInternalError);
}

// When the first of several ranks that fail has told the launcher, it closes its sockets, and a
// rank that is just writing to one would end by SIGPIPE: that would be the status of all.
void outlive_the_launcher() {
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

bool speaks_for_all() {
  return is_first_here("speaker");
}

void wait_to_be_stopped() {
  constexpr unsigned kSeconds = 10;
  sleep(kSeconds);
}

void stop_all(int status) {
  outlive_the_launcher();
  if (PMIx_Initialized() == 0 || PMIx_Abort(status, "", nullptr, 0) != PMIX_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, status);  // another launcher's ranks
  }
  std::_Exit(status);
}

namespace {

// The status of the first rank, as all of them come here with theirs; nullopt: a launcher that
// cannot tell.
std::optional<int> status_of_first(const Launch& launch, const pmix_proc_t& me, int status) {
  constexpr const char* kStatus = "mtf.status";
  if (launch.rank == 0) {
    pmix_value_t value;
    PMIX_VALUE_LOAD(&value, &status, PMIX_INT);
    PMIx_Put(PMIX_GLOBAL, kStatus, &value);
    PMIx_Commit();
  }
  pmix_info_t collect;
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, nullptr, PMIX_BOOL);
  PMIx_Fence(nullptr, 0, &collect, 1);
  if (launch.rank == 0) {
    return status;
  }
  pmix_proc_t first;
  PMIX_LOAD_PROCID(&first, me.nspace, 0);
  pmix_value_t* value = nullptr;
  if (PMIx_Get(&first, kStatus, nullptr, 0, &value) != PMIX_SUCCESS || value->type != PMIX_INT) {
    return std::nullopt;
  }
  return value->data.integer;
}

bool all_ranks_arrive() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(at_the_end, &request);
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

void say(std::string_view message) {
  std::fwrite(message.data(), 1, message.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

int end_of_launch(const Launch& launch, int status) {
  outlive_the_launcher();
  pmix_proc_t me;
  if (PMIx_Init(&me, nullptr, 0) != PMIX_SUCCESS) {
    return launch.rank == 0 ? status : 0;
  }
  // The launcher may wait for ever for a rank that is about to begin when the first one stops all.
  if (status_of_first(launch, me, status).value_or(0) != 0) {
    if (launch.rank == 0) {
      std::fflush(nullptr);
      stop_all(status);
    }
    wait_to_be_stopped();
  }
  PMIx_Finalize(nullptr, 0);
  return 0;
}

void stop_together(int status, std::string_view message, bool is_rank_0) {
  if (is_rank_0 && speaks_for_all()) {
    say(message);
  }
  const bool together = all_ranks_arrive();
  if (!together && !is_rank_0 && speaks_for_all()) {
    say(message);
  }
  if (together && !is_rank_0) {
    wait_to_be_stopped();
  }
  stop_all(status);  // the launcher takes a second longer over a plain exit
}

void stop_all_if_running() {
  if (is_running()) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    say_last(("rank " + std::to_string(rank) + " ended before the others").c_str());
    stop_all(kInternalError);
  }
}

void stop_all_when_this_stops() {
  MPI_Comm_dup(MPI_COMM_WORLD, &at_the_end);
  std::atexit(stop_all_if_running);
  std::set_terminate(stop_all_at_terminate);
}

Cores cores_among_ranks() {
  MPI_Comm machine = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int ranks = 0;
  int rank = 0;
  MPI_Comm_size(machine, &ranks);
  MPI_Comm_rank(machine, &rank);
  const std::vector<int> mine = allowed_cores();
  const auto count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks));
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, machine);
  std::vector<int> begins(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0);
  std::vector<int> all(static_cast<std::size_t>(begins.back() + counts.back()));
  MPI_Allgatherv(mine.data(), count, MPI_INT, all.data(), counts.data(), begins.data(), MPI_INT,
                 machine);
  MPI_Comm_free(&machine);
  std::vector<std::vector<int>> allowed;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto begin = all.begin() + begins[i];
    allowed.emplace_back(begin, begin + counts[i]);
  }
  return cores_of(allowed, static_cast<std::size_t>(rank));
}

}  // namespace mtf
