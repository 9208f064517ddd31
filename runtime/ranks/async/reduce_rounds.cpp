#include "runtime/ranks/async/reduce_rounds.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "ir/support/index.h"
#include "runtime/ranks/communicator_group.h"

namespace mtf {
namespace {

// Where the number of ranks is no power of two, a short one sends everything to everybody.
constexpr std::int64_t kShorterToAll = 8;

}  // namespace

ReduceRounds::ReduceRounds(const Group& group, Combination how, std::int64_t count, const void* in,
                           void* out, const MpiOptions& options)
    : group_(&group),
      how_(how),
      count_(count),
      width_(static_cast<std::int64_t>(bytes_of(how.dtype))),
      in_(in),
      out_(out),
      piece_(std::max<std::int64_t>(options.piece_bytes / width_, 1)) {
  const bool doubles = std::has_single_bit(static_cast<std::uint64_t>(group.size));
  if (group.size == 1) {
    return;
  }
  const std::int64_t long_from =
      doubles ? options.scatter_from : options.scatter_from / kShorterToAll;
  way_ = bytes() >= long_from ? Way::kPieces : doubles ? Way::kDoubling : Way::kToAll;
  if (way_ == Way::kToAll) {
    piece_ = count_;
  }
}

std::int64_t ReduceRounds::scratch_bytes() const {
  switch (way_) {
    case Way::kAlone:
      return 0;
    case Way::kDoubling:
      return bytes();
    case Way::kToAll:
      return group_->size * bytes();
    case Way::kPieces:
      break;
  }
  // Of a shorter piece, a member may have one element more than of the first.
  return (piece(0).count + group_->size - 1) / group_->size * group_->size * width_;
}

// Those with messages.
std::int64_t ReduceRounds::rounds() const {
  switch (way_) {
    case Way::kAlone:
      return 0;
    case Way::kDoubling:
      return std::countr_zero(static_cast<std::uint64_t>(group_->size));
    case Way::kToAll:
      return 1;
    case Way::kPieces:
      break;
  }
  return (count_ + piece_ - 1) / piece_ + 1;
}

ReduceRounds::Piece ReduceRounds::piece(std::int64_t number) const {
  const std::int64_t begin = number * piece_;
  return {.begin = begin, .count = std::min(piece_, count_ - begin)};
}

// Of a piece that everybody adds up itself, all of it.
Interval ReduceRounds::part_of(Piece piece, std::int64_t member) const {
  if (way_ == Way::kToAll) {
    return {.begin = 0, .extent = piece.count};
  }
  const Pieces parts{.count = piece.count, .ranks = group_->size};
  return {.begin = piece.begin + parts.begin(member), .extent = parts.size(member)};
}

const void* ReduceRounds::term(std::int64_t element) const {
  return static_cast<const std::byte*>(in_) + element * width_;
}
void* ReduceRounds::sum(std::int64_t element) const {
  return static_cast<std::byte*>(out_) + element * width_;
}

template <typename F>
void ReduceRounds::for_others(F&& f) const {
  for (std::int64_t i = 1; i < group_->size; ++i) {
    f((group_->index[0] + i) % group_->size);
  }
}

bool ReduceRounds::next(Wire& wire, std::byte* scratch) {
  const std::int64_t all = rounds();
  if (round_ > 0) {
    join(round_ - 1, scratch);
  } else if (way_ == Way::kAlone && in_ != out_ && count_ > 0) {
    std::memmove(out_, in_, at(bytes()));
  }
  if (round_ == all) {
    return false;
  }
  begin(round_++, wire, scratch);
  return true;
}

void ReduceRounds::begin(std::int64_t round, Wire& wire, std::byte* scratch) const {
  if (way_ == Way::kDoubling) {
    const std::int64_t other = group_->index[0] ^ (std::int64_t{1} << round);
    wire.receive(other, scratch, bytes());
    wire.send(other, round == 0 ? in_ : out_, bytes());
    return;
  }
  if (way_ == Way::kPieces && round > 0) {
    post_sums(piece(round - 1), wire);
  }
  if (way_ == Way::kToAll || round + 1 < rounds()) {
    post_terms(piece(round), wire, scratch);
  }
}

// This rank's part from everybody, and theirs to them.
void ReduceRounds::post_terms(Piece piece, Wire& wire, std::byte* scratch) const {
  const Interval mine = part_of(piece, group_->index[0]);
  const std::int64_t length = mine.extent * width_;
  for_others([&](std::int64_t other) { wire.receive(other, scratch + other * length, length); });
  for_others([&](std::int64_t other) {
    const Interval theirs = part_of(piece, other);
    wire.send(other, term(theirs.begin), theirs.extent * width_);
  });
}

void ReduceRounds::post_sums(Piece piece, Wire& wire) const {
  const Interval mine = part_of(piece, group_->index[0]);
  for_others([&](std::int64_t other) {
    const Interval theirs = part_of(piece, other);
    wire.receive(other, sum(theirs.begin), theirs.extent * width_);
  });
  for_others([&](std::int64_t other) { wire.send(other, sum(mine.begin), mine.extent * width_); });
}

void ReduceRounds::join(std::int64_t round, std::byte* scratch) {
  if (way_ == Way::kDoubling) {
    return join_double(round, scratch);
  }
  if (way_ == Way::kPieces && round + 1 == rounds()) {
    return;  // it brought sums
  }
  const Interval mine = part_of(piece(round), group_->index[0]);
  parts_.assign(at(group_->size), term(mine.begin));
  for_others(
      [&](std::int64_t other) { parts_[at(other)] = scratch + other * mine.extent * width_; });
  combine_parts(how_, parts_, mine.extent, sum(mine.begin));
}

void ReduceRounds::join_double(std::int64_t round, std::byte* scratch) {
  const void* mine = round == 0 ? in_ : out_;
  const bool is_first = (group_->index[0] >> round & 1) == 0;
  const std::array<const void*, 2> parts = is_first ? std::array<const void*, 2>{mine, scratch}
                                                    : std::array<const void*, 2>{scratch, mine};
  combine_parts(how_, parts, count_, out_);
}

}  // namespace mtf
