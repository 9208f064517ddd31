# Fails if a folder includes one it must not see (architecture.md, "Who may include whom"), if a
# library is used outside the files that wrap it, or if a source file outgrows its budget.
#   cmake -DROOT=<repo> -P tests/lint/layers.cmake

cmake_minimum_required(VERSION 3.25)

# The first folder pattern that fits a file decides what its #include "…" may start with.
set(layers
    "^ir/support/"      "^ir/support/"
    "^ir/"              "^ir/"
    "^frontend/driver/" "^(frontend|grammar|ir|lowering|runtime|stdlib)/"
    "^frontend/parse"   "^(frontend|grammar|ir)/"
    "^frontend/"        "^(frontend|ir)/"
    "^lowering/"        "^(lowering|ir)/"
    "^runtime/"         "^(runtime|lowering|ir)/"
    "^stdlib/ops/"      "^(stdlib/ops|ir)/|^runtime/[^/]*(dense|gemm|kernel|random|reduce|tile|tree|vector)"
    "^tests/"           "^(frontend|grammar|ir|lowering|runtime|stdlib|tests)/")

# Which files may include a library's headers.
set(wrappers
    "^<mpi\\.h>"                "^(runtime/communicator[^/]*|tests/bench/all_reduce)\\.cpp$"
    "^<pmix\\.h>"               "^runtime/communicator_process\\.cpp$"
    "^<(Eigen|dnnl|oneapi|cblas)" "^(runtime/(dense|gemm)|tests/bench/)"
    "^<antlr4"                  "^frontend/parse")

set(max_lines 400)
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

foreach(folder IN ITEMS ir frontend lowering runtime stdlib tests)
  file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.cpp)
  foreach(source IN LISTS found)
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

if(problems)
  list(JOIN problems "\n  " report)
  message(FATAL_ERROR "layers and sizes:\n  ${report}")
endif()
