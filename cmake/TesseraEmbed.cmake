# tessera_embed(ARRAY "FILES" RESULT): a C source with the texts of the files as `const TesiText ARRAY[]`, made by
# the build.
function(tessera_embed array files result)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${array}.c)
  add_custom_command(OUTPUT ${source}
                     COMMAND ${CMAKE_COMMAND} -DOUT=${source} -DARRAY=${array} "-DFILES=${files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
                     DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
  set(${result} ${source} PARENT_SCOPE)
endfunction()
