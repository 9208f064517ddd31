// Appends checked operations to a program.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/program.h"

namespace mtf {

class Builder {
 public:
  // `ops` is the table that operations are looked up in by name; both outlive the builder.
  Builder(Program& program, OpTable ops, DiagSink& diags)
      : program_(program), ops_(ops), diags_(diags) {}

  [[nodiscard]] Program& program() { return program_; }
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
  }
  // The region of `with layout`, and whether the next values belong to a gradient.
  void within(std::int32_t region) { region_ = region; }
  void backward(bool backward) { backward_ = backward; }
  [[nodiscard]] SourceSpan span() const { return span_; }
  [[nodiscard]] std::int32_t frame() const { return frame_; }
  [[nodiscard]] std::int32_t region() const { return region_; }
  [[nodiscard]] bool is_backward() const { return backward_; }

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

 private:
  ValueId emit(const OpDef& op, std::vector<ValueId> operands, OpArgs args);
  [[nodiscard]] std::optional<ValueId> expand(const OpCall& call,
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
};

}  // namespace mtf
