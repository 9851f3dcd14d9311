# Target `doc`: the reference manual of the public headers, build/doc/html/index.html. Faulty comments are errors.
find_program(TESSERA_DOXYGEN doxygen)
if(TESSERA_DOXYGEN)
  configure_file(${PROJECT_SOURCE_DIR}/docs/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
  add_custom_target(doc COMMAND ${TESSERA_DOXYGEN} -q ${PROJECT_BINARY_DIR}/Doxyfile
                    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM)
endif()
