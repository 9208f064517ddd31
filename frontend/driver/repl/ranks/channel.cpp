#include "frontend/driver/repl/ranks/channel.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace mtf {
namespace {

bool receive_all(int socket, char* data, std::size_t count) {
  while (count > 0) {
    const ssize_t got = recv(socket, data, count, 0);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return false;
    }
    const auto done = static_cast<std::size_t>(got < 0 ? 0 : got);
    data += done;
    count -= done;
  }
  return true;
}

bool send_all(int socket, const char* data, std::size_t count, int flags) {
  while (count > 0) {
    const ssize_t sent = ::send(socket, data, count, MSG_NOSIGNAL | flags);
    if (sent < 0 && errno != EINTR) {
      return false;
    }
    const auto done = static_cast<std::size_t>(sent < 0 ? 0 : sent);
    data += done;
    count -= done;
  }
  return true;
}

// False: the path is too long for an address.
bool address_of(const std::string& path, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

// What `reach` makes of a socket and the address; the socket, if that is 0.
template <typename F>
int with_address(const std::string& path, F&& reach) {
  sockaddr_un address{};
  if (!address_of(path, address)) {
    return -1;
  }
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made >= 0 && reach(made, reinterpret_cast<const sockaddr*>(&address)) != 0) {
    const int why = errno;
    close(made);
    errno = why;
    return -1;
  }
  return made;
}

}  // namespace

Channel::~Channel() {
  if (socket_ >= 0) {
    close(socket_);
  }
}

Channel::Channel(Channel&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

bool Channel::send(std::string_view message) {
  const std::uint64_t size = message.size();
  return send_all(socket_, reinterpret_cast<const char*>(&size), sizeof(size), MSG_MORE) &&
         send_all(socket_, message.data(), message.size(), 0);
}

std::optional<std::string> Channel::receive() {
  std::uint64_t size = 0;
  if (!receive_all(socket_, reinterpret_cast<char*>(&size), sizeof(size))) {
    return std::nullopt;
  }
  std::string message(size, '\0');
  return receive_all(socket_, message.data(), message.size()) ? std::optional(std::move(message))
                                                              : std::nullopt;
}

int listen_at(const std::string& path, int connections) {
  return with_address(path, [connections](int socket, const sockaddr* address) {
    return bind(socket, address, sizeof(sockaddr_un)) == 0 ? listen(socket, connections) : -1;
  });
}

int connect_to(const std::string& path) {
  return with_address(path, [](int socket, const sockaddr* address) {
    return connect(socket, address, sizeof(sockaddr_un));
  });
}

}  // namespace mtf
