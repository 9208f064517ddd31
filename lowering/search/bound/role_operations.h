// The operations of programs that a bound counts, by the roles of dims: products, and what is done
// element by element. Those that are alike stand once.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/op.h"
#include "ir/program.h"
#include "lowering/known/numbered.h"
#include "lowering/search/space/space.h"

namespace mtf {

struct RoleTensor {
  std::vector<std::int32_t> dims;   // of the space, by dim; -1: one that cannot be split
  std::vector<std::int32_t> loops;  // by dim; -1: made of several
  double bytes = 0;
  bool is_open = false;      // its layout may be another than the rules say
  bool is_variable = false;  // and its rules those of the variables
  double readers = 1;        // that may share what is gathered; 0: of what is not counted

  friend bool operator==(const RoleTensor&, const RoleTensor&) = default;
};

struct RoleOperation {
  std::vector<RoleTensor> tensors;  // operands, then the result
  std::vector<double> loops;        // sizes
  std::vector<char> reduced;        // per loop
  const OpDef* op = nullptr;
  double volume = 1;           // of all loops
  bool is_product = false;     // of two
  bool stays_partial = false;  // what it sums may be brought together elsewhere

  friend bool operator==(const RoleOperation&, const RoleOperation&) = default;
};

class RoleOperations {
 public:
  RoleOperations(const SearchSpace& space, std::span<const Program> programs);

  [[nodiscard]] std::size_t size() const { return counts_.size(); }
  [[nodiscard]] const RoleOperation& operator[](std::size_t i) const {
    return operations_[static_cast<Number>(i)];
  }
  [[nodiscard]] double count(std::size_t i) const { return counts_[i]; }
  [[nodiscard]] std::span<const RoleTensor> inputs() const { return inputs_; }

 private:
  class Reader;  // of a program

  void add(const RoleOperation& operation);

  Numbered<RoleOperation> operations_;
  std::vector<double> counts_;      // how often each is done
  std::vector<RoleTensor> inputs_;  // with what they take in memory
};

}  // namespace mtf
