// The operations of programs that cost something, by the roles of their dims: products, and what is
// done element by element. Those that are alike stand once, as do tensors.

#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ir/op.h"
#include "ir/program.h"
#include "lowering/known/numbered.h"
#include "lowering/search/space/space.h"

namespace mtf {

struct RoleTensor {
  std::vector<std::int32_t> dims;   // of the space, by dim; -1: one that cannot be split
  std::vector<std::int64_t> sizes;  // by dim
  double bytes = 0;
  bool is_open = false;      // its layout may be another than the rules say
  bool is_variable = false;  // and its rules those of the variables
  bool is_input = false;
  double readers = 1;  // of an input: that may share what is gathered

  friend bool operator==(const RoleTensor&, const RoleTensor&) = default;
};

struct RoleOperand {
  Number tensor = 0;                // of RoleOperations::tensors()
  std::vector<std::int32_t> loops;  // by dim; -1: made of several
  double passage = 0;               // bytes on the way between products (passage.h)
  double passage_twice = 0;         // … where what is read twice is
  double passage_flops = 0;         // that each of these bytes was made in

  friend bool operator==(const RoleOperand&, const RoleOperand&) = default;
};

struct RoleOperation {
  std::vector<RoleOperand> tensors;  // operands, then the result
  std::vector<double> loops;         // sizes; 1 where each rank has all of it
  std::vector<char> reduced;         // per loop
  const OpDef* op = nullptr;
  std::string_view way = {};  // where the kernel has a way of its own (ir/op.h)
  std::vector<std::string_view> conversions = {};  // at each point of the loops (conversions.h)
  double volume = 1;                               // of all loops
  double flops = 0;         // of none of these, where arithmetic is what takes the time
  bool is_product = false;  // of two
  bool is_element_wise = false;
  bool has_single_loops = false;  // one for each dim of its tensors
  bool stays_partial = false;     // what it sums may be brought together elsewhere
  bool is_narrowed = false;  // … may be scattered, since it is rounded before all ranks have it

  friend bool operator==(const RoleOperation&, const RoleOperation&) = default;
};

class RoleOperations {
 public:
  // Bytes that are held at one time, beside the inputs, by tensors that are split alike.
  using Moment = std::vector<std::pair<Number, double>>;
  // Of one program.
  struct Memory {
    std::vector<Number> inputs = {};  // one for each
    // Times, among them those at which most is held; and what is held at one time however it is
    // planned.
    std::vector<Moment> moments = {};
    std::vector<Moment> certain_moments = {};
  };

  RoleOperations(const SearchSpace& space, std::span<const Program> programs, bool exact = true);

  [[nodiscard]] std::size_t size() const { return counts_.size(); }
  [[nodiscard]] const RoleOperation& operator[](std::size_t i) const {
    return operations_[static_cast<Number>(i)];
  }
  [[nodiscard]] double count(std::size_t i) const { return counts_[i]; }  // how often it is done
  [[nodiscard]] std::size_t tensors() const { return tensors_.size(); }
  [[nodiscard]] const RoleTensor& tensor(std::size_t i) const {
    return tensors_[static_cast<Number>(i)];
  }
  [[nodiscard]] std::span<const Memory> memory() const { return memory_; }  // of each program
  // Whether `@`, regions or the variables' rules of a file may split what a candidate does not.
  [[nodiscard]] bool has_own_rules() const { return has_own_rules_; }
  // Bytes, of all ranks, that go through memory between products and what goes by elements.
  [[nodiscard]] double through_memory() const { return through_memory_; }

 private:
  class Reader;  // of a program

  [[nodiscard]] Number number(const RoleTensor& tensor);
  void add(const RoleOperation& operation);

  Numbered<RoleOperation> operations_;
  Numbered<RoleTensor> tensors_;
  std::vector<double> counts_;
  std::vector<Memory> memory_;
  bool has_own_rules_ = false;
  double through_memory_ = 0;
};

}  // namespace mtf
