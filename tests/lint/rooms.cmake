# Fails if the README of a folder does not name each folder in it, as `NAME/`: who looks for something
# finds the way there from the top.
#   cmake -DROOT=<repo> -P tests/lint/rooms.cmake

cmake_minimum_required(VERSION 3.25)

set(problems "")
foreach(top IN ITEMS grammar frontend ir lowering runtime stdlib)
  file(GLOB_RECURSE pages RELATIVE ${ROOT} ${ROOT}/${top}/README.md)
  foreach(page IN LISTS pages)
    file(READ ${ROOT}/${page} text)
    get_filename_component(room ${page} DIRECTORY)
    file(GLOB entries RELATIVE ${ROOT}/${room} ${ROOT}/${room}/*)
    foreach(entry IN LISTS entries)
      if(IS_DIRECTORY ${ROOT}/${room}/${entry} AND NOT text MATCHES "[^a-z_]${entry}/")
        list(APPEND problems "${page}: says nothing of ${entry}/")
      endif()
    endforeach()
  endforeach()
endforeach()

if(problems)
  list(JOIN problems "\n  " report)
  message(FATAL_ERROR "rooms:\n  ${report}")
endif()
