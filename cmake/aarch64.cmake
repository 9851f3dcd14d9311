# Toolchain: 64-bit ARM by the cross compiler of Debian (gcc-aarch64-linux-gnu). Programs run under qemu-user.
#   cmake --toolchain cmake/aarch64.cmake -DTESSERA_SYSROOT=FOLDER ...
# FOLDER has the libraries of that processor; tools/aarch64.sh makes one.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TESSERA_SYSROOT)
set(TESSERA_SYSROOT "" CACHE PATH "the folder with the libraries of 64-bit ARM")
if(NOT IS_DIRECTORY "${TESSERA_SYSROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "TESSERA_SYSROOT is '${TESSERA_SYSROOT}', expected a folder with "
                      "usr/lib/aarch64-linux-gnu (tools/aarch64.sh)")
endif()
set(CMAKE_SYSROOT ${TESSERA_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TESSERA_SYSROOT})
set(pkgconfig_folders ${TESSERA_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig
    ${TESSERA_SYSROOT}/usr/share/pkgconfig)
list(JOIN pkgconfig_folders ":" pkgconfig_folders)
set(ENV{PKG_CONFIG_LIBDIR} ${pkgconfig_folders})
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${TESSERA_SYSROOT})
