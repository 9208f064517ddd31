// What ranks must receive of tensors on the way from where they are made to where they are read,
// whatever their layouts are.
//
// An element that P/s ranks need (P: all ranks; s: parts that a product's loops split its operand
// into) was made by no more than P/p of them (p: parts of the loops of the product that made it).
// What is element by element in between is computed of what a rank has, or received: each of the
// others receives the element once at least, at some place of the chain; and the first that has it
// as a sum of r ranks' parts received r - 1. So of two products 1/s of the tensor is charged to the
// reader, and 1/p taken off from the maker and (r - 1)/P charged to it, each by itself.
// Several readers share what is received. A variable is received from where it rests by those
// that read it, and its gradient by those with whom it rests: where it rests makes no difference.

#pragma once

#include <vector>

#include "ir/op.h"
#include "ir/program.h"

namespace mtf {

// Whether each dim of all tensors is one loop.
[[nodiscard]] bool has_single_loops(const IterationSpace& space);
// A product of two of which each dim of a tensor is one loop, summed or kept.
[[nodiscard]] bool is_plain_product(const Program& program, ValueId id);

class Passage {
 public:
  // `exact`: bits count (PlanOptions).
  Passage(const Program& program, bool exact);

  // Bytes of a product's operand that are charged to it, and of its result, taken off. `twice`:
  // what is read both before and behind some time is received twice, but for what ranks hold at
  // that time, all of it together.
  [[nodiscard]] double read(ValueId product, std::size_t operand, bool twice) const;
  [[nodiscard]] double made(ValueId product) const { return made_[at(product)]; }
  // Flops that made what these bytes are of, for each of them. Where that is less work than to
  // receive them, ranks had better do it again, and charges have to be less, too.
  [[nodiscard]] double flops_of_read(ValueId product, std::size_t operand) const;
  [[nodiscard]] double flops_of_made(ValueId product) const { return flops_[at(product)]; }
  // Bytes that go through memory: what a product has made and something else reads, and the other
  // way round.
  [[nodiscard]] double through_memory() const { return through_memory_; }

 private:
  // Where the elements of a value come from, one by one: a product's result or an input.
  struct Origin {
    ValueId value = {};
    double bytes = 0;  // of an element, where it takes least
  };
  struct Reader {
    ValueId product;
    std::size_t operand = 0;
  };

  [[nodiscard]] Origin origin_of(ValueId id, const std::vector<char>& is_plain) const;
  [[nodiscard]] const Origin& origin(ValueId id) const { return origins_[at(id)]; }
  void take_from_maker(ValueId maker);
  void take_variables(const std::vector<char>& is_plain);
  void find_sides(const std::vector<char>& is_plain);
  void charge(const std::vector<Reader>& readers, ValueId maker, double bytes);
  void share(const std::vector<Reader>& readers, double bytes,
             std::vector<std::vector<double>>& read) const;
  void add_memory(const std::vector<char>& is_plain);
  [[nodiscard]] double elements(ValueId id) const;

  const Program& program_;
  bool exact_ = true;
  std::vector<Origin> origins_;
  std::vector<std::vector<Reader>> readers_;  // products that read what comes from the value
  std::vector<double> made_;
  std::vector<double> flops_;                 // for each byte of these
  std::vector<std::vector<ValueId>> makers_;  // of what a product reads
  std::vector<std::vector<double>> read_;
  std::vector<std::vector<double>> read_twice_;
  // Of values, whether they are sure to be made before that time, or behind it.
  enum class Side : char { kEither, kBefore, kBehind };
  std::vector<Side> sides_;
  double through_memory_ = 0;
};

}  // namespace mtf
