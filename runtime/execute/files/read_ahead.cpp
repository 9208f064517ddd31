#include "runtime/execute/files/read_ahead.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <new>
#include <utility>

#include "runtime/execute/executor_program.h"

namespace mtf {
namespace {

constexpr int kMostMisses = 8;  // then it is not worth the work

std::int64_t counter_at(const void* data, DType dtype) {
  std::int32_t narrow = 0;
  std::int64_t wide = 0;
  std::memcpy(&narrow, data, sizeof(narrow));
  if (dtype == DType::kI64) {
    std::memcpy(&wide, data, sizeof(wide));
  }
  return dtype == DType::kI64 ? wide : narrow;
}

void set_number(const RankTensor& tensor, std::int64_t number) {
  const auto narrow = static_cast<std::int32_t>(number);  // wraps, as a tensor does
  for (const Buffer& part : tensor.parts) {
    if (tensor.type.dtype == DType::kI64) {
      std::memcpy(part.data(), &number, sizeof(number));
    } else {
      std::memcpy(part.data(), &narrow, sizeof(narrow));
    }
  }
}

}  // namespace

class ReadAhead::Part {
 public:
  Part(AheadThread& thread, AheadPart part, std::size_t ranks)
      : thread_(thread), part_(std::move(part)) {
    for (const SpmdId id : part_.program.inputs) {
      const SpmdValue& value = part_.program.at(id);
      if (is_counter(value)) {
        RankTensor guess{
            .type = value.type, .layout = value.layout, .local = value.local, .parts = {}};
        for (std::size_t rank = 0; rank < ranks; ++rank) {
          guess.parts.push_back(thread_.executor().pool().take(value.local.bytes()));
        }
        counters_.push_back({.id = id, .guess = std::move(guess)});
      }
    }
  }
  ~Part() { wait(); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;
  Part(Part&&) = delete;
  Part& operator=(Part&&) = delete;

  [[nodiscard]] std::size_t before() const { return part_.before; }

  // What is read of other tensors than these is of no use.
  void take_inputs(const SpmdProgram& whole, std::span<const RankTensor* const> inputs) {
    std::vector<const RankTensor*> own;
    auto counter = counters_.begin();
    for (const SpmdId id : part_.program.inputs) {
      if (is_counter(whole.at(id))) {
        own.push_back(&(counter++)->guess);
        continue;
      }
      const auto input = std::ranges::find(whole.inputs, id) - whole.inputs.begin();
      own.push_back(inputs[static_cast<std::size_t>(input)]);
    }
    if (own != inputs_) {
      wait();
      answer_.reset();
      has_guessed_ = false;
      inputs_ = std::move(own);
    }
  }

  void arrive(const PreparedProgram& prepared, const ReadAheadTold& told) {
    answer_.reset();
    const bool is_foreseen = has_guessed_ && is_asked_for(prepared);
    if (running_.valid()) {
      take(is_foreseen, told);
    }
    misses_ = is_foreseen ? 0 : misses_ + 1;
    has_guessed_ = true;
    for (Counter& counter : counters_) {
      set_number(counter.guess, counter.foresight.next_after(number_of(prepared, counter)));
    }
    if (misses_ >= kMostMisses) {
      return;  // until a guess would have been right
    }
    const auto task =
        std::make_shared<std::packaged_task<std::optional<Answer>()>>([this] { return run(); });
    running_ = task->get_future();
    thread_.post([task] { (*task)(); });
  }

  [[nodiscard]] bool has(std::size_t step) const {
    return answer_ && std::ranges::find(part_.readers, step) != part_.readers.end();
  }

  void give(std::size_t step, const PreparedProgram& prepared) const {
    const auto reader = std::ranges::find(part_.readers, step);
    const auto which = static_cast<std::size_t>(reader - part_.readers.begin());
    const RankTensor& output = answer_->outputs[which];
    for (std::size_t rank = 0; rank < output.parts.size(); ++rank) {
      const Buffer& made = output.parts[rank];
      if (made.bytes() > 0) {
        std::memcpy(prepared.at(rank, part_.program.outputs[which]), made.data(),
                    static_cast<std::size_t>(made.bytes()));
      }
    }
  }

 private:
  // Tells what a counter will be. A step that is seen once only is a beginning anew, as of a loop.
  class Foresight {
   public:
    [[nodiscard]] std::int64_t next_after(std::int64_t now) {
      const auto bits = static_cast<std::uint64_t>(now);  // wraps, as tensors do
      if (last_) {
        const std::uint64_t seen = bits - *last_;
        step_ = seen == seen_ ? seen : step_;
        seen_ = seen;
      }
      last_ = bits;
      return static_cast<std::int64_t>(bits + step_);
    }

   private:
    std::optional<std::uint64_t> last_;
    std::uint64_t seen_ = 1;
    std::uint64_t step_ = 1;
  };

  struct Counter {
    SpmdId id;
    RankTensor guess;
    Foresight foresight = {};
  };
  struct Answer {
    std::vector<RankTensor> outputs;
    TimeSpan work;  // of the thread
  };

  [[nodiscard]] static std::int64_t number_of(const PreparedProgram& prepared,
                                              const Counter& counter) {
    return counter_at(prepared.at(0, counter.id), counter.guess.type.dtype);
  }

  [[nodiscard]] bool is_asked_for(const PreparedProgram& prepared) const {
    return std::ranges::all_of(counters_, [&](const Counter& counter) {
      return counter_at(counter.guess.parts.front().data(), counter.guess.type.dtype) ==
             number_of(prepared, counter);
    });
  }

  void take(bool is_foreseen, const ReadAheadTold& told) {
    const std::int64_t begin = nanoseconds_now();
    std::optional<Answer> answer;
    try {
      answer = running_.get();
    } catch (const std::bad_alloc&) {
      answer.reset();  // the run that is asked for needs less
    }
    if (answer && is_foreseen) {
      told(answer->work, {.begin = begin, .end = nanoseconds_now()});
      answer_ = std::move(answer);
    }
  }

  // On the thread. Whatever goes wrong, or is to be said, is left to the step that is asked for.
  std::optional<Answer> run() {
    const std::int64_t begin = nanoseconds_now();
    Executor& executor = thread_.executor();
    if (!executable_) {
      executable_ = executor.prepare(part_.program);
    }
    DiagSink diags;
    std::optional<std::vector<RankTensor>> outputs = executor.run(*executable_, inputs_, {}, diags);
    if (!outputs || !diags.diags().empty()) {
      return std::nullopt;
    }
    return Answer{.outputs = *std::move(outputs),
                  .work = {.begin = begin, .end = nanoseconds_now()}};
  }

  void wait() {
    if (running_.valid()) {
      running_.wait();
      running_ = {};
    }
  }

  AheadThread& thread_;
  AheadPart part_;
  std::vector<Counter> counters_;          // in the order of the inputs
  std::optional<Executable> executable_;   // the thread's
  std::vector<const RankTensor*> inputs_;  // of the run in progress
  bool has_guessed_ = false;               // of these
  int misses_ = 0;                         // guesses in a row that were wrong
  std::optional<Answer> answer_;           // for it, or for the trip in progress
  std::future<std::optional<Answer>> running_;
};

ReadAhead::ReadAhead(AheadThread& thread, const SpmdProgram& program, std::vector<AheadPart> parts,
                     ReadAheadTold told)
    : program_(program), told_(std::move(told)) {
  const std::size_t ranks = thread.executor().communicator().local_ranks().size();
  for (AheadPart& part : parts) {
    parts_.push_back(std::make_unique<Part>(thread, std::move(part), ranks));
  }
}

ReadAhead::~ReadAhead() = default;

void ReadAhead::begin_run(std::span<const RankTensor* const> inputs, Owners owners) {
  for (const std::unique_ptr<Part>& part : parts_) {
    part->take_inputs(program_, inputs);
  }
  owners_ = std::move(owners);  // all that is still being read is of these
}

void ReadAhead::arrive(std::size_t step, const PreparedProgram& prepared) {
  for (const std::unique_ptr<Part>& part : parts_) {
    if (part->before() == step) {
      part->arrive(prepared, told_);
    }
  }
}

bool ReadAhead::has(std::size_t step) const {
  return std::ranges::any_of(parts_, [&](const auto& part) { return part->has(step); });
}

void ReadAhead::give(std::size_t step, const PreparedProgram& prepared) const {
  const auto has_it =
      std::ranges::find_if(parts_, [&](const auto& part) { return part->has(step); });
  (*has_it)->give(step, prepared);
}

}  // namespace mtf
