# A hash of the sources that make plans and prices: ${planner_identity} is the .cpp that defines what
# frontend/driver/search/planner_identity.h declares. As a script (-P) this file writes that .cpp.

set(planner_folders ir lowering stdlib/ops frontend/driver/search)

# Sets `planner_sources` to what is in the folders under `root`, in the order of the names.
function(list_planner_sources root)
  set(patterns "")
  foreach(folder IN LISTS planner_folders)
    list(APPEND patterns ${root}/${folder}/*.h ${root}/${folder}/*.cpp)
  endforeach()
  if(CMAKE_SCRIPT_MODE_FILE)
    file(GLOB_RECURSE found RELATIVE ${root} ${patterns})
  else()
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${patterns})
  endif()
  list(SORT found)
  set(planner_sources ${found} PARENT_SCOPE)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  list_planner_sources(${CMAKE_SOURCE_DIR})
  set(planner_identity ${CMAKE_BINARY_DIR}/generated/planner_identity.cpp)
  add_custom_command(
    OUTPUT ${planner_identity}
    COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} -DOUT=${planner_identity}
            -P ${CMAKE_SOURCE_DIR}/frontend/driver/search/planner_identity.cmake
    DEPENDS ${planner_sources} ${CMAKE_SOURCE_DIR}/frontend/driver/search/planner_identity.cmake
    COMMENT "naming the planner"
    VERBATIM)
  # Alone, as it changes with any of them.
  set_source_files_properties(${planner_identity} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  return()
endif()

list_planner_sources(${ROOT})
set(all "")
foreach(source IN LISTS planner_sources)
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 identity "${all}")

file(WRITE ${OUT} "// Written by frontend/driver/search/planner_identity.cmake.

#include \"frontend/driver/search/planner_identity.h\"

namespace mtf {

std::string_view planner_identity() { return \"${identity}\"; }

}  // namespace mtf
")
