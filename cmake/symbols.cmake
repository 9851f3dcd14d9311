# The symbols file of a Debian package: for each function of a library the version that had it first.
#   cmake -DLIBRARY=FILE -DNAME=SONAME -DPACKAGE=NAME -DVERSION=NOW -DLISTED=FILE -DNM=nm -DOUT=FILE -P symbols.cmake
# LISTED is such a file, of the versions before: a function that it does not have is new in VERSION. A function that the
# library has lost ends the making of the package: programs that call it would no longer start.
cmake_minimum_required(VERSION 3.20)
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE names
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "tes_[a-z0-9_]+" names "${names}")
list(SORT names)
file(STRINGS ${LISTED} lines REGEX "^ tes_")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^ (tes_[a-z0-9_]+)@Base ([0-9.]+)$" found "${line}")
  if(NOT found)
    message(FATAL_ERROR "${LISTED}: '${line}', expected ' tes_name@Base version'")
  endif()
  if(NOT CMAKE_MATCH_1 IN_LIST names)
    message(FATAL_ERROR "${CMAKE_MATCH_1} of version ${CMAKE_MATCH_2} is gone: "
                        "libraries without it take another SONAME (${LISTED})")
  endif()
  set(since_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()
set(symbols "${NAME} ${PACKAGE} #MINVER#\n")
foreach(name IN LISTS names)
  if(NOT DEFINED since_${name})
    set(since_${name} ${VERSION})
  endif()
  string(APPEND symbols " ${name}@Base ${since_${name}}\n")
endforeach()
file(WRITE ${OUT} "${symbols}")
