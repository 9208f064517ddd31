#include "runtime/ranks/communicator_wire.h"

#include <algorithm>

#include <mpi.h>

namespace mtf {

// Calls f(begin, count) for each message that so many bytes make.
template <typename F>
void MpiWire::in_messages(std::int64_t bytes, F&& f) const {
  for (std::int64_t done = 0; done < bytes; done += limit_) {
    f(done, static_cast<int>(std::min(limit_, bytes - done)));
  }
}

void MpiWire::receive(std::int64_t member, void* data, std::int64_t bytes) {
  in_messages(bytes, [&](std::int64_t begin, int count) {
    moved_.received += count;
    MPI_Irecv(static_cast<std::byte*>(data) + begin, count, MPI_BYTE, static_cast<int>(member),
              tag_, comm_, &requests_.emplace_back());
  });
}

void MpiWire::send(std::int64_t member, const void* data, std::int64_t bytes) {
  in_messages(bytes, [&](std::int64_t begin, int count) {
    moved_.sent += count;
    MPI_Isend(static_cast<const std::byte*>(data) + begin, count, MPI_BYTE,
              static_cast<int>(member), tag_, comm_, &requests_.emplace_back());
  });
}

bool MpiWire::is_done() {
  if (requests_.empty()) {
    return true;
  }
  int all = 0;
  MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE);
  if (all != 0) {
    requests_.clear();
  }
  return all != 0;
}

void MpiWire::await() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
}

}  // namespace mtf
