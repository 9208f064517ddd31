# The table of operations, from the list in stdlib/ops/ops.h: ${op_table} is the .cpp that defines
# op_table(). As a script (-P) this file writes that .cpp.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(op_table ${CMAKE_BINARY_DIR}/generated/op_table.cpp)
  add_custom_command(
    OUTPUT ${op_table}
    COMMAND ${CMAKE_COMMAND} -DLIST=${CMAKE_SOURCE_DIR}/stdlib/ops/ops.h -DOUT=${op_table}
            -P ${CMAKE_SOURCE_DIR}/stdlib/ops/table.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/stdlib/ops/ops.h ${CMAKE_SOURCE_DIR}/stdlib/ops/table.cmake
    COMMENT "listing operations"
    VERBATIM)
  return()
endif()

file(STRINGS ${LIST} declarations REGEX "^extern const OpDef k[A-Za-z0-9]+;")
set(entries "")
foreach(declaration IN LISTS declarations)
  string(REGEX REPLACE "^extern const OpDef (k[A-Za-z0-9]+).*$" "\\1" name "${declaration}")
  string(APPEND entries "    &ops::${name},\n")
endforeach()

file(WRITE ${OUT} "// Written by stdlib/ops/table.cmake from stdlib/ops/ops.h.

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
")
