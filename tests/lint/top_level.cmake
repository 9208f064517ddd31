# Fails if the top level holds anything but the folders of the architecture and the few files that
# tools look for there; names that begin with a dot are free.
#   cmake -DROOT=<repo> -P tests/lint/top_level.cmake

cmake_minimum_required(VERSION 3.25)

set(allowed
    grammar frontend ir lowering runtime stdlib examples tests
    CMakeLists.txt CMakePresets.json README.md dev)

file(GLOB entries RELATIVE ${ROOT} ${ROOT}/*)
list(FILTER entries EXCLUDE REGEX "^(\\..*|build|build-.*)$")
list(REMOVE_ITEM entries ${allowed})
if(entries)
  list(JOIN entries " " names)
  message(FATAL_ERROR "top level: no place for ${names}")
endif()

foreach(folder IN ITEMS grammar frontend frontend/driver ir lowering runtime stdlib stdlib/ops
        examples tests)
  if(NOT EXISTS ${ROOT}/${folder}/README.md)
    message(FATAL_ERROR "${folder}/README.md is missing")
  endif()
  file(READ ${ROOT}/${folder}/README.md text)
  string(REGEX MATCHALL "\n" newlines "${text}")
  list(LENGTH newlines count)
  if(count GREATER 40)
    message(FATAL_ERROR "${folder}/README.md has ${count} lines, the limit is 40")
  endif()
endforeach()
