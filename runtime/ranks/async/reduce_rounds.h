// An all-reduce as a list of rounds: messages, and what is made of them once all have come. Whoever
// has it go on, waiting for each round or looking in now and then, the sums have the same bits.
//
// Short ones by recursive doubling, neighbours first: after round k each rank has the sum of its
// 2^k aligned neighbours, which is a subtree (runtime/EXACT.md); everybody to everybody where their
// number is no power of two. Long ones piece by piece, through little memory: everybody gets its
// part of a piece from all the others and joins it; the sums of a piece travel together with the
// terms of the next one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/support/interval.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

// What carries the messages of one collective between the members of a group.
class Wire {
 public:
  Wire() = default;
  virtual ~Wire() = default;
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  Wire(Wire&&) = delete;
  Wire& operator=(Wire&&) = delete;

  // Both begin, and return; the memory is in use.
  virtual void receive(std::int64_t member, void* data, std::int64_t bytes) = 0;
  virtual void send(std::int64_t member, const void* data, std::int64_t bytes) = 0;
  // Whether all that has begun is done.
  [[nodiscard]] virtual bool is_done() = 0;
  // The ranks, among all, that it waits for.
  [[nodiscard]] virtual std::vector<std::int64_t> missing() const { return {}; }
  [[nodiscard]] virtual Traffic moved() const = 0;  // since it was made
};

class ReduceRounds {
 public:
  // `out` may be `in`. All three outlive the rounds.
  ReduceRounds(const Group& group, Combination how, std::int64_t count, const void* in, void* out,
               const MpiOptions& options);

  [[nodiscard]] std::int64_t scratch_bytes() const;
  // Joins what the messages of the last round brought, and begins those of the next. False: there
  // are none, and the sums are there. requires: those of the last round are done.
  bool next(Wire& wire, std::byte* scratch);

 private:
  enum class Way : std::uint8_t { kAlone, kDoubling, kToAll, kPieces };

  // A piece of the elements, and the members' parts of it.
  struct Piece {
    std::int64_t begin = 0;
    std::int64_t count = 0;
  };

  [[nodiscard]] std::int64_t rounds() const;
  [[nodiscard]] Piece piece(std::int64_t number) const;
  [[nodiscard]] Interval part_of(Piece piece, std::int64_t member) const;
  [[nodiscard]] std::int64_t bytes() const { return count_ * width_; }
  [[nodiscard]] const void* term(std::int64_t element) const;
  [[nodiscard]] void* sum(std::int64_t element) const;
  template <typename F>
  void for_others(F&& f) const;
  void join(std::int64_t round, std::byte* scratch);
  void join_double(std::int64_t round, std::byte* scratch);
  void begin(std::int64_t round, Wire& wire, std::byte* scratch) const;
  void post_terms(Piece piece, Wire& wire, std::byte* scratch) const;
  void post_sums(Piece piece, Wire& wire) const;

  const Group* group_;
  Combination how_;
  std::int64_t count_;
  std::int64_t width_;
  const void* in_;
  void* out_;
  Way way_ = Way::kAlone;
  std::int64_t piece_;  // elements, of all but the last piece
  std::int64_t round_ = 0;
  std::vector<const void*> parts_;
};

}  // namespace mtf
