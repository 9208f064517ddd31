# Fails if a folder includes one it must not see (the README of each folder says why), if a library is
# used outside the files that wrap it, or if a source file or a room outgrows its budget.
#   cmake -DROOT=<repo> -P tests/lint/layers.cmake

cmake_minimum_required(VERSION 3.25)

# The first folder pattern that fits a file decides what its #include "…" may start with.
set(layers
    "^ir/support/"         "^ir/support/"
    "^ir/"                 "^ir/"
    "^frontend/driver/"    "^(frontend|grammar|ir|lowering|runtime|stdlib)/"
    "^frontend/report/"    "^(frontend/(report|[a-z_]*\\.h)|ir|lowering|runtime)/?"
    "^frontend/format/"    "^(frontend/(format|parse/written\\.h|[a-z_]*\\.h)|ir)/?"
    "^frontend/parse/"     "^(frontend/(parse|[a-z_]*\\.h)|grammar|ir)/?"
    "^frontend/elaborate/" "^(frontend/(elaborate|parse/parse\\.h|[a-z_]*\\.h)|ir)/?"
    "^frontend/"           "^(frontend/[a-z_]*\\.h|ir)/?"
    "^lowering/"           "^(lowering|ir)/"
    "^runtime/"            "^(runtime|lowering|ir)/"
    "^stdlib/ops/"         "^(stdlib/ops|ir|runtime/(products|kernels|vector_math))/"
    "^tests/"              "^(frontend|grammar|ir|lowering|runtime|stdlib|tests)/")

# Which files may include a library's headers.
set(wrappers
    "^<mpi\\.h>"                "^(runtime/ranks/mpi/[^/]*|tests/bench/all_reduce)\\.cpp$"
    "^<pmix\\.h>"               "^runtime/ranks/mpi/process\\.cpp$"
    "^<(Eigen|dnnl|oneapi|cblas)" "^(runtime/products/|tests/bench/)"
    "^<utf8proc"                "^ir/support/utf8\\.cpp$"
    "^<antlr4"                  "^frontend/parse/"
    "^<histedit"                "^frontend/driver/repl/terminal\\.cpp$"
    "^<CLI/"                    "^frontend/driver/options\\.cpp$")

set(max_lines 400)
set(max_files 20)
set(problems "")

macro(check_include source include)
  set(patterns ${layers})
  while(patterns AND include MATCHES "^\"")
    list(POP_FRONT patterns folder allowed)
    if(source MATCHES "${folder}")
      string(REPLACE "\"" "" header "${include}")
      if(NOT header MATCHES "${allowed}")
        list(APPEND problems "${source}: must not include ${include}")
      endif()
      break()
    endif()
  endwhile()
  set(patterns ${wrappers})
  while(patterns)
    list(POP_FRONT patterns library files)
    if(include MATCHES "${library}" AND NOT source MATCHES "${files}")
      list(APPEND problems "${source}: ${include} belongs in ${files}")
    endif()
  endwhile()
endmacro()

set(rooms "")
foreach(folder IN ITEMS ir frontend lowering runtime stdlib tests)
  file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cpp)
  foreach(source IN LISTS found)
    get_filename_component(room ${source} DIRECTORY)
    list(APPEND rooms ${room})
    file(STRINGS ${ROOT}/${source} lines REGEX "^#include")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include +([<\"][^>\"]+[>\"]).*" "\\1" include "${line}")
      check_include("${source}" "${include}")
    endforeach()
    file(READ ${ROOT}/${source} text)
    string(REGEX MATCHALL "\n" newlines "${text}")
    list(LENGTH newlines count)
    if(count GREATER max_lines)
      list(APPEND problems "${source}: ${count} lines, the limit is ${max_lines}")
    endif()
  endforeach()
endforeach()

set(named ${rooms})
list(REMOVE_DUPLICATES named)
foreach(room IN LISTS named)
  set(others ${rooms})
  list(LENGTH others all)
  list(REMOVE_ITEM others ${room})
  list(LENGTH others left)
  math(EXPR count "${all} - ${left}")
  if(NOT room MATCHES "^tests" AND NOT EXISTS ${ROOT}/${room}/README.md)
    list(APPEND problems "${room}: has no README.md that says what comes in, what goes out and what it may include")
  endif()
  if(count GREATER max_files)
    list(APPEND problems "${room}: ${count} files, the limit of a room is ${max_files}")
  endif()
endforeach()

if(problems)
  list(JOIN problems "\n  " report)
  message(FATAL_ERROR "layers and sizes:\n  ${report}")
endif()
