# Packages for Debian and Ubuntu, `cpack -G DEB` in a build for the prefix /usr: libtessera<SOVERSION> (the library),
# libtessera-dev (headers, pkg-config, CMake), tessera (program, manual, documents) and, with TESSERA_PYTHON and
# TESSERA_PYTHON_FOLDER, python3-tessera. tools/test_packages.sh makes, installs and uses them.
set(TESSERA_PACKAGE_CONTACT "Tessera developers <tessera@users.noreply.github.com>"
    CACHE STRING "maintainer of packages")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR Tessera)
set(CPACK_PACKAGE_CONTACT ${TESSERA_PACKAGE_CONTACT})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL library development program)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# tessera_package(component name section summary text): one of them.
function(tessera_package component name section summary text)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
endfunction()
set(about "Tessera solves Poisson, transport, elasticity, Stokes and Navier-Stokes\nproblems by high-order finite elements, \
matrix-free, with geometric\nmultigrid, on processors and GPUs.")
set(library_package libtessera${PROJECT_VERSION_MAJOR})
tessera_package(library ${library_package} libs "high-order finite elements with multigrid: library"
                "${about}\nThis package has the shared library.")
tessera_package(development libtessera-dev libdevel "high-order finite elements with multigrid: headers"
                "${about}\nThis package has headers and files for pkg-config and CMake.")
tessera_package(program tessera math "high-order finite elements with multigrid: program"
                "${about}\nThis package has the program, its manual and documents.")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/packages/symbols
    ${PROJECT_BINARY_DIR}/packages/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS libdmumps-5.5)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS openmpi-bin)
foreach(component DEVELOPMENT PROGRAM PYTHON3)
  set(CPACK_COMPONENT_${component}_DEPENDS library)
endforeach()
if(TESSERA_PYTHON AND TESSERA_PYTHON_FOLDER)
  list(APPEND CPACK_COMPONENTS_ALL python3)
  tessera_package(python3 python3-tessera python "high-order finite elements with multigrid: Python 3"
                  "${about}\nThis package has the modules of Python 3.")
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_DEPENDS "python3 (>= 3.9), python3-numpy, python3-cffi-backend")
  set(CPACK_DEBIAN_PYTHON3_PACKAGE_RECOMMENDS "python3-scipy, python3-matplotlib, tessera")
endif()

# Before a package is closed: licences, changelog, pages of the manual as Debian wants them; symbols of the library.
set(packages_names "library=${library_package} development=libtessera-dev program=tessera python3=python3-tessera")
set(packages_library ${CMAKE_INSTALL_LIBDIR}/libtessera.so.${PROJECT_VERSION})
file(WRITE ${PROJECT_BINARY_DIR}/packages/triggers "activate-noawait ldconfig\n")
configure_file(${CMAKE_CURRENT_LIST_DIR}/package.cmake.in ${PROJECT_BINARY_DIR}/packages/package.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_BINARY_DIR}/packages/package.cmake)
include(CPack)
