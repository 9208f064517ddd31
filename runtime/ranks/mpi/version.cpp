#include <array>

#include <mpi.h>

#include "runtime/library_versions.h"

namespace mtf {

// "Open MPI v4.1.4, package: …": what is in front of the comma, without the v.
std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);  // allowed before MPI has started
  std::string version(text.data(), static_cast<std::size_t>(length));
  version = version.substr(0, version.find_first_of(",\n"));
  const std::size_t place = version.find(" v");
  return place == std::string::npos ? version : version.erase(place + 1, 1);
}

}  // namespace mtf
