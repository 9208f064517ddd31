# Fails if some kind of diagnostic appears in no expected output: an error that no test has seen.
# The slugs are the quoted words of ir/support/diag.cpp.
#   cmake -DROOT=<repo> -P tests/lint/slugs.cmake

cmake_minimum_required(VERSION 3.25)

set(exceptions "")  # keep empty: every kind has a golden test

if(NOT EXISTS ${ROOT}/ir/support/diag.cpp)
  return()
endif()
file(READ ${ROOT}/ir/support/diag.cpp text)
string(REGEX MATCHALL "return \"[a-z0-9-]+\"" slugs "${text}")
list(TRANSFORM slugs REPLACE "return \"(.*)\"" "\\1")

set(outputs "")
file(GLOB_RECURSE goldens ${ROOT}/tests/golden/*.golden)
foreach(golden IN LISTS goldens)
  file(READ ${golden} text)
  string(APPEND outputs "${text}")
endforeach()

set(unseen "")
foreach(slug IN LISTS slugs)
  string(FIND "${outputs}" "[${slug}]" place)
  if(place EQUAL -1 AND NOT slug IN_LIST exceptions)
    list(APPEND unseen "${slug}")
  elseif(NOT place EQUAL -1 AND slug IN_LIST exceptions)
    list(APPEND unseen "${slug} (has a golden: no longer an exception)")
  endif()
endforeach()
if(unseen)
  list(JOIN unseen "\n  " report)
  message(FATAL_ERROR "no golden test shows:\n  ${report}")
endif()
