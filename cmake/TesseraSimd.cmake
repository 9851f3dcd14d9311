# Which SIMD widths and which specialised degrees are built: simd_widths, simd_degrees, simd_flags_<width>, quick_flags.
#
# A quick build is for a first look: the width of this processor, loops of their own for degrees 1 and 2, -O1 for loops
# and -Og for the rest. It compiles in three quarters of the time of degrees up to 4; solves take 10 to 50 % longer.
# 128 bits are always there otherwise, for processors that lack the wider ones; on x86 that build has the general loops
# alone.
option(TESSERA_QUICK "a first look: native SIMD width, few specialised degrees, -O1; the program says so" OFF)
set(TESSERA_SIMD_WIDTHS all CACHE STRING "SIMD widths beside 128 bits: all, native (the widest of this processor) or a list such as 256")
option(TESSERA_SIMD_NARROW "128 bits beside wider ones; OFF: the processor must have the narrowest that is built" ON)
set(TESSERA_SIMD_DEGREES 10 CACHE STRING "degrees 1 to this have loops of their own, 0 to 10; higher ones are slower")

if(DEFINED TESSERA_SIMD_MAX)
  message(FATAL_ERROR "TESSERA_SIMD_MAX is now TESSERA_SIMD_WIDTHS: all, native or a list such as 256")
endif()

set(simd_flags_128 "")
set(simd_flags_256 -mavx2 -mfma)
set(simd_flags_512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512)

# The widest of the processor that builds, as src/device/context.c finds it.
function(tessera_native_width result)
  if(NOT DEFINED TESSERA_NATIVE_WIDTH)
    set(source ${PROJECT_BINARY_DIR}/CMakeFiles/native_width.c)
    file(WRITE ${source} "#include <stdio.h>
int main(void) {
  __builtin_cpu_init();
  const int wide = __builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512dq\") &&
                   __builtin_cpu_supports(\"avx512vl\") && __builtin_cpu_supports(\"avx512bw\");
  printf(\"%d\", wide ? 512 : __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") ? 256 : 128);
  return 0;
}
")
    try_run(status compiled ${PROJECT_BINARY_DIR}/CMakeFiles ${source} RUN_OUTPUT_VARIABLE width)
    if(NOT compiled OR NOT width MATCHES "^(128|256|512)$")
      message(FATAL_ERROR "the SIMD width of this processor cannot be found out: give TESSERA_SIMD_WIDTHS")
    endif()
    set(TESSERA_NATIVE_WIDTH ${width} CACHE INTERNAL "widest SIMD vectors of the building processor")
  endif()
  set(${result} ${TESSERA_NATIVE_WIDTH} PARENT_SCOPE)
endfunction()

set(simd_degrees ${TESSERA_SIMD_DEGREES})
set(simd_widths ${TESSERA_SIMD_WIDTHS})
set(simd_narrow ${TESSERA_SIMD_NARROW})
set(quick_flags "")
set(quick_simd_flags "")
if(TESSERA_QUICK)
  if(simd_widths STREQUAL all)
    set(simd_widths native)
  endif()
  if(simd_degrees GREATER 2)
    set(simd_degrees 2)
  endif()
  set(simd_narrow OFF) # it runs where it was built
  set(quick_flags -Og)
  set(quick_simd_flags -O1)
endif()
if(NOT simd_degrees MATCHES "^([0-9]|10)$")
  message(FATAL_ERROR "TESSERA_SIMD_DEGREES is '${TESSERA_SIMD_DEGREES}', expected 0 to 10")
endif()

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(simd_widths 128)
elseif(simd_widths STREQUAL all)
  set(simd_widths 256 512)
elseif(simd_widths STREQUAL native)
  tessera_native_width(simd_widths)
endif()
if(simd_narrow OR simd_widths STREQUAL "")
  list(APPEND simd_widths 128)
endif()
list(REMOVE_DUPLICATES simd_widths)
list(SORT simd_widths)
set(simd_sum 0)
foreach(bits IN LISTS simd_widths)
  if(NOT bits MATCHES "^(128|256|512)$")
    message(FATAL_ERROR "TESSERA_SIMD_WIDTHS is '${TESSERA_SIMD_WIDTHS}', expected all, native, or some of 128, 256 and 512")
  endif()
  math(EXPR simd_sum "${simd_sum} + ${bits}")
endforeach()
set(simd_definitions TESI_SIMD_WIDTHS=${simd_sum} TESI_SIMD_DEGREES=${simd_degrees})
string(REPLACE ";" " " simd_text "${simd_widths}")
message(STATUS "SIMD widths ${simd_text}, specialised degrees up to ${simd_degrees}")

# tessera_simd_objects(TARGET BITS SOURCE...): objects of *_simd.c files for that width.
function(tessera_simd_objects target bits)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE TESI_SIMD_BITS=${bits} ${simd_definitions})
  target_compile_options(${target} PRIVATE ${simd_flags_${bits}} ${OpenMP_C_FLAGS} -fno-math-errno -fno-trapping-math
                         -ffp-contract=fast) # gcc fuses no multiply-add in ISO C otherwise
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_C_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized) # vectors that are filled lane by lane, at -O1
  endif()
  target_compile_options(${target} PRIVATE ${quick_simd_flags})
endfunction()
