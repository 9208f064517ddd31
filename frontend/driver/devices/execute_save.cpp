// Checkpoints of what a device holds.

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "frontend/driver/devices/execute_device.h"
#include "frontend/driver/devices/restored.h"
#include "runtime/checkpoint/write.h"
#include "stdlib/ops/tiles.h"

namespace mtf {
namespace {

// Dims that the file names, or else of no name that a program would have.
Shape shape_in_file(const CheckpointFile& file, const std::string& path, const FileTensor& tensor) {
  const auto* names = file.notes() ? &file.notes()->dims : nullptr;
  const auto found = names == nullptr ? decltype(names->end()){} : names->find(path);
  const bool has_names =
      names != nullptr && found != names->end() && found->second.size() == tensor.sizes.size() &&
      std::set(found->second.begin(), found->second.end()).size() == tensor.sizes.size();
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    dims.push_back({.name = has_names ? found->second[i] : "dim " + std::to_string(i),
                    .size = tensor.sizes[i]});
  }
  return Shape(std::move(dims));
}

bool has_sizes(const Shape& shape, const FileTensor& tensor) {
  return std::ranges::equal(shape.dims(), tensor.sizes, {}, &Dim::size);
}

// Over all ranks, where a dim divides.
ValueLayout spread(const Shape& shape, const Mesh& mesh) {
  ValueLayout layout = replicated(shape);
  Axes all;
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    all.push_back(static_cast<AxisId>(axis));
  }
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (shape[d].size % mesh.ranks() == 0) {
      layout.dims[d] = all;
      break;
    }
  }
  return layout;
}

}  // namespace

// A path of its own in the folder, whatever it was relative to.
std::string ExecuteDevice::place_of(const std::string& path) const {
  if (options_.checkpoints.empty()) {
    return path;
  }
  std::filesystem::path place = options_.checkpoints;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    place /= part == ".." ? "up" : part == "/" ? "root" : part;
  }
  return place.string();
}

std::string ExecuteDevice::saved_place(const std::string& path) const {
  const std::string there = place_of(path);
  return is_in_place(there) ? there : path;
}

// A checkpoint is restored at once, and the variables that take it are declared later, by the first
// call of the function that has them. What is saved in between has what they would have taken, too.
std::set<std::string> ExecuteDevice::untaken_paths() const {
  std::set<std::string> paths;
  for (const Restored& restored : restored_) {
    for (const std::string& name : restored.file->names()) {
      for (const std::string& path : restored.request.takers_of(name)) {
        const bool is_wanted = !options_.variables || options_.variables->contains(path);
        if (is_wanted && !variables_.contains(path)) {
          paths.insert(path);
        }
      }
    }
  }
  return paths;
}

std::optional<std::map<std::string, RankTensor>> ExecuteDevice::untaken(DiagSink& diags) {
  std::map<std::string, RankTensor> tensors;
  for (const std::string& path : untaken_paths()) {
    const Restored& restored = *restored_for(path);
    const std::string name = restored.request.in_file(path);
    const FileTensor& stored = *restored.file->find(name);
    const std::optional<StoredType> in_file = stored_type(stored.dtype);
    TensorType type = {.dtype = in_file.value_or(StoredType()).dtype,
                       .shape = shape_in_file(*restored.file, name, stored)};
    if (!in_file || type.shape.volume() == 0) {
      continue;  // no variable can be that
    }
    if (options_.variables && has_sizes(options_.variables->at(path).shape, stored)) {
      type = options_.variables->at(path);
    }
    std::optional<RankTensor> tensor =
        read_from(restored, path, type, spread(type.shape, layout_.mesh), diags);
    if (!tensor) {
      return std::nullopt;
    }
    tensors.emplace(path, *std::move(tensor));
  }
  return tensors;
}

bool ExecuteDevice::save(const SaveRequest& request, DiagSink& diags) {
  if (!initialise({}, diags)) {
    return false;
  }
  const RandomStream stream = executor_->stream();
  CheckpointPlan plan{.path = place_of(request.path),
                      .keep = request.keep,
                      .seed = stream.seed,
                      .draws = stream.draws,
                      .steps = steps_,
                      .note = request.note};
  plan.part_bytes = request.part_bytes > 0 ? request.part_bytes : plan.part_bytes;
  const std::optional<std::map<std::string, RankTensor>> others = untaken(diags);
  if (!others) {
    return false;
  }
  std::vector<NamedTensor> tensors;
  for (const auto& [path, tensor] : variables_) {
    tensors.push_back({.name = path, .tensor = &tensor});
  }
  for (const auto& [path, tensor] : *others) {
    tensors.push_back({.name = path, .tensor = &tensor});
  }
  const std::string problem = write_checkpoint(*communicator_, layout_.mesh, tensors, plan);
  if (!problem.empty()) {
    diags.error(DiagKind::kFile, request.span,
                in_backticks(request.path) + " cannot be saved: " + problem +
                    "; what was there is as it was");
    return false;
  }
  saved_step_ = last_step_;
  if (wants_save()) {
    throw Interrupted{.status = 0, .saved = request.path};
  }
  return true;
}

// Collective: the same on all ranks.
std::optional<ExecuteDevice::Restored> ExecuteDevice::opened(const RestoreRequest& request,
                                                             DiagSink& diags) {
  auto file = std::make_shared<const CheckpointFile>(saved_place(request.path));
  std::string problem = first_problem(*communicator_, file->problem());
  if (problem.empty()) {
    const std::vector<std::string> local(communicator_->local_ranks().size(),
                                         std::to_string(file->identity()));
    const std::vector<std::string> all = communicator_->share(local);
    if (std::ranges::find_if(all, [&](const auto& one) { return one != all[0]; }) != all.end()) {
      problem = "is not the same file for all ranks; it has to be on a disk that they share";
    }
  }
  if (problem.empty()) {
    std::set<std::string> names;
    for (const std::string& name : file->names()) {
      if (!request.takers_of(name).empty()) {
        names.insert(name);
      }
    }
    problem = shared_damage(*file, names, *communicator_);
  }
  if (!problem.empty()) {
    RestoreRequest there_request = request;
    there_request.path = file->path();
    Diag diag = unreadable(there_request, problem);
    diag.text = in_backticks(request.path) + " " + problem;
    diags.add(std::move(diag));
    return std::nullopt;
  }
  return Restored{.request = request, .file = std::move(file)};
}

std::optional<RankTensor> ExecuteDevice::read_from(const Restored& restored,
                                                   const std::string& path, const TensorType& type,
                                                   const ValueLayout& layout, DiagSink& diags) {
  RankTensor tensor = make_tensor(executor_->pool(), *communicator_, layout_.mesh, type, layout);
  const std::string problem = first_problem(
      *communicator_, restored.file->read(restored.request.in_file(path), *communicator_,
                                          layout_.mesh, cast_elements, tensor));
  if (!problem.empty()) {
    diags.error(DiagKind::kFile, restored.request.span,
                in_backticks(restored.request.path) + " " + problem);
    return std::nullopt;
  }
  return tensor;
}

const ExecuteDevice::Restored* ExecuteDevice::restored_for(const std::string& path) const {
  const Restored* last = nullptr;
  for (const Restored& restored : restored_) {
    if (has_value_for(restored.request, *restored.file, path)) {
      last = &restored;
    }
  }
  return last;
}

std::vector<Variable> ExecuteDevice::known_variables() const {
  std::vector<Variable> variables;
  for (const auto& [path, tensor] : variables_) {
    const auto known = known_.find(path);
    variables.push_back(known == known_.end()
                            ? Variable{.path = path, .type = tensor.type, .trained = true}
                            : known->second.without_init());
  }
  for (const Variable& variable : declared_) {
    variables.push_back(known_.at(variable.path).without_init());
  }
  return variables;
}

void ExecuteDevice::take_notes(const CheckpointFile& file) {
  if (const std::optional<CheckpointNotes>& notes = file.notes()) {
    executor_->set_stream({.seed = notes->seed, .draws = notes->draws});
    steps_ = notes->steps;
    trains_ = steps_.size() == 1 ? steps_.begin()->first : "";
  }
}

bool ExecuteDevice::begin_again(const RestoreRequest& request, const CheckpointFile& file,
                                DiagSink& diags) {
  for (const auto& [path, variable] : known_) {
    const auto there = variables_.find(path);
    if (there == variables_.end() || variable.trained || !request.names(path) ||
        has_value_for(request, file, path)) {
      continue;
    }
    std::optional<RankTensor> value = initial_value(variable, held_, diags);
    if (!value) {
      return false;
    }
    keep_old(path);
    there->second = *std::move(value);
  }
  return true;
}

bool ExecuteDevice::restore(const RestoreRequest& request, DiagSink& diags) {
  std::optional<Restored> restored = opened(request, diags);
  if (!restored) {
    return false;
  }
  const std::vector<Variable> known = known_variables();
  if (!compare(request, *restored->file, known, diags)) {
    return false;
  }
  if (options_.is_open) {
    warn_of_nothing(request, *restored->file, known, diags);
  }
  std::map<std::string, RankTensor> values;
  for (const auto& [path, tensor] : variables_) {
    if (has_value_for(request, *restored->file, path)) {
      std::optional<RankTensor> value =
          read_from(*restored, path, tensor.type, tensor.layout, diags);
      if (!value) {
        return false;
      }
      values.emplace(path, *std::move(value));
    }
  }
  for (auto& [path, value] : values) {
    keep_old(path);
    variables_.insert_or_assign(path, std::move(value));
  }
  if (request.globs.empty()) {
    restored_.clear();
    take_notes(*restored->file);
  }
  restored_.push_back(*std::move(restored));
  return begin_again(request, *restored_.back().file, diags);
}

std::optional<std::string> ExecuteDevice::note_of(const RestoreRequest& request, DiagSink& diags) {
  return note_in(request, saved_place(request.path), /*may_be_missing=*/false, diags);
}

}  // namespace mtf
