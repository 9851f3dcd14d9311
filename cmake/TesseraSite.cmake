# Target `site`: the static site, build/site/html/index.html. Its packages (site/requirements.txt) are asked for by the
# target alone: they go into build/site/venv.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  set(site_venv ${PROJECT_BINARY_DIR}/site/venv)
  add_custom_command(
    OUTPUT ${site_venv}/ready
    COMMAND ${Python3_EXECUTABLE} -m venv ${site_venv}
    COMMAND ${site_venv}/bin/python -m pip --disable-pip-version-check install -q numpy scipy -r
            ${PROJECT_SOURCE_DIR}/site/requirements.txt
    COMMAND ${CMAKE_COMMAND} -E touch ${site_venv}/ready
    DEPENDS ${PROJECT_SOURCE_DIR}/site/requirements.txt
    VERBATIM)
  add_custom_target(
    site
    COMMAND ${site_venv}/bin/python ${PROJECT_SOURCE_DIR}/site/make.py ${PROJECT_BINARY_DIR} --program
            $<TARGET_FILE:tessera_cli>
    DEPENDS ${site_venv}/ready tessera_cli
    VERBATIM)
endif()
