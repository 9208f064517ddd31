#include "tests/unit/stdlib/ops/evaluate.h"

#include <cassert>
#include <cstring>
#include <stdexcept>

#include "ir/kernel.h"
#include "runtime/vector_math/narrow.h"
#include "stdlib/ops/table.h"

namespace mtf::tests {
namespace {

class Host final : public KernelHost {
 public:
  Host(Evaluation& evaluation, const EvaluateOptions& options)
      : evaluation_(evaluation), options_(options) {}

  void print(std::string_view line) override { evaluation_.printed.emplace_back(line); }
  void fail(DiagKind kind, std::string text) override {
    if (!evaluation_.failure) {
      evaluation_.failure = {kind, std::move(text)};
    }
  }
  void warn(DiagKind /*kind*/, std::string /*text*/) override {}
  [[nodiscard]] std::uint64_t seed() const override { return options_.seed; }
  [[nodiscard]] std::uint64_t execution() const override { return options_.execution; }
  [[nodiscard]] bool first_rank() const override { return true; }

 private:
  Evaluation& evaluation_;
  const EvaluateOptions& options_;
};

// The operand with all dims of `shape`, repeated along those that it lacks.
std::vector<std::byte> spread(const HostTensor& tensor, const Shape& shape) {
  const std::size_t width = bytes_of(tensor.type.dtype);
  const std::vector<std::int64_t> steps = strides_of(shape);
  const std::vector<std::int64_t> own = strides_of(tensor.type.shape);
  std::vector<std::byte> result(static_cast<std::size_t>(shape.volume()) * width);
  for (std::int64_t i = 0; i < shape.volume(); ++i) {
    std::int64_t from = 0;
    for (std::size_t d = 0; d < shape.rank(); ++d) {
      if (const auto j = tensor.type.shape.index_of(shape[d].name)) {
        from += i / steps[d] % shape[d].size * own[*j];
      }
    }
    std::memcpy(result.data() + static_cast<std::size_t>(i) * width,
                tensor.data.data() + static_cast<std::size_t>(from) * width, width);
  }
  return result;
}

void run_tile(const OpCall& call, std::span<const HostTensor* const> operands, HostTensor& out) {
  std::vector<std::vector<std::byte>> wide;
  std::vector<const void*> in;
  std::vector<DType> dtypes;
  for (const HostTensor* operand : operands) {
    dtypes.push_back(operand->type.dtype);
    wide.push_back(spread(*operand, call.result.shape));
    in.push_back(wide.back().data());
  }
  const TileCall tile{.dtype = operands.empty() ? call.result.dtype : operands.back()->type.dtype,
                      .to = call.result.dtype,
                      .args = &call.args,
                      .isa = Isa::kPortable};
  const auto volume = static_cast<std::size_t>(call.result.shape.volume());
  if (is_widened(call)) {
    run_widened(call.op->tile, tile, dtypes, in, out.data.data(), volume);
  } else {
    call.op->tile(tile, in, out.data.data(), volume);
  }
}

TensorView view_of(const HostTensor& tensor) {
  return {.data = const_cast<std::byte*>(tensor.data.data()),
          .shape = tensor.type.shape,
          .offset = std::vector<std::int64_t>(tensor.type.shape.rank(), 0),
          .dtype = tensor.type.dtype};
}

}  // namespace

Evaluation evaluate(const Program& program, std::span<const HostTensor> inputs,
                    const EvaluateOptions& options) {
  Evaluation evaluation;
  Host host(evaluation, options);
  std::size_t next_input = 0;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    if (value.op == nullptr) {
      evaluation.values.push_back(inputs[next_input++]);
      assert(evaluation.values.back().type == value.type);
      continue;
    }
    const OpCall call = call_of(program, {static_cast<std::int32_t>(i)});
    std::vector<const HostTensor*> operands;
    for (const ValueId id : value.operands) {
      operands.push_back(&evaluation.values[static_cast<std::size_t>(id.index)]);
    }
    HostTensor out{.type = value.type, .data = {}};
    if (!value.op->effect) {  // filled with what no kernel should leave behind
      out.data.assign(static_cast<std::size_t>(value.type.bytes()), std::byte{0xA5});
    }
    if (value.op->tile != nullptr) {
      run_tile(call, operands, out);
    } else {
      const IterationSpace space = value.op->space(call);
      std::vector<TensorView> in;
      for (const HostTensor* operand : operands) {
        in.push_back(view_of(*operand));
      }
      std::vector<LoopShare> shares(space.loops.size());
      for (std::size_t l = 0; l < shares.size(); ++l) {
        shares[l].extent = space.loops[l].size;
      }
      value.op->kernel({.call = call,
                        .space = space,
                        .in = in,
                        .out = view_of(out),
                        .shares = shares,
                        .ordinal = i,
                        .exact = options.exact,
                        .host = host});
    }
    evaluation.values.push_back(std::move(out));
  }
  return evaluation;
}

HostTensor tensor_of(TensorType type, std::span<const double> numbers) {
  HostTensor tensor{.type = std::move(type), .data = {}};
  assert(static_cast<std::size_t>(tensor.type.shape.volume()) == numbers.size());
  tensor.data.resize(static_cast<std::size_t>(tensor.type.bytes()));
  with_stored(tensor.type.dtype, [&](auto element) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      element = static_cast<decltype(element)>(numbers[i]);
      std::memcpy(tensor.data.data() + i * sizeof(element), &element, sizeof(element));
    }
  });
  return tensor;
}

std::vector<double> numbers_of(const HostTensor& tensor) {
  std::vector<double> numbers(static_cast<std::size_t>(tensor.type.shape.volume()));
  with_stored(tensor.type.dtype, [&](auto element) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::memcpy(&element, tensor.data.data() + i * sizeof(element), sizeof(element));
      numbers[i] = static_cast<double>(element);
    }
  });
  return numbers;
}

Sketch::Sketch() : builder_(program_, op_table(), diags_) {}

ValueId Sketch::input(TensorType type, std::vector<double> numbers) {
  inputs_.push_back(tensor_of(type, numbers));
  return builder_.input(InputKind::kArgument, "x" + std::to_string(inputs_.size()),
                        std::move(type));
}

ValueId Sketch::call(std::string_view op, std::vector<ValueId> operands, OpArgs arguments) {
  const OpDef* def = find_op(op_table(), op);
  if (def == nullptr) {
    throw std::runtime_error("no operation " + std::string(op));
  }
  const std::optional<ValueId> value = builder_.call(*def, operands, std::move(arguments));
  if (!value) {
    throw std::runtime_error(diags_.diags().back().text);
  }
  return *value;
}

std::string Sketch::error_of(std::string_view op, std::vector<ValueId> operands, OpArgs arguments) {
  const std::size_t before = diags_.diags().size();
  const OpDef* def = find_op(op_table(), op);
  if (builder_.call(*def, operands, std::move(arguments))) {
    return "";
  }
  if (diags_.diags().size() != before + 1) {
    return "not exactly one error";
  }
  const Diag& diag = diags_.diags().back();
  return diag.text + " [" + std::string(slug(diag.kind)) + "]";
}

Evaluation Sketch::run(const EvaluateOptions& options) const {
  return evaluate(program_, inputs_, options);
}

std::vector<double> Sketch::numbers(ValueId id) const {
  return numbers_of(run().at(id));
}

}  // namespace mtf::tests
