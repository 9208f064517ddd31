// What is compiled is kept by the address of its unit; what is compiled for is one layout.

#include "frontend/driver/devices/execute_device.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "frontend/driver/devices/mover.h"
#include "frontend/driver/devices/restored.h"
#include "frontend/driver/mesh_size.h"
#include "ir/builder.h"
#include "lowering/lower.h"

namespace mtf {

namespace {

std::string step_text(std::string_view entry, std::int64_t step, std::int64_t call) {
  return "step " + std::to_string(step) + " (call " + std::to_string(call) + " of `" +
         std::string(entry) + "`)";
}

std::string what_runs(RunKind kind, const std::string& name) {
  const bool has_name = kind == RunKind::kEntry || kind == RunKind::kInitialise;
  return has_name ? "`" + name + "`" : "this statement";
}

// A loss that is no number was one some steps before: which step it is, is what helps.
void add_warnings(const DiagSink& found, const std::string& step, DiagSink& diags) {
  for (Diag diag : found.diags()) {
    if (diag.kind == DiagKind::kNotANumber && !step.empty()) {
      diag.text += " at " + step;
    }
    diags.add(std::move(diag));
  }
}

}  // namespace

bool plans_are_to_be_checked() {
  return std::getenv("MTF_CHECK_PLAN") != nullptr;
}

ExecuteDevice::ExecuteDevice(ExecuteOptions options, Communicator* world)
    : options_(std::move(options)),
      communicator_(world),
      first_rank_(world == nullptr || world->has_first_rank()) {}

ExecuteDevice::~ExecuteDevice() = default;

void ExecuteDevice::forget_compiled() {
  compiled_.clear();
  movers_.clear();
}

bool ExecuteDevice::forget(const Unit& unit) {
  compiled_.erase(&unit);
  return true;
}

bool ExecuteDevice::use(const Layout* chosen, std::span<const Layout> declared, DiagSink& diags) {
  layout_ = chosen == nullptr ? one_rank() : *chosen;
  if (communicator_ == nullptr) {
    if (!check_simulated_size(layout_, "", diags)) {
      return false;
    }
    simulated_ = simulated_communicator(layout_.mesh.ranks());
    communicator_ = simulated_.get();
  } else if (!check_mesh_size(chosen, declared, communicator_->ranks(), {}, diags)) {
    return false;
  }
  ExecutorOptions executor{.exact = options_.exact,
                           .nan_is_error = options_.nan_is_error,
                           .check_finite = options_.check_finite,
                           .seed = options_.seed,
                           .print = options_.print};
  if (options_.interruption != nullptr) {
    executor.before_step = [this](const SpmdProgram& program, std::size_t step, double work) {
      options_.interruption->before_step(*communicator_, program, step, work, expects_save_);
    };
  }
  executor.watched = [this](const Program& program, ValueId loss, double value) {
    note_loss(program.at(loss).name, value);
  };
  executor.metric = [this](std::string_view name, double value, std::optional<std::int64_t> step) {
    noted_.push_back({.name = std::string(name), .value = value, .step = step});
  };
  if (options_.timeline != nullptr) {
    options_.timeline->start(*communicator_);
    executor.timed = [this](const StepTime& time) { options_.timeline->step(time); };
  }
  executor_ = std::make_unique<Executor>(*communicator_, std::move(executor));
  for (const std::int64_t rank : communicator_->local_ranks()) {
    counts_.push_back({.rank = rank});
  }
  return true;
}

void ExecuteDevice::declare(Variable variable) {
  known_.insert_or_assign(variable.path, variable);
  declared_.push_back(std::move(variable));
}

std::optional<std::vector<TensorHandle>> ExecuteDevice::run(const Unit& unit,
                                                            std::span<const TensorHandle> arguments,
                                                            DiagSink& diags) {
  std::unique_ptr<Compiled>& compiled = compiled_[&unit];
  if (compiled == nullptr) {
    const RunKind kind = unit.is_entry ? RunKind::kEntry : RunKind::kStatement;
    compiled = compile(unit.program, kind, unit.program.name, held_, diags, arguments);
  }
  if (compiled == nullptr || !initialise(variable_layouts(compiled->program), diags)) {
    return std::nullopt;
  }
  std::optional<std::vector<RankTensor>> outputs =
      run_in_layouts(*compiled, unit, arguments, diags);
  if (!outputs) {
    return std::nullopt;
  }
  std::vector<TensorHandle> handles;
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    RankTensor& output = (*outputs)[i];
    if (options_.given) {
      options_.given(output);
    }
    if (options_.observe_result) {
      options_.observe_result(unit, unit.program.outputs[i], whole(output));
    }
    handles.push_back(std::make_shared<Held>(std::move(output), in_handles_));
  }
  return handles;
}

std::optional<std::vector<RankTensor>> ExecuteDevice::run_in_layouts(
    Compiled& compiled, const Unit& unit, std::span<const TensorHandle> arguments,
    DiagSink& diags) {
  std::vector<const RankTensor*> inputs;
  std::deque<Held> elsewhere;  // what was somewhere else
  const SpmdProgram& program = compiled.program;
  std::size_t next = 0;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Input& input = program.source.inputs[i];
    if (input.is_variable()) {
      inputs.push_back(&variables_.at(input.name));
      continue;
    }
    const RankTensor& tensor = static_cast<const Held&>(*arguments[next++]).tensor;
    const ValueLayout& wanted = program.at(program.inputs[i]).layout;
    if (tensor.layout == wanted) {
      inputs.push_back(&tensor);
      continue;
    }
    std::optional<RankTensor> there = moved(tensor, wanted, diags);
    if (!there) {
      return std::nullopt;
    }
    inputs.push_back(&elsewhere.emplace_back(*std::move(there), in_handles_).tensor);
  }
  if (!still_fits_memory(compiled, inputs, diags)) {
    return std::nullopt;
  }
  keep(program);
  std::vector<RankTensor*> updated;
  for (const SpmdUpdate& update : program.updates) {
    updated.push_back(&variables_.at(program.source.inputs[update.input].name));
  }
  ReadAhead* ahead = elsewhere.empty() ? read_ahead(compiled, inputs, arguments) : nullptr;
  return execute(compiled, unit.is_entry ? unit.program.name : "", inputs, updated, diags, ahead);
}

std::optional<RankTensor> ExecuteDevice::moved(const RankTensor& tensor, const ValueLayout& to,
                                               DiagSink& diags) {
  const Shape& shape = tensor.type.shape;
  const std::string key = mtf::to_string(tensor.type) +
                          to_string(shape, tensor.layout, layout_.mesh) +
                          to_string(shape, to, layout_.mesh);
  std::unique_ptr<Compiled>& mover = movers_[key];
  if (mover == nullptr) {
    std::optional<SpmdProgram> lowered =
        mover_of(tensor.type, tensor.layout, to, layout_, options_.ops, diags, options_.exact);
    if (!lowered) {
      return std::nullopt;
    }
    mover = prepared(*std::move(lowered), RunKind::kMove, "");
  }
  const RankTensor* input = &tensor;
  if (!still_fits_memory(*mover, {&input, 1}, diags)) {
    return std::nullopt;
  }
  std::optional<std::vector<RankTensor>> outputs = execute(*mover, "", {&input, 1}, {}, diags);
  return outputs ? std::optional(std::move(outputs->front())) : std::nullopt;
}

std::unique_ptr<ExecuteDevice::Compiled> ExecuteDevice::compile(
    const Program& program, RunKind kind, const std::string& name, const HeldLayouts& held,
    DiagSink& diags, std::span<const TensorHandle> arguments) {
  return timed(HostWork::kPlan, [&]() -> std::unique_ptr<Compiled> {
    if (!is_alike(program, diags)) {
      return nullptr;
    }
    std::optional<SpmdProgram> lowered = lower_simplified(program, layout_, options_.ops, diags,
                                                          {.exact = options_.exact, .held = &held});
    if (!lowered ||
        !fits_memory(*lowered, what_runs(kind, name), inputs_of(*lowered, arguments), diags)) {
      return nullptr;
    }
    if (options_.lowered) {
      options_.lowered(*lowered);
    }
    return prepared(*std::move(lowered), kind, name);
  });
}

std::unique_ptr<ExecuteDevice::Compiled> ExecuteDevice::prepared(SpmdProgram program, RunKind kind,
                                                                 const std::string& name) {
  auto compiled = std::make_unique<Compiled>(std::move(program), what_runs(kind, name));
  compiled->executable = executor_->prepare(compiled->program);
  if (options_.timeline != nullptr) {
    compiled->timed = options_.timeline->add(kind, name, compiled->program);
  }
  return compiled;
}

bool ExecuteDevice::initialise(const HeldLayouts& wanted, DiagSink& diags) {
  if (declared_.empty()) {
    return true;
  }
  room_ = 0;
  const std::vector<Variable> declared = std::exchange(declared_, {});
  for (const Restored& restored : restored_) {
    if (!compare(restored.request, *restored.file, declared, diags)) {
      return false;
    }
  }
  for (const Variable& variable : declared) {
    std::optional<RankTensor> value = initial_value(variable, wanted, diags);
    if (!value) {
      return false;
    }
    held_.insert_or_assign(variable.path, value->layout);
    variables_.insert_or_assign(variable.path, *std::move(value));
    if (variable.trained) {
      for (RankCounts& counts : counts_) {
        counts.totals.parameters += variable.type.shape.volume();
      }
    }
  }
  return true;
}

std::optional<RankTensor> ExecuteDevice::initial_value(const Variable& variable,
                                                       const HeldLayouts& wanted, DiagSink& diags) {
  const std::unique_ptr<Compiled> compiled =
      compile(variable.init, RunKind::kInitialise, variable.path, wanted, diags);
  if (compiled == nullptr) {
    return std::nullopt;
  }
  std::optional<RankTensor> value;
  if (const Restored* restored = restored_for(variable.path)) {
    const SpmdProgram& program = compiled->program;
    const ValueLayout& layout = program.at(program.outputs.front()).layout;
    value = read_from(*restored, variable.path, variable.type, layout, diags);
  } else if (auto values = execute(*compiled, "", {}, {}, diags)) {
    value = std::move(values->front());
  }
  if (value && value->in_file) {
    value = copy_of(*value);  // a part of a file is not written to
  }
  if (value && options_.initialised) {
    options_.initialised(*value);
  }
  return value;
}

// Steps count from 0, as loops do; those of training from where a checkpoint was, as metrics do.
std::int64_t ExecuteDevice::next_step(std::string_view entry, const Compiled& compiled) const {
  const auto taken = steps_.find(std::string(entry));
  return taken == steps_.end() ? compiled.runs : taken->second;
}

std::optional<std::vector<RankTensor>> ExecuteDevice::execute(
    Compiled& compiled, std::string_view entry, std::span<const RankTensor* const> inputs,
    std::span<RankTensor* const> updated, DiagSink& diags, ReadAhead* ahead) {
  if (options_.interruption != nullptr) {
    options_.interruption->before_run(*communicator_, expects_save_);
  }
  DiagSink found;
  losses_.clear();
  noted_.clear();
  const std::int64_t begin = nanoseconds_now();
  if (options_.timeline != nullptr) {
    options_.timeline->begin_run(compiled.timed);
  }
  running_step_ =
      entry.empty() ? "" : step_text(entry, next_step(entry, compiled), compiled.runs + 1);
  std::optional<std::vector<RankTensor>> outputs =
      executor_->run(*compiled.executable, inputs, updated, found, ahead);
  if (options_.timeline != nullptr) {
    options_.timeline->end_run();
  }
  ++compiled.runs;
  room_ = compiled.runs == 1 && compiled.copies > 0 ? 0 : room_;
  const std::string step = std::exchange(running_step_, {});
  add_warnings(found, step, diags);
  if (!outputs) {
    return std::nullopt;
  }
  count(compiled.program, entry);
  if (options_.after_run) {
    options_.after_run();
  }
  const bool trains = !entry.empty() && !losses_.empty() && !compiled.program.updates.empty();
  if (trains) {
    count_step(compiled.program, static_cast<double>(nanoseconds_now() - begin) * 1e-9);
  }
  for (const Noted& noted : noted_) {
    metric(noted.name, noted.value, noted.step);
  }
  if (!step.empty() && (trains || !last_trains_)) {
    last_step_ = step;
    last_trains_ = trains;
  }
  ++runs_;
  return outputs;
}

HostTensor ExecuteDevice::whole(const RankTensor& tensor) {
  return {.type = tensor.type, .data = gather(*communicator_, layout_.mesh, tensor)};
}

std::optional<double> ExecuteDevice::scalar(const TensorHandle& tensor) {
  const RankTensor& held = static_cast<const Held&>(*tensor).tensor;
  assert(held.type.shape.rank() == 0);
  const std::byte* data = held.parts.front().data();
  if (options_.observe) {
    options_.observe({.type = held.type, .data = {data, data + bytes_of(held.type.dtype)}});
  }
  return with_stored(held.type.dtype, [data](auto zero) {
    std::memcpy(&zero, data, sizeof(zero));
    return static_cast<double>(zero);
  });
}

std::optional<HostTensor> ExecuteDevice::value(const TensorHandle& tensor) {
  HostTensor all =
      timed(HostWork::kGather, [&] { return whole(static_cast<const Held&>(*tensor).tensor); });
  if (options_.observe) {
    options_.observe(all);
  }
  return all;
}

std::optional<std::string> ExecuteDevice::text(const TensorHandle& tensor,
                                               const NumberFormat& numbers) {
  HostTensor all =
      timed(HostWork::kGather, [&] { return whole(static_cast<const Held&>(*tensor).tensor); });
  std::string text = format(all, numbers);
  if (options_.observe) {
    options_.observe(std::move(all));
  }
  return text;
}

void ExecuteDevice::print(std::string_view line) {
  if (first_rank_ && options_.print) {
    options_.print(line);
  }
}

std::map<std::string, HostTensor> ExecuteDevice::variables() {
  std::map<std::string, HostTensor> result;
  for (const auto& [path, tensor] : variables_) {
    result.emplace(path, whole(tensor));
  }
  return result;
}

}  // namespace mtf
