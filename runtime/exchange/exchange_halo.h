// A halo exchange: every rank of a group is sent what it lacks of what its slice of the result
// reads, and puts what it has itself where it belongs. What nothing comes to is the border's.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/kernels/moved.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct ExchangeSpec;
struct Staging;

class HaloExchange {
 public:
  HaloExchange(const Mesh& mesh, const ExchangeSpec& spec, const Group& group,
               std::span<const std::int64_t> ranks);

  void run(Communicator& communicator, const Group& group, Staging& staging, Ins from,
           Outs to) const;

 private:
  // What goes to a member or comes from one, box behind box.
  struct Message {
    std::int64_t member = 0;
    std::vector<MovedBox> boxes;
    std::int64_t bytes = 0;
    bool in_place = false;  // it lies in the slice as it is sent
  };
  struct OnRank {
    Slice from;
    Slice to;
    std::vector<MovedBox> own;
    std::vector<Message> sent;
    std::vector<Message> received;
    std::int64_t handed = 0;
    std::int64_t packed = 0;  // bytes of messages that are put together in staging memory
    std::int64_t landed = 0;  // and of those that are taken apart there
  };

  static void take(std::vector<Message>& messages, std::int64_t& staged, Message message);
  [[nodiscard]] MovedSlices slices(const Slice& from, const Slice& to) const {
    return {.reads = reads_, .operand = operand_, .from = from, .to = to};
  }
  [[nodiscard]] Message message(std::int64_t member, const Slice& from, const Slice& to,
                                bool is_sent) const;
  void send(const OnRank& here, const std::byte* from, std::byte* room, Mail& mail) const;
  void receive(const OnRank& here, std::byte* to, std::byte* room, Mail& mail) const;
  void unpack(const OnRank& here, const std::byte* room, std::byte* to) const;

  std::vector<MovedDim> reads_;
  Shape operand_;
  DType dtype_;
  std::int64_t width_ = 1;
  std::vector<OnRank> ranks_;
};

}  // namespace mtf
