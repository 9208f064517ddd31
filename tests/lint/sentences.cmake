# Fails if lowering/ words a diagnostic: it decides, and what a user reads is said in ir/, of a rule
# or an operation, or in frontend/report/.
#   cmake -DROOT=<repo> -P tests/lint/sentences.cmake

cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/lowering/*.h ${ROOT}/lowering/*.cpp)
set(worded "")
foreach(source IN LISTS sources)
  file(READ ${ROOT}/${source} text)
  string(REPLACE ";" "," text "${text}")
  if(text MATCHES "(\\.|->)(error|warning)\\([^)]*\"" OR text MATCHES "\\.(text|notes) = [^,]*\"")
    list(APPEND worded "${source}")
  endif()
endforeach()
if(worded)
  list(JOIN worded "\n  " report)
  message(FATAL_ERROR "lowering/ words what a user reads:\n  ${report}")
endif()
