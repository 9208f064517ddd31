// A gather whose result passes through a product in pieces (lowering/steps/stream.h): at each
// time every rank is sent what it lacks of the piece that it works on next.
//
// A piece that lies in one rank's slice is one message; where it is contiguous there, nothing is
// copied on the way. A rank's own piece is not moved at all: the product reads it where it is.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lowering/spmd.h"
#include "runtime/exchange/exchange_uneven.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

struct PieceSpec {
  TensorType type;  // of the whole tensor
  ValueLayout from;
  ValueLayout to;
  Axes axes;            // of the group
  std::size_t cut = 0;  // the dim that pieces cut
};

class PieceExchange {
 public:
  // Collective: makes the group.
  PieceExchange(Communicator& communicator, const Mesh& mesh, const PieceSpec& spec,
                const Stream& stream);

  [[nodiscard]] const Group& group() const { return *group_; }
  // The indices of a local rank's piece at a time, and whether they are in its own slice: then
  // nothing is sent to it.
  [[nodiscard]] const Slice& piece(std::size_t rank, std::int64_t time) const {
    return at(rank, time).piece;
  }
  [[nodiscard]] bool is_own(std::size_t rank, std::int64_t time) const {
    return at(rank, time).is_own;
  }

  // Memory in which a rank puts messages together.
  [[nodiscard]] std::int64_t sent_bytes() const { return sent_bytes_; }
  [[nodiscard]] std::int64_t received_bytes() const { return received_bytes_; }

  // Begins to fill the ranks' windows with the pieces of a time. `sent`, `received`: that memory.
  void post(Communicator& communicator, std::int64_t time, Ins from, Outs windows, Outs sent,
            Outs received);
  // The same arguments, once the messages have been awaited.
  void land(std::int64_t time, Outs windows, Outs received) const;

 private:
  struct Part {
    std::int64_t member = 0;
    BoxIn box;
  };
  // What one rank does at one time.
  struct OnRank {
    Slice piece;
    bool is_own = false;
    std::vector<Part> sent;      // of the slice
    std::vector<Part> received;  // of the window
    std::optional<BoxIn> own;    // what the rank itself has of its piece, in its slice
    BoxIn own_place;             // and in the window
  };

  void plan(OnRank& here, const Mesh& mesh, const PieceSpec& spec, const Stream& stream,
            std::size_t index, std::int64_t time);
  [[nodiscard]] static std::int64_t scattered_bytes(std::span<const Part> parts);
  [[nodiscard]] const OnRank& at(std::size_t rank, std::int64_t time) const {
    return ranks_[rank][static_cast<std::size_t>(time)];
  }

  const Group* group_;
  std::vector<std::vector<OnRank>> ranks_;  // per local rank and time
  std::vector<std::int64_t> handed_;        // per local rank: bytes of its slice
  std::int64_t sent_bytes_ = 0;
  std::int64_t received_bytes_ = 0;
  std::vector<Mail> mail_;
};

}  // namespace mtf
