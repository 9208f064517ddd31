#include "frontend/driver/repl/ranks/workers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/driver/launch.h"
#include "frontend/driver/repl/ranks/worker.h"
#include "ir/support/file.h"
#include "runtime/ranks/interruption.h"

namespace mtf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kToStart{120};
constexpr std::chrono::seconds kToEnd{20};
constexpr std::chrono::seconds kToFollow{10};  // for ranks whose work another has broken off
constexpr int kMoment = 20;                    // milliseconds

// Of a process of this one. nullopt: it has not ended.
std::optional<int> ended(pid_t child) {
  int status = 0;
  return waitpid(child, &status, WNOHANG) == child ? std::optional(status) : std::nullopt;
}

std::optional<int> ended_until(pid_t child, Clock::time_point until) {
  std::optional<int> status = ended(child);
  while (!status && Clock::now() < until) {
    poll(nullptr, 0, kMoment);
    status = ended(child);
  }
  return status;
}

// "was killed by signal 9 (Killed)": of a rank, by the status of its mpirun.
std::string end_text(std::optional<int> status) {
  if (!status) {
    return "ended";
  }
  const int code = exit_code_of(*status);
  const int signal = code - kSignalled;
  return signal > 0 && signal < NSIG
             ? "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")"
             : "ended with status " + std::to_string(code);
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// What mpirun said, without its frames and empty lines.
std::string said_by(std::FILE* output) {
  std::rewind(output);
  std::string text;
  std::array<char, 1024> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    std::string one(line.data());
    one.erase(one.find_last_not_of(" \n\r") + 1);
    if (one.find_first_not_of('-') != std::string::npos) {
      text += (text.empty() ? "" : "\n  ") + one;
    }
  }
  return text;
}

wire::Answer answer_in(std::string_view message) {
  return wire::Reader(message).take<wire::Answer>();
}

bool is_readable(int socket, int milliseconds) {
  pollfd one{.fd = socket, .events = POLLIN, .revents = 0};
  return poll(&one, 1, milliseconds) == 1;
}

// What a rank says first; nullopt: this is none.
std::optional<wire::Hello> hello_from(Channel& channel) {
  const std::optional<std::string> message = channel.receive();
  const wire::Answer answer = message ? answer_in(*message) : wire::Answer();
  const auto* hello = std::get_if<wire::Hello>(&answer);
  return message && hello != nullptr ? std::optional(*hello) : std::nullopt;
}

std::string why_not_there(const std::string& said, std::optional<int> status) {
  const std::string why = !said.empty() ? "mpirun says\n  " + said
                          : status      ? "mpirun " + end_text(status)
                                        : "mpirun does not start them";
  return why + "\n  `mtf doctor` says what MPI lacks";
}

// Its process, whose ranks connect to the socket. Negative: `obstacle` says why there is none.
pid_t mpirun_of_session(std::int64_t ranks, const std::string& socket, int output,
                        std::string& obstacle) {
  Options options;
  options.ranks = ranks;
  options.words = {"repl"};
  options.color = ColorChoice::kNever;
  setenv(kSessionSocket, socket.c_str(), /*overwrite=*/1);
  const pid_t child = start_mpirun(options, output, obstacle);
  unsetenv(kSessionSocket);
  return child;
}

}  // namespace

std::unique_ptr<Workers> Workers::start(std::int64_t ranks, std::string& obstacle) {
  const TemporaryFolder meeting("mtf-");  // with the socket that ranks connect to
  const std::string path = meeting.path() + "/ranks";
  const Channel listener(meeting.is_made() ? listen_at(path, static_cast<int>(ranks)) : -1);
  const std::unique_ptr<std::FILE, FileCloser> output(std::tmpfile());
  if (listener.socket() < 0 || output == nullptr) {
    obstacle = "no socket can be made in the folder for temporary files: " +
               std::string(std::strerror(errno));
    return nullptr;
  }
  std::unique_ptr<Workers> workers(new Workers);
  workers->mpirun_ = mpirun_of_session(ranks, path, fileno(output.get()), obstacle);
  if (workers->mpirun_ < 0) {
    return nullptr;
  }
  std::vector<std::optional<Channel>> found(static_cast<std::size_t>(ranks));
  workers->processes_.resize(found.size());
  workers->posted_.resize(found.size());
  const Clock::time_point until = Clock::now() + kToStart;
  std::int64_t there = 0;
  std::optional<int> status;
  while (there < ranks && !status && Clock::now() < until) {
    throw_if_interrupted();
    if (!is_readable(listener.socket(), kMoment)) {
      status = ended(workers->mpirun_);
      continue;
    }
    Channel channel(accept(listener.socket(), nullptr, nullptr));
    if (const std::optional<wire::Hello> hello = hello_from(channel)) {
      const auto rank = static_cast<std::size_t>(hello->rank);
      workers->processes_[rank] = static_cast<pid_t>(hello->process);
      found[rank].emplace(std::move(channel));
      ++there;
    }
  }
  const std::string said = said_by(output.get());
  if (there < ranks) {
    workers->mpirun_ = status ? 0 : workers->mpirun_;
    obstacle = why_not_there(said, status);
    return nullptr;
  }
  for (std::optional<Channel>& channel : found) {
    workers->channels_.push_back(*std::move(channel));
  }
  return workers;
}

Workers::~Workers() {
  stop();
}

// Asked to go, they go; otherwise they are ended.
void Workers::stop() {
  const bool are_asked = !channels_.empty();
  channels_.clear();
  if (mpirun_ <= 0 || (are_asked && ended_until(mpirun_, Clock::now() + kToEnd))) {
    mpirun_ = 0;
    return;
  }
  for (const pid_t process : processes_) {
    if (process > 0) {
      kill(process, SIGKILL);
    }
  }
  kill(mpirun_, SIGTERM);
  if (!ended_until(mpirun_, Clock::now() + kToEnd)) {
    kill(mpirun_, SIGKILL);
    waitpid(mpirun_, nullptr, 0);
  }
  mpirun_ = 0;
}

void Workers::lose(const std::string& why, bool by_hand) {
  channels_.clear();  // so that nobody is asked to go: some could not
  stop();
  throw RanksLost{.why = why, .by_hand = by_hand};
}

void Workers::post(const wire::Request& request) {
  for (wire::Writer& writer : posted_) {
    writer.put(request);
  }
  ++count_;
}

void Workers::post_to(std::int64_t rank, const wire::Request& request) {
  posted_[static_cast<std::size_t>(rank)].put(request);
  count_ += rank == 0 ? 1 : 0;
}

// Answers that have come, and those that have not.
struct Workers::Waiting {
  std::vector<std::optional<wire::Reply>> replies;
  std::size_t missing = 0;
  const wire::Reply* thrown = nullptr;  // the first that was
  std::size_t thrower = 0;

  void add(std::size_t rank, wire::Reply reply) {
    replies[rank] = std::move(reply);
    --missing;
    if (replies[rank]->thrown && thrown == nullptr) {
      thrown = &*replies[rank];
      thrower = rank;
    }
  }
};

std::vector<wire::Reply> Workers::ask(const wire::Request& request,
                                      const std::function<void(std::string_view)>& print) {
  post(request);
  wire::Writer header;
  header.put(std::exchange(count_, 0));
  const std::string count = header.take();
  for (std::size_t rank = 0; rank < channels_.size(); ++rank) {
    channels_[rank].send(count + posted_[rank].take());  // who is gone does not answer
  }
  Waiting waiting{.replies = std::vector<std::optional<wire::Reply>>(channels_.size()),
                  .missing = channels_.size()};
  Clock::time_point until = Clock::time_point::max();
  const OthersRun others;
  while (waiting.missing > 0) {
    hear(waiting, print);
    if (others.are_to_end()) {
      lose("interrupted", /*by_hand=*/true);
    }
    const bool is_alone = waiting.thrown != nullptr && waiting.missing > 0;
    until = is_alone ? std::min(until, Clock::now() + kToFollow) : until;
    if (is_alone && Clock::now() >= until) {
      lose("rank " + std::to_string(waiting.thrower) +
           " cannot go on: " + waiting.thrown->diags.front().text);
    }
  }
  if (waiting.thrown != nullptr) {
    throw Failure{waiting.thrown->diags.front()};
  }
  std::vector<wire::Reply> replies;
  for (std::optional<wire::Reply>& reply : waiting.replies) {
    replies.push_back(*std::move(reply));
  }
  return replies;
}

// What comes next from those that have not answered, or nothing for a moment.
void Workers::hear(Waiting& waiting, const std::function<void(std::string_view)>& print) {
  std::vector<pollfd> sockets;
  for (std::size_t rank = 0; rank < channels_.size(); ++rank) {
    const bool has_answered = waiting.replies[rank].has_value();
    sockets.push_back({.fd = has_answered ? -1 : channels_[rank].socket(), .events = POLLIN});
  }
  if (poll(sockets.data(), sockets.size(), kMoment) <= 0) {
    return;
  }
  for (std::size_t rank = 0; rank < sockets.size(); ++rank) {
    if (sockets[rank].revents == 0) {
      continue;
    }
    const std::optional<std::string> message = channels_[rank].receive();
    if (!message) {
      lose_rank(rank);
    }
    wire::Answer answer = answer_in(*message);
    if (const auto* line = std::get_if<wire::Line>(&answer)) {
      print(line->text);
    } else if (auto* reply = std::get_if<wire::Reply>(&answer)) {
      waiting.add(rank, std::move(*reply));
    }
  }
}

// Its connection has ended. mpirun, which ends the others, knows why.
void Workers::lose_rank(std::size_t rank) {
  const bool is_alone = std::ranges::none_of(channels_, [&](const Channel& other) {
    char byte = 0;
    return &other != &channels_[rank] &&
           recv(other.socket(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  });
  const std::optional<int> status = ended_until(mpirun_, Clock::now() + kToEnd);
  mpirun_ = status ? 0 : mpirun_;
  lose((is_alone ? "rank " + std::to_string(rank) : "a rank") + " " + end_text(status));
}

}  // namespace mtf
