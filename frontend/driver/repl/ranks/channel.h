// One connection between a session and a rank: messages, each with its length before it.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mtf {

// The file descriptor of a connection; closed at the end.
class Channel {
 public:
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  [[nodiscard]] int socket() const { return socket_; }
  // False: the other end is gone.
  bool send(std::string_view message);
  // Waits for the next; nullopt: the other end is gone.
  std::optional<std::string> receive();

 private:
  int socket_;
};

// The address of a socket in the file system: the session listens, its ranks connect.
// Negative: it cannot be, and `errno` says why.
[[nodiscard]] int listen_at(const std::string& path, int connections);
[[nodiscard]] int connect_to(const std::string& path);

}  // namespace mtf
