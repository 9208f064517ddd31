// The one-rank oracle: a program's values computed one after the other on whole tensors, by nothing
// but the operations' own tiles and kernels.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/host_tensor.h"
#include "ir/program.h"

namespace mtf::tests {

struct EvaluateOptions {
  std::uint64_t seed = 0;
  std::uint64_t execution = 0;
  bool exact = true;
};

struct Evaluation {
  std::vector<HostTensor> values;  // one per value of the program; an effect's is empty
  std::vector<std::string> printed;
  std::optional<std::pair<DiagKind, std::string>> failure;  // the first one

  [[nodiscard]] const HostTensor& at(ValueId id) const {
    return values[static_cast<std::size_t>(id.index)];
  }
};

// `inputs`: one per program input, of its type.
[[nodiscard]] Evaluation evaluate(const Program& program, std::span<const HostTensor> inputs = {},
                                  const EvaluateOptions& options = {});

// A tensor of the given numbers, row-major.
[[nodiscard]] HostTensor tensor_of(TensorType type, std::span<const double> numbers);
[[nodiscard]] std::vector<double> numbers_of(const HostTensor& tensor);

// A program under construction on the real table, with the tensors that go into it.
class Sketch {
 public:
  Sketch();

  ValueId input(TensorType type, std::vector<double> numbers);
  ValueId call(std::string_view op, std::vector<ValueId> operands, OpArgs args = {});  // must fit
  // The message of a call that does not fit, with its slug: "text [slug]"; "" if it fits.
  std::string error_of(std::string_view op, std::vector<ValueId> operands, OpArgs args = {});
  [[nodiscard]] const TensorType& type_of(ValueId id) const { return builder_.type_of(id); }
  [[nodiscard]] Evaluation run(const EvaluateOptions& options = {}) const;
  [[nodiscard]] std::vector<double> numbers(ValueId id) const;
  [[nodiscard]] Builder& builder() { return builder_; }
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] std::vector<HostTensor>& inputs() { return inputs_; }

 private:
  Program program_;
  DiagSink diags_;
  Builder builder_;
  std::vector<HostTensor> inputs_;
};

// Arguments in one expression: args("over", dims({{"io", 3}})).
template <typename... Rest>
OpArgs args(std::string_view name, ArgValue value, Rest... rest) {
  OpArgs result;
  if constexpr (sizeof...(rest) > 0) {
    result = args(rest...);
  }
  result.set(name, std::move(value));
  return result;
}
[[nodiscard]] inline std::vector<Dim> dims(std::vector<Dim> list) {
  return list;
}
[[nodiscard]] inline std::vector<Dim> dim(std::string name, std::int64_t size = 0) {
  return {{.name = std::move(name), .size = size}};
}
[[nodiscard]] inline Shape shape(std::vector<Dim> list) {
  return Shape(std::move(list));
}
[[nodiscard]] inline TensorType f32(std::vector<Dim> list) {
  return {.dtype = DType::kF32, .shape = Shape(std::move(list))};
}
[[nodiscard]] inline TensorType f64(std::vector<Dim> list) {
  return {.dtype = DType::kF64, .shape = Shape(std::move(list))};
}
[[nodiscard]] inline TensorType i32(std::vector<Dim> list) {
  return {.dtype = DType::kI32, .shape = Shape(std::move(list))};
}

}  // namespace mtf::tests
