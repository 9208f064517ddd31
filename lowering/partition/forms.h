// The forms of each value: its slices in one layout after the other, as partition makes them.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lowering/known/known_plans.h"
#include "lowering/reshard/reshard.h"
#include "lowering/spmd.h"

namespace mtf {

class Forms {
 public:
  // `gather_again`: what is gathered forward is not kept for the backward pass.
  Forms(SpmdProgram& out, Resharder& resharder, KnownPlans& known, bool gather_again);

  // Goes on to the next value of the source, of the forward or the backward pass.
  void enter(ValueId id);
  // An alias is another name of its operand, whose forms are its own. Behind a pin only what lies
  // as the pin says is read, and what was made from that.
  void rename(ValueId id);
  void pin(ValueId id, SpmdId form);

  // The value that this one is another name of; its elements are the same.
  [[nodiscard]] ValueId root(ValueId id) const { return roots_[at(id)]; }
  // The same, but for a pin itself.
  [[nodiscard]] ValueId holder(ValueId id) const { return holders_[at(id)]; }
  [[nodiscard]] const ValueLayout& target(ValueId id) const { return out_.target(id).layout; }

  SpmdId add(ValueId id, const ValueLayout& layout);
  // As a plain split leaves it.
  SpmdId add(ValueId id, const KnownSplit& made);
  // Sums of blocks on the way to the value, which are no form of it.
  SpmdId add_blocks(ValueId id, const TensorType& type, const ValueLayout& layout);
  void add_made(ValueId id, SpmdId form);  // that is a form of its root
  void replace_all(ValueId id, SpmdId form) { forms_[at(holder(id))] = {form}; }
  // Behind a loop: what its trips made of values from outside, from that one on, is not there.
  void forget_since(std::size_t first);

  // The first is as its step leaves it.
  [[nodiscard]] const std::vector<SpmdId>& of(ValueId id) const { return forms_[at(holder(id))]; }
  // Invalid: there is none.
  [[nodiscard]] SpmdId find(ValueId id, const ValueLayout& layout) const;
  [[nodiscard]] SpmdId find(ValueId id, Number layout) const;
  // The layouts that each operand is whole in.
  [[nodiscard]] std::vector<std::vector<ValueLayout>> copies_of(const Value& value) const;
  // All of the operation's operands and result that its split depends on.
  // Whether it is what a variable becomes, or an output.
  [[nodiscard]] bool is_kept(ValueId id) const { return is_kept_[at(id)]; }
  void add_problem(ValueId id, std::vector<std::uint64_t>& problem);
  // The form from which `to` is reached with the fewest elements received. Invalid: they are gone.
  [[nodiscard]] SpmdId nearest(ValueId id, const ValueLayout& to) const;
  // The form from which what the call moves is sent with the fewest elements received. Forms that
  // are partial sums, or that not all ranks hold, are none.
  struct Source {
    SpmdId form;
    std::int64_t received = std::numeric_limits<std::int64_t>::max();
  };
  [[nodiscard]] Source nearest_source(ValueId operand, const SplitCall& call,
                                      const ValueLayout& to) const;
  // Whether a step may read the form: one that was only gathered for the forward pass is gone.
  [[nodiscard]] bool is_there(ValueId id, SpmdId form) const;

 private:
  [[nodiscard]] std::string name_of(ValueId id) const;
  [[nodiscard]] bool is_copy(ValueId operand, SpmdId form) const;
  Number target_number(ValueId id);
  SpmdId add(ValueId id, Number layout, const TensorType& local);

  SpmdProgram& out_;
  Resharder& resharder_;
  KnownPlans& known_;
  bool gather_again_;
  bool backward_ = false;
  std::vector<std::vector<SpmdId>> forms_;                    // per value that holds its own
  std::vector<ValueId> roots_;                                // per value
  std::vector<bool> is_kept_;                                 // per value
  std::vector<ValueId> holders_;                              // per value, whose forms are its own
  std::vector<bool> made_backward_;                           // per form
  std::vector<Number> layouts_;                               // per form
  std::unordered_map<const Target*, Number> targets_;         // of values that were asked for
  std::unordered_map<std::int32_t, const Input*> arguments_;  // that are no variables, by value
};

}  // namespace mtf
