// Appends checked operations to a program.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/program.h"

namespace mtf {

// The gradient that a program gives itself in place of that of the operations.
struct OwnGradient {
  std::vector<ValueId> results;  // in order; nothing flows to their operands
  std::vector<ValueId> by;       // what they depend on
  // Given the gradients of the results, those of `by`, with their types; invalid after an error.
  std::function<std::vector<ValueId>(std::span<const ValueId>)> rule;
};

// A call whose definition did not take its operands as they are, but what some values before it
// were made of: of a sum of x times a one_hot, elements of x. So nothing flows to those values from
// what it gives, unless gradients follow the call instead.
struct WholeCall {
  ValueId result;
  const OpDef* op = nullptr;
  std::vector<ValueId> operands;
  OpArgs args;
  std::vector<ValueId> through;  // those values
};

// What `x` was widened from, if that is of the dtype: a cast back gives its very elements. Invalid:
// nothing is.
[[nodiscard]] ValueId widened_from(const Program& program, ValueId x, DType dtype);

class Builder {
 public:
  // `ops` is the table that operations are looked up in by name; both outlive the builder.
  Builder(Program& program, OpTable ops, DiagSink& diags)
      : program_(program), ops_(ops), diags_(diags) {}

  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] DiagSink& diags() { return diags_; }
  [[nodiscard]] OpTable ops() const { return ops_; }
  [[nodiscard]] const TensorType& type_of(ValueId id) const { return program_.at(id).type; }

  // Place and call chain that the next values get.
  void at(SourceSpan span, std::int32_t frame) {
    span_ = span;
    frame_ = frame;
  }
  // The same as another value has, and what a rewrite keeps of it.
  void at(const Value& like) {
    at(like.span, like.frame);
    within(like.region);
    backward(like.backward);
    internal_ = like.internal;
    recompute_ = {.block = like.recompute.block, .again = like.recompute.again, .of = {}};
  }
  // The region of `with layout`, and whether the next values belong to a gradient.
  void within(std::int32_t region) { region_ = region; }
  void backward(bool backward) { backward_ = backward; }
  // The block of `recompute` that the next values are made in, and which copy they belong to.
  void recompute(Recomputation recompute) { recompute_ = recompute; }
  [[nodiscard]] const Recomputation& recompute() const { return recompute_; }
  // The number of a new block.
  [[nodiscard]] std::int32_t new_block() { return blocks_++; }
  [[nodiscard]] SourceSpan span() const { return span_; }
  [[nodiscard]] std::int32_t frame() const { return frame_; }
  [[nodiscard]] std::int32_t region() const { return region_; }
  [[nodiscard]] bool is_backward() const { return backward_; }

  // While gradients are built: the copy of a value that was computed again; else the value itself.
  [[nodiscard]] ValueId latest(ValueId id) const {
    const bool is_copied = copies_.size() > mtf::at(id) && copies_[mtf::at(id)].valid();
    return is_copied ? copies_[mtf::at(id)] : id;
  }
  [[nodiscard]] std::vector<ValueId>& copies() { return copies_; }
  void add(OwnGradient own);
  // The program ends before that value again.
  void forget_since(ValueId first);
  // The one that the value is a result of; null if there is none.
  [[nodiscard]] const OwnGradient* own_gradient_of(ValueId result) const;
  void forget_own_gradient_of(ValueId result) { own_results_.erase(result.index); }

  // Of a definition: it takes what the value was made of in its place.
  void look_through(ValueId id) { through_.push_back(id); }
  // Whether none may: gradients end here.
  [[nodiscard]] bool is_opaque(ValueId id) const {
    return opaque_.contains(id.index) || own_gradient_of(id) != nullptr;
  }
  // The same elements, in a value that is opaque.
  ValueId opaque(ValueId x);
  [[nodiscard]] const std::vector<WholeCall>& whole_calls() const { return whole_calls_; }

  ValueId input(InputKind kind, std::string name, TensorType type);

  // Checks and appends one operation (or what it expands to). nullopt: an error was recorded.
  // Spans of the operands let a message point at the one that is wrong.
  [[nodiscard]] std::optional<ValueId> call(const OpDef& op, std::span<const ValueId> operands,
                                            OpArgs args = {},
                                            std::span<const SourceSpan> spans = {});

  // For definitions and gradients, which are right by construction: operations by name there, in
  // the phases by what they are. requires: the call is legal.
  ValueId emit(std::string_view op, std::vector<ValueId> operands, OpArgs args = {});
  ValueId emit(Algebra op, std::vector<ValueId> operands, OpArgs args = {});
  ValueId emit(Primitive op, std::vector<ValueId> operands, OpArgs args = {});
  // The scalar `value` of the given type.
  ValueId scalar(double value, DType dtype);
  // `x` itself where it has the dtype, or what it was widened from; else a cast.
  ValueId cast(ValueId x, DType dtype);
  ValueId widened(ValueId x) { return cast(x, wide_of(type_of(x).dtype)); }
  // `x` itself where its dims are in the order of `to`, which are the same; else a transpose.
  ValueId ordered(ValueId x, const Shape& to);

 private:
  ValueId emit(const OpDef& op, std::vector<ValueId> operands, OpArgs args);
  [[nodiscard]] std::optional<ValueId> expand(const OpCall& call,
                                              std::span<const ValueId> operands);
  [[nodiscard]] std::optional<ValueId> call_widened(const OpCall& call,
                                                    std::span<const ValueId> operands);

  Program& program_;
  OpTable ops_;
  DiagSink& diags_;
  SourceSpan span_;
  std::int32_t frame_ = -1;
  std::int32_t region_ = -1;
  bool backward_ = false;
  bool internal_ = false;
  int expanding_ = 0;  // calls whose definitions are being built
  Recomputation recompute_;
  std::int32_t blocks_ = 0;
  std::vector<ValueId> copies_;  // per value, as long as gradients are built
  std::vector<WholeCall> whole_calls_;
  std::vector<ValueId> through_;  // of the definitions that are being built
  std::unordered_set<std::int32_t> opaque_;
  std::vector<OwnGradient> own_gradients_;
  std::unordered_map<std::int32_t, std::size_t> own_results_;  // places there, by value
};

}  // namespace mtf
