# The table of operations, from the list in stdlib/ops/ops.h: ${op_table} is the .cpp that defines
# op_table(). As a script (-P) this file writes that .cpp.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(op_table ${CMAKE_BINARY_DIR}/generated/op_table.cpp)
  add_custom_command(
    OUTPUT ${op_table}
    COMMAND ${CMAKE_COMMAND} -DLIST=${CMAKE_SOURCE_DIR}/stdlib/ops/ops.h -DOUT=${op_table}
            -P ${CMAKE_SOURCE_DIR}/stdlib/ops/table.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/stdlib/ops/ops.h ${CMAKE_SOURCE_DIR}/stdlib/ops/table.cmake
            ${ops_sources}
    COMMENT "listing operations"
    VERBATIM)
  return()
endif()

get_filename_component(folder ${LIST} DIRECTORY)
file(STRINGS ${LIST} lines REGEX "^(// [a-z_/]+\\.cpp$|extern const OpDef k[A-Za-z0-9]+;)")
set(entries "")
set(text "")
foreach(line IN LISTS lines)
  if(line MATCHES "^// (.*)$")
    set(source ${CMAKE_MATCH_1})
    if(NOT EXISTS ${folder}/${source})
      message(FATAL_ERROR "${LIST}: there is no ${source}")
    endif()
    file(READ ${folder}/${source} text)
    continue()
  endif()
  string(REGEX MATCH "k[A-Za-z0-9]+" name "${line}")
  if(NOT text MATCHES "const OpDef ${name}[^A-Za-z0-9]")
    message(FATAL_ERROR "${LIST}: ${source} does not define ${name}")
  endif()
  string(APPEND entries "    &ops::${name},\n")
endforeach()

# Written where it says something new: otherwise nothing is compiled anew.
file(CONFIGURE OUTPUT ${OUT} CONTENT "// Written by stdlib/ops/table.cmake from stdlib/ops/ops.h.

#include <array>

#include \"stdlib/ops/ops.h\"
#include \"stdlib/ops/table.h\"

namespace mtf {
namespace {

constexpr std::array kTable{
${entries}};

}  // namespace

OpTable op_table() { return kTable; }

}  // namespace mtf
" @ONLY)
