// Steps in the user's words: names of values, calls as they are written, what a collective moves.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontend/report/plan/value_names.h"
#include "ir/support/source.h"
#include "lowering/spmd.h"

namespace mtf {

// The call that computed each value; null for what an input or a collective brought.
class Makers {
 public:
  explicit Makers(const SpmdProgram& program);  // which stays as it is meanwhile

  [[nodiscard]] const LocalCall* of(SpmdId id) const {
    return calls_[static_cast<std::size_t>(id.index)];
  }

 private:
  std::vector<const LocalCall*> calls_;
};

// "relu(%3 + bias)". `operand` gives the text of an operand, in parentheses where it is an operator
// that binds less than its second argument says.
using OperandText = std::function<std::string(SpmdId, int)>;
[[nodiscard]] std::string call_text(const LocalCall& call, const OperandText& operand);
// How tightly the operator of a call binds; a call that is written `f(x)` beats them all.
[[nodiscard]] int precedence_of(const LocalCall& call);
// A scalar constant that is no more than its number: "0.5". Empty for any other call.
[[nodiscard]] std::string literal_text(const LocalCall& call);

// How wide a text is if all whole numbers in it had two digits: of layers that differ in the
// numbers of their values it is the same.
[[nodiscard]] std::size_t width_but_for_numbers(std::string_view text);

// "all_reduce(%9, sum over cols)"
[[nodiscard]] std::string move_text(const SpmdProgram& program, const Step& step,
                                    const ValueNames& names);
// The dims that a step splits, joins or sums; of a kernel, the dims that it reduces.
[[nodiscard]] std::vector<std::string> dims_of(const SpmdProgram& program, const Makers& makers,
                                               const Step& step);

// "f32[batch 32/64, io 32]"
[[nodiscard]] std::string type_text(const SpmdValue& value);
// Where `own` is the shape of what a rank has.
[[nodiscard]] std::string type_text(const SpmdValue& value, const Shape& own);

}  // namespace mtf
