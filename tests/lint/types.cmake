# Fails if two files define types of one name in one namespace. No compiler tells: the linker takes
# one of the two for what templates make of it, as the destructor of a std::vector of either.
#   cmake -DROOT=<repo> -P tests/lint/types.cmake

cmake_minimum_required(VERSION 3.25)

set(problems "")
file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/frontend/*.h ${ROOT}/ir/*.h ${ROOT}/lowering/*.h
     ${ROOT}/runtime/*.h ${ROOT}/stdlib/*.h ${ROOT}/frontend/*.cpp ${ROOT}/ir/*.cpp
     ${ROOT}/lowering/*.cpp ${ROOT}/runtime/*.cpp ${ROOT}/stdlib/*.cpp)
foreach(source IN LISTS sources)
  file(STRINGS ${ROOT}/${source} lines
       REGEX "^(namespace [a-z_:]*[ ]?{|}  // namespace|(struct|class|union|enum|enum class) [A-Za-z0-9_]+ .*{$|(struct|class|union) [A-Za-z0-9_]+ final .*{$)")
  set(spaces "")  # the ones that are open; "-" has no name, so that its types are the file's own
  foreach(line IN LISTS lines)
    if(line MATCHES "^namespace ([a-z_:]*)")
      list(APPEND spaces "${CMAKE_MATCH_1}-")
    elseif(line MATCHES "^}")
      list(POP_BACK spaces)
    elseif(NOT "-" IN_LIST spaces AND line MATCHES "^(enum class|[a-z]+) ([A-Za-z0-9_]+)")
      string(REPLACE ";" "" name "${spaces}${CMAKE_MATCH_2}")
      if(DEFINED file_of_${name} AND NOT "${file_of_${name}}" STREQUAL "${source}")
        list(APPEND problems "${CMAKE_MATCH_2}: in ${file_of_${name}} and in ${source}")
      endif()
      set(file_of_${name} ${source})
    endif()
  endforeach()
endforeach()

if(problems)
  list(JOIN problems "\n  " report)
  message(FATAL_ERROR "types of one name:\n  ${report}")
endif()
