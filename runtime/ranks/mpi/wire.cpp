#include "runtime/ranks/mpi/wire.h"

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
    peers_.push_back({.comm = comm_, .member = static_cast<int>(member)});
    MPI_Irecv(static_cast<std::byte*>(data) + begin, count, MPI_BYTE, static_cast<int>(member),
              tag_, comm_, &requests_.emplace_back());
  });
}

void MpiWire::send(std::int64_t member, const void* data, std::int64_t bytes) {
  in_messages(bytes, [&](std::int64_t begin, int count) {
    moved_.sent += count;
    peers_.push_back({.comm = comm_, .member = static_cast<int>(member)});
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
    peers_.clear();
  }
  return all != 0;
}

std::vector<std::int64_t> MpiWire::missing() const {
  std::vector<std::int64_t> ranks;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    int is_done = 0;
    MPI_Request_get_status(requests_[i], &is_done, MPI_STATUS_IGNORE);
    if (is_done == 0) {
      MPI_Group members = MPI_GROUP_NULL;
      MPI_Comm_group(peers_[i].comm, &members);
      int rank = 0;
      MPI_Group_translate_ranks(members, 1, &peers_[i].member, all, &rank);
      MPI_Group_free(&members);
      ranks.push_back(rank);
    }
  }
  MPI_Group_free(&all);
  return ranks;
}

}  // namespace mtf
