// Messages over one of Open MPI's communicators.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/ranks/async/reduce_rounds.h"

// As Open MPI declares them: its header is for those who call it.
struct ompi_communicator_t;
struct ompi_request_t;

namespace mtf {

class MpiWire final : public Wire {
 public:
  // Longer messages than `limit` bytes go in parts.
  MpiWire(ompi_communicator_t* comm, int tag, std::int64_t limit, Traffic moved = {})
      : comm_(comm), tag_(tag), limit_(limit), moved_(moved) {}

  void receive(std::int64_t member, void* data, std::int64_t bytes) override;
  void send(std::int64_t member, const void* data, std::int64_t bytes) override;
  [[nodiscard]] bool is_done() override;
  // The ranks, among all, whose messages have not come, or that have not taken theirs.
  [[nodiscard]] std::vector<std::int64_t> missing() const override;

  // Whose members are meant from now on.
  void use(ompi_communicator_t* comm) { comm_ = comm; }
  [[nodiscard]] Traffic moved() const override { return moved_; }
  [[nodiscard]] Traffic take_moved() { return std::exchange(moved_, {}); }

 private:
  template <typename F>
  void in_messages(std::int64_t bytes, F&& f) const;

  struct Peer {
    ompi_communicator_t* comm = nullptr;
    int member = 0;
  };

  ompi_communicator_t* comm_;
  int tag_;
  std::int64_t limit_;
  std::vector<ompi_request_t*> requests_;
  std::vector<Peer> peers_;  // of the requests
  Traffic moved_;
};

}  // namespace mtf
