// All ranks decide alike, though each sees its own machine's memory: what they hold is counted by
// the plan, the same for every rank.

#include <algorithm>
#include <set>

#include "frontend/driver/devices/execute_device.h"
#include "frontend/driver/devices/memory/memory_check.h"
#include "runtime/execute/executor_host.h"
#include "runtime/execute/files/file_output.h"
#include "runtime/ranks/mpi/launch.h"

namespace mtf {
namespace {

// An input that is not there yet, or not in the layout in which it is read.
const RankTensor& nothing() {
  static const RankTensor none;
  return none;
}

std::int64_t bytes_on_a_rank(const RankTensor& tensor) {
  return &tensor == &nothing() || tensor.in_file ? 0 : tensor.local.bytes();
}

std::int64_t bytes_of_variables(const SpmdProgram& program) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const bool is_variable = program.source.inputs[i].is_variable();
    bytes += is_variable ? program.at(program.inputs[i]).local.bytes() : 0;
  }
  return bytes;
}

std::int64_t bytes_of_copies(const SpmdProgram& program) {
  std::int64_t bytes = 0;
  for (const WorkingCopy& copy : program.copies) {
    bytes += program.at(copy.value).local.bytes();
  }
  return bytes;
}

// Of the first rank that has one, as each asks its own machine. Collective.
Diag agreed_shortage(Communicator& communicator, const std::optional<Diag>& found) {
  const std::string mine = found ? encode(*found) : "";
  const std::vector<std::string> all =
      communicator.share(std::vector<std::string>(communicator.local_ranks().size(), mine));
  const auto first = std::ranges::find_if(all, [](const auto& one) { return !one.empty(); });
  Diag diag = decode(*first);
  if (std::ranges::count(all, "") > 0) {
    diag.notes.push_back({.text = "on rank " + std::to_string(first - all.begin()) + " of " +
                                  std::to_string(all.size())});
  }
  return diag;
}

}  // namespace

ExecuteDevice::Compiled::Compiled(SpmdProgram lowered, std::string named)
    : program(std::move(lowered)),
      what(std::move(named)),
      beside_variables(program.totals.peak_bytes - bytes_of_variables(program)),
      copies(bytes_of_copies(program)) {}

ExecuteDevice::Held::Held(RankTensor held, std::int64_t& in_handles)
    : DeviceTensor(held.type), tensor(std::move(held)), in_handles_(in_handles) {
  in_handles_ += bytes_on_a_rank(tensor);
}

ExecuteDevice::Held::~Held() {
  in_handles_ -= bytes_on_a_rank(tensor);
}

std::vector<const RankTensor*> ExecuteDevice::inputs_of(
    const SpmdProgram& program, std::span<const TensorHandle> arguments) const {
  std::vector<const RankTensor*> inputs;
  std::size_t next = 0;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const Input& input = program.source.inputs[i];
    const RankTensor* tensor = &nothing();
    if (!input.is_variable()) {
      tensor = &static_cast<const Held&>(*arguments[next++]).tensor;
    } else if (const auto found = variables_.find(input.name); found != variables_.end()) {
      tensor = &found->second;
    }
    const bool is_there = tensor->layout == program.at(program.inputs[i]).layout;
    inputs.push_back(is_there ? tensor : &nothing());
  }
  return inputs;
}

std::int64_t ExecuteDevice::held_bytes() const {
  std::int64_t held = in_handles_;
  for (const auto& [path, tensor] : variables_) {
    held += bytes_on_a_rank(tensor);
  }
  for (const auto& [unit, compiled] : compiled_) {
    held += compiled == nullptr ? 0 : compiled->held();
  }
  return held;
}

std::optional<Diag> ExecuteDevice::shortage(const SpmdProgram& program, MemoryNeed need) const {
  const std::optional<Launch> launch = launched();
  const bool alone = simulated_ != nullptr;
  const std::int64_t processes = alone || !launch ? 1 : launch->ranks_here;
  need.ranks = static_cast<std::int64_t>(communicator_->local_ranks().size()) * processes;
  need.in_files *= need.ranks;
  need.is_asked = options_.max_memory > 0;
  if (need.is_asked) {
    need.compared = options_.compared ? options_.compared() : 0;
    need.available = static_cast<std::int64_t>(options_.max_memory) << 20;
    return memory_shortage(program, need);
  }
  const std::optional<AvailableMemory> left = available_memory(processes);
  if (!left) {
    return std::nullopt;
  }
  need.available = left->bytes + executor_->pool().live_bytes() * processes;
  need.is_limited = left->is_limited;
  return memory_shortage(program, need);
}

bool ExecuteDevice::fits_memory(const SpmdProgram& program, std::string_view what,
                                std::span<const RankTensor* const> inputs, DiagSink& diags,
                                std::int64_t own) {
  MemoryNeed need{
      .what = what, .held = held_bytes() - own, .in_files = bytes_in_files(program, inputs)};
  for (const RankTensor* used : std::set<const RankTensor*>(inputs.begin(), inputs.end())) {
    need.held -= bytes_on_a_rank(*used);
  }
  std::optional<Diag> found = shortage(program, need);
  if (found && !need.is_asked) {
    executor_->pool().release_unused();
    found = shortage(program, need);
  }
  if (!communicator_->any(found.has_value())) {
    return true;
  }
  diags.add(agreed_shortage(*communicator_, found));
  return false;
}

// Most runs need no more than one before them. What was found to fit has some room left for the
// next ones, unless it is tight.
bool ExecuteDevice::still_fits_memory(const Compiled& compiled,
                                      std::span<const RankTensor* const> inputs, DiagSink& diags) {
  constexpr std::int64_t kGrowth = 16;
  constexpr std::int64_t kLeastGrowth = std::int64_t{16} << 20;
  const std::int64_t needed = in_handles_ + compiled.beside_variables;
  if (needed <= room_ && !options_.compared) {
    return true;
  }
  const SpmdProgram& program = compiled.program;
  if (!fits_memory(program, compiled.what, inputs, diags, compiled.held())) {
    return false;
  }
  const std::int64_t held =
      held_bytes() - compiled.held() + compiled.beside_variables - program.totals.peak_bytes;
  for (const std::int64_t growth : {needed / kGrowth + kLeastGrowth, std::int64_t{0}}) {
    const MemoryNeed need{.what = compiled.what, .held = held + growth};
    if (!communicator_->any(shortage(program, need).has_value())) {
      room_ = needed + growth;
      return true;
    }
  }
  return true;
}

}  // namespace mtf
