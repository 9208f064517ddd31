#include "runtime/execute/async/async_runner.h"

#include <algorithm>

#include "runtime/execute/executor_program.h"

namespace mtf {

void AsyncRunner::before(PreparedProgram& prepared, std::size_t step) {
  for (const std::size_t number : prepared.steps[step].finishes) {
    finish(prepared, number);
  }
  for (const std::size_t number : prepared.steps[step].starts) {
    start(prepared, number);
  }
}

void AsyncRunner::progress() {
  if (in_flight_ > 0) {
    communicator_.progress();
  }
}

void AsyncRunner::finish_all(PreparedProgram& prepared) {
  for (std::size_t number = 0; in_flight_ > 0; ++number) {
    finish(prepared, number);
  }
}

void AsyncRunner::start(PreparedProgram& prepared, std::size_t number) {
  AsyncStep& reduce = prepared.async[number];
  if (options_.check_agreement) {
    check_agreement(communicator_, reduce.group(), StepKind::kAllReduce, reduce.hash());
  }
  for (std::size_t s = reduce.message().begin; s < reduce.last() && options_.timed; ++s) {
    const std::int64_t now = nanoseconds_now();
    tell({.step = s, .time = {.begin = now, .end = now}});
  }
  const std::int64_t begin = nanoseconds_now();
  reduce.start(prepared, communicator_, pool_);
  ++in_flight_;
  tell({.step = reduce.last(),
        .time = {.begin = begin, .end = nanoseconds_now()},
        .is_async = true});
}

void AsyncRunner::finish(PreparedProgram& prepared, std::size_t number) {
  AsyncStep& reduce = prepared.async[number];
  if (!reduce.is_in_flight()) {
    return;
  }
  const std::int64_t begin = nanoseconds_now();
  const FinishedReduce finished = reduce.finish(prepared, communicator_);
  const std::int64_t from = std::max(finished.started, reduce.started());
  --in_flight_;
  tell({.step = reduce.last(),
        .time = {.begin = begin, .end = nanoseconds_now()},
        .resumes = true,
        .is_async = true,
        .hidden = std::max<std::int64_t>(std::min(finished.done, begin) - from, 0)});
}

void AsyncRunner::tell(StepTime time) const {
  if (!options_.timed) {
    return;
  }
  for (time.rank = 0; time.rank < communicator_.local_ranks().size(); ++time.rank) {
    options_.timed(time);
  }
}

}  // namespace mtf
