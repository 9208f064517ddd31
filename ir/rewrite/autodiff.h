// Reverse-mode differentiation: one pass backwards over the list, asking each operation.
//
// Gradients are ordinary values appended to the program, so they can be differentiated again. Those
// of a narrow tensor (ir/dtype.h) are computed and added up in the wide dtype, and rounded once.

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/builder.h"

namespace mtf {

// What has been collected so far for one value.
struct Adjoint {
  ValueId gradient;
  // Bools, with some of the value's dims: where one is false the gradient is 0 because a `where`
  // took its other branch, and stays 0 whatever it is multiplied by (ir/rewrite/branch.h). Invalid:
  // none.
  ValueId taken;
  bool wanted = false;  // does anything ask for it?
};

struct Adjoints {
  std::vector<Adjoint> slots;  // by value

  [[nodiscard]] Adjoint& at(ValueId id) { return slots[static_cast<std::size_t>(id.index)]; }
  [[nodiscard]] const Adjoint& at(ValueId id) const {
    return slots[static_cast<std::size_t>(id.index)];
  }
};

// What an operation's `grad` sees of its call, and where it puts the operands' gradients. Unless it
// is `narrow`, it sees narrow tensors widened; in any case it may give wide gradients for them.
class GradBuilder {
 public:
  GradBuilder(Builder& builder, ValueId result, ValueId upstream, Adjoints& adjoints);

  [[nodiscard]] ValueId upstream() const { return upstream_; }  // has the result's dims
  // These two as they were computed last, if a `recompute` block computes them again.
  [[nodiscard]] ValueId result() const { return seen_result_; }
  [[nodiscard]] ValueId operand(std::size_t i) const { return seen_[i]; }
  // Whether `result()` has lost digits to a narrow dtype.
  [[nodiscard]] bool is_rounded() const {
    return type_of(result_).dtype != type_of(seen_result_).dtype;
  }
  [[nodiscard]] std::size_t arity() const { return operands_.size(); }
  [[nodiscard]] const TensorType& type_of(ValueId id) const { return builder_.type_of(id); }
  [[nodiscard]] OpArgs args() const { return builder_.program().at(result_).args; }  // a copy
  // Whether anything asks for this operand's gradient; work for the others can be left out.
  [[nodiscard]] bool wants(std::size_t i) const;

  ValueId emit(std::string_view op, std::vector<ValueId> operands, OpArgs args = {}) {
    return builder_.emit(op, std::move(operands), std::move(args));
  }
  ValueId scalar(double value) { return scalar(value, type_of(seen_result_).dtype); }
  ValueId scalar(double value, DType dtype) { return builder_.scalar(value, dtype); }
  ValueId cast(ValueId x, DType dtype) { return builder_.cast(x, dtype); }
  ValueId widened(ValueId x) { return builder_.widened(x); }
  // Adds a gradient for operand i; summed down first if it has more dims than the operand.
  void add_to(std::size_t i, ValueId gradient);
  // The same for an operand that the result takes only where `taken` holds: elsewhere the gradient
  // is 0, and nothing that the operand was computed from may turn it into NaN.
  void add_where(ValueId taken, std::size_t i, ValueId gradient);

 private:
  void collect(std::size_t i, ValueId gradient, ValueId taken);

  Builder& builder_;
  ValueId result_;
  ValueId upstream_;
  Adjoints& adjoints_;
  std::vector<ValueId> operands_;  // a copy: the list grows while gradients are built
  ValueId seen_result_;
  std::vector<ValueId> seen_;  // per operand
};

// The gradients of the scalar `of` with respect to `targets`; an invalid id where it does not
// depend on one. requires: `of` is a scalar of a float type.
[[nodiscard]] std::vector<ValueId> gradients(Builder& builder, ValueId of,
                                             std::span<const ValueId> targets);

}  // namespace mtf
