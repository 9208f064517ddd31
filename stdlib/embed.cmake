# The modules stdlib/*.mtf and the language reference inside the binary: ${embedded_modules} is the .cpp that defines what
# frontend/driver/stdlib_modules.h declares. As a script (-P) this file writes that .cpp.

if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(GLOB module_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/stdlib/*.mtf)
  set(embedded_modules ${CMAKE_BINARY_DIR}/generated/stdlib_modules.cpp)
  add_custom_command(
    OUTPUT ${embedded_modules}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${module_files}"
            -DREFERENCE=${CMAKE_SOURCE_DIR}/grammar/LANGUAGE.md -DOUT=${embedded_modules}
            -P ${CMAKE_SOURCE_DIR}/stdlib/embed.cmake
    DEPENDS ${module_files} ${CMAKE_SOURCE_DIR}/grammar/LANGUAGE.md ${CMAKE_SOURCE_DIR}/stdlib/embed.cmake
    COMMENT "embedding stdlib modules"
    VERBATIM)
  return()
endif()

# Raw strings longer than 64 KiB are not portable, but literals side by side are one string.
function(literals_of text)
  set(result "")
  while(NOT text STREQUAL "")
    string(SUBSTRING "${text}" 0 8000 chunk)
    string(LENGTH "${chunk}" length)
    string(SUBSTRING "${text}" ${length} -1 text)
    string(APPEND result "R\"__mtf__(${chunk})__mtf__\"\n")
  endwhile()
  set(literals "${result}" PARENT_SCOPE)
endfunction()

set(names "")
set(entries "")
list(LENGTH FILES count)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  literals_of("${text}")
  string(APPEND names "    \"${name}\",\n")
  string(APPEND entries "    ${literals}\"\"sv,\n")
endforeach()

file(READ ${REFERENCE} text)
literals_of("${text}")

file(WRITE ${OUT} "// Written by stdlib/embed.cmake from stdlib/*.mtf.

#include \"frontend/driver/stdlib_modules.h\"

#include <array>
#include <cstddef>

namespace mtf {
namespace {

using namespace std::string_view_literals;

constexpr std::array<std::string_view, ${count}> kNames{
${names}};
constexpr std::array<std::string_view, ${count}> kTexts{
${entries}};

}  // namespace

std::span<const std::string_view> stdlib_module_names() { return kNames; }

std::string_view stdlib_module(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return kTexts[i];
    }
  }
  return {};
}

std::string_view language_reference() {
  return ${literals};
}

}  // namespace mtf
")
