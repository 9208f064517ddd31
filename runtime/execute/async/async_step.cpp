#include "runtime/execute/async/async_step.h"

#include <cstring>
#include <functional>
#include <string>

#include "ir/support/index.h"
#include "runtime/execute/executor_program.h"
#include "runtime/execute/step_time.h"

namespace mtf {

AsyncStep::AsyncStep(const SpmdProgram& program, const AsyncReduce& reduce, std::size_t slot,
                     const PrepareContext& context)
    : message_(reduce.message),
      slot_(slot),
      group_(&context.communicator.group(program.mesh, program.steps[last()].axes)),
      how_{.combine = program.steps[last()].combine,
           .dtype = program.at(program.steps[last()].from).type.dtype,
           .exact = context.exact} {
  std::string what =
      std::to_string(message_.begin) + to_string(program.mesh, program.steps[last()].axes);
  for (std::size_t s = message_.begin; s < message_.end; ++s) {
    const Step& step = program.steps[s];
    const std::int64_t bytes = program.at(step.from).local.bytes();
    sums_.push_back({.from = step.from, .to = step.to, .begin = bytes_, .bytes = bytes});
    bytes_ += bytes;
    what += to_string(program.at(step.from).type);
  }
  hash_ = std::hash<std::string>{}(what);
}

// What travels alone does so where its sum belongs.
void AsyncStep::start(const PreparedProgram& prepared, Communicator& communicator,
                      BufferPool& pool) {
  std::vector<void*> data;
  packed_.resize(is_packed() ? prepared.data.size() : 0);
  for (std::size_t rank = 0; rank < prepared.data.size(); ++rank) {
    if (is_packed()) {
      packed_[rank] = pool.take(bytes_);
    }
    std::byte* place = is_packed() ? packed_[rank].data()
                                   : static_cast<std::byte*>(prepared.at(rank, sums_[0].to));
    for (const Sum& sum : sums_) {
      const void* from = prepared.at(rank, sum.from);
      if (sum.bytes > 0 && from != place + sum.begin) {
        std::memcpy(place + sum.begin, from, at(sum.bytes));
      }
    }
    data.push_back(place);
  }
  const auto width = static_cast<std::int64_t>(bytes_of(how_.dtype));
  number_ = communicator.start(*group_, how_, bytes_ / width, data);
  started_ = nanoseconds_now();
}

FinishedReduce AsyncStep::finish(PreparedProgram& prepared, Communicator& communicator) {
  FinishedReduce finished = communicator.finish(*number_);
  number_.reset();
  for (std::size_t rank = 0; rank < prepared.data.size(); ++rank) {
    std::vector<Traffic>& moved = prepared.counted[rank].steps;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const Sum& sum = sums_[i];
      moved[message_.begin + i] = {.handed = sum.bytes};
      if (is_packed() && sum.bytes > 0) {
        std::memcpy(prepared.at(rank, sum.to), packed_[rank].data() + sum.begin, at(sum.bytes));
      }
    }
    moved[last()].sent = finished.moved[rank].sent;
    moved[last()].received = finished.moved[rank].received;
  }
  packed_.clear();
  for (std::size_t s = message_.begin; s < message_.end; ++s) {
    count_moved(prepared, s, slot_, *group_);
  }
  return finished;
}

}  // namespace mtf
