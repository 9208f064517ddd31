// The ranks of a session: processes that mpirun started, each with a connection to this one.
//
// They do what they are asked, all of them the same; between two requests they wait without work.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "frontend/driver/repl/ranks/channel.h"
#include "frontend/driver/repl/ranks/messages.h"

namespace mtf {

// Thrown when a rank ends, or when some cannot go on with the others: none is left then.
struct RanksLost {
  std::string why;       // "rank 1 was killed by signal 9"
  bool by_hand = false;  // Ctrl-C again
};

class Workers {
 public:
  // Null: `obstacle` says why there are none.
  [[nodiscard]] static std::unique_ptr<Workers> start(std::int64_t ranks, std::string& obstacle);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  Workers(Workers&&) = delete;
  Workers& operator=(Workers&&) = delete;

  [[nodiscard]] std::int64_t ranks() const { return static_cast<std::int64_t>(processes_.size()); }
  [[nodiscard]] bool are_there() const { return mpirun_ > 0; }

  // Goes to all ranks together with the next question.
  void post(const wire::Request& request);
  // To one of them; each is told as many.
  void post_to(std::int64_t rank, const wire::Request& request);
  // The answers of all ranks, in their order. `print`: takes the program's lines. If all ranks have
  // thrown, it is the failure of the first one that is thrown here.
  std::vector<wire::Reply> ask(const wire::Request& request,
                               const std::function<void(std::string_view)>& print);

 private:
  Workers() = default;

  struct Waiting;
  void hear(Waiting& waiting, const std::function<void(std::string_view)>& print);
  [[noreturn]] void lose_rank(std::size_t rank);
  [[noreturn]] void lose(const std::string& why, bool by_hand = false);
  void stop();

  pid_t mpirun_ = 0;  // 0: gone
  std::vector<Channel> channels_;
  std::vector<pid_t> processes_;
  std::vector<wire::Writer> posted_;
  std::size_t count_ = 0;  // of requests that are posted
};

}  // namespace mtf
