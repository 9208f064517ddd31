#include <oneapi/dnnl/dnnl.h>

#include <Eigen/src/Core/util/Macros.h>

#include "runtime/library_versions.h"

namespace mtf {
namespace {

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

std::string onednn_version() {
  const dnnl_version_t* version = dnnl_version();
  return dotted(version->major, version->minor, version->patch);
}

std::string eigen_version() {
  return dotted(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

}  // namespace mtf
