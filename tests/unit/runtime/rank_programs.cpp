#include "tests/unit/runtime/rank_programs.h"

#include <algorithm>
#include <numeric>

#include "ir/kernel.h"
#include "tests/unit/runtime/rank_values.h"

namespace mtf::test {
namespace {

OpDef named(std::string_view name) {
  OpDef op{};
  op.name = name;
  op.space = [](const OpCall& call) { return space_by_name(call); };
  return op;
}

void add_tile(const TileCall& /*call*/, std::span<const void* const> in, void* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    static_cast<float*>(out)[i] =
        static_cast<const float*>(in[0])[i] + static_cast<const float*>(in[1])[i];
  }
}

void scale_tile(const TileCall& /*call*/, std::span<const void* const> in, void* out,
                std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    static_cast<float*>(out)[i] = 2 * static_cast<const float*>(in[0])[i];
  }
}

// Over the first dim, which the result lacks; rows by the tree, so that a split changes no bit.
void sum_kernel(const KernelCall& call) {
  const std::span<const float> in = elements<const float>(call.in[0]);
  const std::span<float> out = elements<float>(call.out);
  const std::size_t rows = in.size() / out.size();
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::vector<float> leaves;
    for (std::size_t row = 0; row < rows; ++row) {
      leaves.push_back(in[row * out.size() + i]);
    }
    out[i] = tree_sum<float>(leaves);
  }
}

void fail_kernel(const KernelCall& call) {
  for (const float value : elements<const float>(call.in[0])) {
    if (value > 100) {
      call.host.fail(DiagKind::kAssertion, "a value is too large");
    }
  }
}

void print_kernel(const KernelCall& call) {
  for (const float value : elements<const float>(call.in[0])) {
    call.host.print(std::to_string(value));
  }
  call.host.warn(DiagKind::kNotANumber, "printed");
}

ValueLayout along(std::vector<Axes> dims, Axes partial = {}) {
  return {.dims = std::move(dims), .partial = std::move(partial)};
}

}  // namespace

const OpDef& add_op() {
  static const OpDef op = [] {
    OpDef made = named("add");
    made.tile = add_tile;
    made.flops = [](const OpCall& call) { return static_cast<double>(call.result.shape.volume()); };
    return made;
  }();
  return op;
}

const OpDef& scale_op() {
  static const OpDef op = [] {
    OpDef made = named("scale");
    made.tile = scale_tile;
    return made;
  }();
  return op;
}

const OpDef& sum_op() {
  static const OpDef op = [] {
    OpDef made = named("sum");
    made.kernel = sum_kernel;
    made.flops = [](const OpCall& call) {
      return static_cast<double>(call.operands[0].shape.volume());
    };
    return made;
  }();
  return op;
}

const OpDef& fail_op() {
  static const OpDef op = [] {
    OpDef made = named("fail");
    made.kernel = fail_kernel;
    made.effect = true;
    return made;
  }();
  return op;
}

const OpDef& print_op() {
  static const OpDef op = [] {
    OpDef made = named("print");
    made.kernel = print_kernel;
    made.effect = true;
    return made;
  }();
  return op;
}

SpmdId ProgramSketch::value(DType dtype, const Shape& shape, ValueLayout layout, Home home,
                            std::int64_t offset) {
  SpmdValue value{.type = {dtype, shape},
                  .layout = std::move(layout),
                  .local = {},
                  .origin = {},
                  .name = "",
                  .home = home,
                  .offset = offset};
  value.local = {dtype, local_shape(shape, value.layout, program.mesh)};
  program.values.push_back(std::move(value));
  const auto last = static_cast<std::int32_t>(program.values.size()) - 1;
  if (home == Home::kOutput) {
    program.outputs.push_back({last});
  }
  return {last};
}

SpmdId ProgramSketch::input(const Shape& shape, const ValueLayout& layout) {
  const auto which = static_cast<std::int64_t>(program.inputs.size());
  program.inputs.push_back(value(DType::kF32, shape, layout, Home::kInput, which));
  return program.inputs.back();
}

void ProgramSketch::move(StepKind kind, SpmdId from, SpmdId to, Axes axes) {
  Step& step = program.steps.emplace_back();
  step.kind = kind;
  step.from = from;
  step.to = to;
  step.axes = std::move(axes);
}

LocalCall ProgramSketch::call(const OpDef& op, std::vector<SpmdId> operands, SpmdId result,
                              std::vector<Axes> loops) {
  SplitCall split;
  split.call.op = &op;
  for (const SpmdId operand : operands) {
    split.call.operands.push_back(program.at(operand).type);
  }
  split.call.result = result.valid() ? program.at(result).type : TensorType{};
  split.space = op.space(split.call);
  split.loops = std::move(loops);
  LocalCall made;
  made.split = std::move(split);
  made.operands = std::move(operands);
  made.result = result;
  return made;
}

void ProgramSketch::step(std::vector<LocalCall> calls) {
  program.steps.emplace_back().calls = std::move(calls);
}

SpmdProgram summing_program(const Mesh& mesh) {
  ProgramSketch sketch(mesh);
  const Shape batch_hidden({{"batch", 16}, {"hidden", 24}});
  const Shape hidden({{"hidden", 24}});
  const SpmdId x = sketch.input(batch_hidden, along({{0}, {1}}));
  const SpmdId b = sketch.input(hidden, along({{1}}));
  const SpmdId v = sketch.input(hidden, along({{}}));
  const SpmdId doubled = sketch.value(DType::kF32, batch_hidden, along({{0}, {1}}), Home::kNone);
  const SpmdId shifted =
      sketch.value(DType::kF32, batch_hidden, along({{0}, {1}}), Home::kArena, 0);
  const SpmdId pending = sketch.value(DType::kF32, hidden, along({{1}}, {0}), Home::kArena, 2048);
  const SpmdId reduced = sketch.value(DType::kF32, hidden, along({{1}}), Home::kArena, 0);
  const SpmdId y = sketch.value(DType::kF32, hidden, along({{}}), Home::kOutput, 0);
  const SpmdId updated = sketch.value(DType::kF32, hidden, along({{}}), Home::kInput, 2);
  sketch.step({sketch.call(scale_op(), {x}, doubled, {{0}, {1}}),
               sketch.call(add_op(), {doubled, b}, shifted, {{0}, {1}})});
  sketch.step({sketch.call(sum_op(), {shifted}, pending, {{0}, {1}})});
  sketch.move(StepKind::kAllReduce, pending, reduced, {0});
  sketch.move(StepKind::kAllGather, reduced, y, {1});
  sketch.step({sketch.call(add_op(), {v, y}, updated, {{}})});
  sketch.program.updates.push_back({.input = 2, .value = updated});
  return std::move(sketch.program);
}

SummingResult run_summing(Communicator& communicator, const Mesh& mesh, int times) {
  const SpmdProgram program = summing_program(mesh);
  Executor executor(communicator, {.check_agreement = true});
  const Executable executable = executor.prepare(program);
  std::vector<RankTensor> inputs;
  std::vector<RankTensor*> given;
  given.reserve(program.inputs.size());
  for (const SpmdId id : program.inputs) {
    const SpmdValue& value = program.at(id);
    const std::vector<float> whole = numbers<float>(id.index, value.type.shape.volume());
    inputs.push_back(scatter(executor.pool(), communicator, mesh, value.type, value.layout,
                             std::as_bytes(std::span(whole))));
  }
  for (RankTensor& tensor : inputs) {
    given.push_back(&tensor);
  }
  std::vector<RankTensor*> updated;
  for (const SpmdUpdate& update : program.updates) {
    updated.push_back(given[update.input]);
  }
  DiagSink diags;
  SummingResult result;
  for (int i = 0; i < times; ++i) {
    const auto outputs = executor.run(executable, given, updated, diags);
    result.y = gather(communicator, mesh, outputs.value().front());
  }
  result.v = gather(communicator, mesh, inputs[2]);
  result.counted = executor.counted().front().totals;
  return result;
}

SpmdProgram failing_program(const Mesh& mesh, std::int64_t batch) {
  ProgramSketch sketch(mesh);
  const SpmdId x = sketch.input(Shape({{"batch", batch}}), along({{0}}));
  sketch.step({sketch.call(fail_op(), {x}, {}, {{0}})});
  return std::move(sketch.program);
}

}  // namespace mtf::test
