// A checkpoint is restored at once, and the variables that take it are declared later, by the first
// call of the function that has them. What is saved in between has what they would have taken, too.

#include <algorithm>
#include <set>
#include <utility>

#include "frontend/driver/devices/execute_device.h"

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

std::set<std::string> ExecuteDevice::untaken_paths() const {
  std::set<std::string> paths;
  for (const Restored& restored : restored_) {
    for (const std::string& path : restored.file->names()) {
      const bool is_wanted = !options_.variables || options_.variables->contains(path);
      if (is_wanted && restored.request.names(path) && !variables_.contains(path)) {
        paths.insert(path);
      }
    }
  }
  return paths;
}

std::optional<std::map<std::string, RankTensor>> ExecuteDevice::untaken(DiagSink& diags) {
  std::map<std::string, RankTensor> tensors;
  for (const std::string& path : untaken_paths()) {
    const Restored& restored = *restored_for(path);
    const FileTensor& stored = *restored.file->find(path);
    const std::optional<DType> dtype = dtype_of_word(stored.dtype);
    TensorType type = {.dtype = dtype.value_or(DType::kF32),
                       .shape = shape_in_file(*restored.file, path, stored)};
    if (!dtype || type.shape.volume() == 0) {
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

}  // namespace mtf
