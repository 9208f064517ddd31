#include "runtime/execute/bucket/bucket_step.h"

#include <cstring>
#include <functional>
#include <string>

#include "ir/support/index.h"
#include "runtime/exchange/exchange.h"
#include "runtime/execute/executor_program.h"

namespace mtf {

BucketStep::BucketStep(const SpmdProgram& program, std::size_t step, std::size_t slot,
                       const PrepareContext& context)
    : step_(step),
      slot_(slot),
      group_(&context.communicator.group(program.mesh, program.steps[step].axes)),
      how_{.combine = program.steps[step].combine,
           .dtype = program.at(program.steps[step].from).type.dtype,
           .exact = context.exact} {
  const StepRange message = message_of(program, step);
  std::string what =
      std::to_string(message.begin) + to_string(program.mesh, program.steps[step].axes);
  for (std::size_t s = message.begin; s < message.end; ++s) {
    const Step& member = program.steps[s];
    const std::int64_t bytes = program.at(member.from).local.bytes();
    const Packed packed{.value = member.to, .begin = message_bytes_, .bytes = bytes};
    if (s == step) {
      own_ = packed;
      own_.value = member.from;
    }
    if (step + 1 == message.end) {
      sums_.push_back(packed);
      what += to_string(program.at(member.from).type);
    }
    message_bytes_ += bytes;
  }
  hash_ = std::hash<std::string>{}(what);
}

void BucketStep::run(PreparedProgram& prepared, Communicator& communicator,
                     Staging& staging) const {
  const std::size_t ranks = prepared.data.size();
  grow(staging, staging.sent, ranks, message_bytes_);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    prepared.counted[rank].steps[step_] = {.handed = own_.bytes};
    if (own_.bytes > 0) {
      std::memcpy(staging.sent[rank].data() + own_.begin, prepared.at(rank, own_.value),
                  at(own_.bytes));
    }
  }
  if (sends()) {
    send(prepared, communicator, staging);
  }
  count_moved(prepared, step_, slot_, *group_);
}

void BucketStep::send(PreparedProgram& prepared, Communicator& communicator,
                      Staging& staging) const {
  const std::size_t ranks = prepared.data.size();
  staging.ins.clear();
  staging.outs.clear();
  std::vector<Traffic>& before = staging.before;
  before.assign(communicator.traffic().begin(), communicator.traffic().end());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    staging.ins.push_back(staging.sent[rank].data());
    staging.outs.push_back(staging.sent[rank].data());
  }
  const auto width = static_cast<std::int64_t>(bytes_of(how_.dtype));
  communicator.all_reduce(*group_, how_, message_bytes_ / width, staging.ins, staging.outs);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    Traffic& moved = prepared.counted[rank].steps[step_];
    const Traffic whole = communicator.traffic()[rank] - before[rank];
    moved.sent = whole.sent;
    moved.received = whole.received;
    for (const Packed& sum : sums_) {
      if (sum.bytes > 0) {
        std::memcpy(prepared.at(rank, sum.value), staging.sent[rank].data() + sum.begin,
                    at(sum.bytes));
      }
    }
  }
}

}  // namespace mtf
