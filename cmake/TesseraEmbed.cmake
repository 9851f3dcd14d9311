# tessera_embed(ARRAY HEADER TYPE "FILES" RESULT): a C source with the texts of the files as `const TYPE ARRAY[]`, made
# by the build; the header declares both. An entry has the file's name and its text, the last one zeros.
function(tessera_embed array header type files result)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${array}.c)
  add_custom_command(OUTPUT ${source}
                     COMMAND ${CMAKE_COMMAND} -DOUT=${source} -DARRAY=${array} -DHEADER=${header} -DTYPE=${type} "-DFILES=${files}"
                             -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
                     DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
  set(${result} ${source} PARENT_SCOPE)
endfunction()
