# shellcheck shell=bash
# The steps of ./check: step_<name> runs under `set -e` in the project's folder; 77 means skipped, the last line
# says why.
# shellcheck disable=SC2034,SC2154,SC2054 # lists for, and root, build and jobs from ./check; commas are meant

all_steps=(tree format scripts docs gcc kernels sanitize threads install python)
more_steps=(slow petsc aarch64 packages site kernels_all fuzz fresh)

describe() {
  case $1 in
  tree) say \
    "include order, guards, lengths of files, words of unfinished work; these checkers find planted faults" ;;
  format) say "clang-format 14" ;;
  scripts) say "shellcheck of the shell scripts" ;;
  docs) say "man pages (mandoc), which know the program's options, and the comments of the public headers (doxygen)" ;;
  gcc) say "gcc, Release, warnings are errors, loops of their own to degree 3: all tests but the slow ones" ;;
  slow) say \
    "the build that users have, loops of their own to degree 10: all tests, long sweeps too; not part of the round" ;;
  petsc) say "tessera/petsc.h, petsc4py and mpi4py, by 200 packages of Debian; part of slow, not of the round" ;;
  aarch64) say \
    "library and program for 64-bit ARM by a cross compiler, tests under qemu-user; part of slow, not of the round" ;;
  packages) say "Debian packages, looked at by lintian, used in a bare Debian 12 in a folder; not part of the round" ;;
  kernels) say \
    "kernels compile (NVRTC), degree 4 for sm_90 and degree 1 for sm_80; no spills where none are promised" ;;
  kernels_all) say \
    "the same for every degree, sm_80 to sm_100, with the table in build-check/kernels.csv; not part of the round" ;;
  sanitize) say \
    "address, leak and undefined-behaviour sanitizers: they find planted faults, and pass brief quick tests" ;;
  threads) say "clang, warnings are errors; its thread sanitizer finds a planted race, passes tests labelled threads" ;;
  install) say \
    "install into a prefix; examples through pkg-config and find_package; every public header alone in C and C++" ;;
  python) say "a wheel of the Python package with the library of step gcc; installed, its tests and examples" ;;
  fuzz) say "libFuzzer on the parsers, FUZZ_SECONDS (default 60) each; not part of the default round" ;;
  site) say "the static site (ninja site): Sphinx from pip, doxygen; every link is followed; not part of the round" ;;
  fresh) say "./run on a minimal Debian 12 in a folder (root, debootstrap, network); not part of the default round" ;;
  esac
}

# Other vectors and more degrees are the same text again, and minutes: addresses are checked with 256 bits, so that
# specialised bodies are among what is checked, an odd degree and an even one; threads with 128 bits, which have none.
# -O1 keeps the builds short, lines without variables (-g1) halve them.
sanitized=(-DTESSERA_SIMD_WIDTHS=256 -DTESSERA_SIMD_NARROW=OFF -DTESSERA_SIMD_DEGREES=2 -DCMAKE_BUILD_TYPE=None
  "-DCMAKE_C_FLAGS=-O1 -g1")

# build NAME [targets]: the build of that name, up to date.
build() {
  local name=$1 options=()
  shift
  case $name in
  gcc) options+=(-DCMAKE_C_COMPILER=gcc -DTESSERA_WERROR=ON -DTESSERA_SIMD_WIDTHS=native -DTESSERA_SIMD_DEGREES=3) ;;
  slow) options+=(-DCMAKE_C_COMPILER=gcc -DTESSERA_WERROR=ON) ;;
  # instrumentation confuses gcc's warnings, so these are no errors
  sanitize) options+=("${sanitized[@]}" -DCMAKE_C_COMPILER=gcc -DTESSERA_SANITIZE=address,undefined) ;;
  threads)
    options+=("${sanitized[@]}" -DTESSERA_SIMD_WIDTHS=128 -DTESSERA_SIMD_NARROW=ON -DCMAKE_C_COMPILER=clang
      -DTESSERA_SANITIZE=thread -DTESSERA_WERROR=ON)
    ;;
  fuzz)
    options+=("${sanitized[@]}" -DCMAKE_C_COMPILER=clang -DTESSERA_SANITIZE=address,undefined -DTESSERA_FUZZ=ON
      -DTESSERA_TESTS=OFF)
    ;;
  esac
  configure "$build/$name" "${options[@]}"
  ninja -j "$jobs" -C "$build/$name" "$@"
}

# The tests of a build but those with certain labels: run_tests NAME LABELS [ctest arguments]. Most of a test is
# one thread.
run_tests() {
  local name=$1 without=$2
  shift 2
  ctest --test-dir "$build/$name" -j "$jobs" --output-on-failure --no-tests=error -LE "$without" "$@"
}

step_tree() {
  python3 tools/check_includes.py
  python3 tools/check_tree.py
  python3 tools/test_checkers.py
}

step_format() { tools/check_format.sh; }

step_scripts() { shellcheck -x run check .ci/run tools/*.sh; }

step_docs() {
  mandoc -T lint -W warning docs/man/*.1
  build gcc doc tessera_cli tessera_bench
  tools/check_man.sh "$build/gcc/tessera"
}

step_gcc() {
  build gcc
  run_tests gcc 'slow|style'
}

step_slow() {
  ensure_optional_packages "${packages_petsc[@]}"
  build slow
  run_tests slow style
  python_of_debian slow
  step_aarch64 || [ $? = 77 ]
}

step_petsc() {
  ensure_optional_packages "${packages_petsc[@]}"
  if ! pkg-config --exists PETSc; then
    say "PETSc is not installed"
    return 77
  fi
  build gcc t6_petsc example_petsc tessera tessera_cli
  ctest --test-dir "$build/gcc" --output-on-failure --no-tests=error -R petsc
  python_of_debian gcc
}

step_aarch64() {
  ensure_optional_packages "${packages_aarch64[@]}"
  build gcc tessera tessera_cli
  NATIVE=$build/gcc/tessera tools/aarch64.sh "$build/aarch64"
}

# No GPU is needed; without the run-time compiler the step is skipped.
compile_kernels() {
  local status=0
  build gcc bench_registers
  "$build/gcc/bench/bench_registers" "$@" || status=$?
  if [ $status = 3 ]; then
    say "NVRTC is not installed: kernels are not compiled for GPUs"
    return 77
  fi
  return $status
}

step_kernels() {
  compile_kernels --targets sm_90 --degrees 4
  compile_kernels --targets sm_80 --degrees 1
}

step_kernels_all() { compile_kernels --all --csv "$build/kernels.csv"; }

# Few cases of a kind, of an odd degree and an even one: the release build runs more of them.
brief_tests() { export TESSERA_TEST_BRIEF=1 TESSERA_TEST_DEGREES=2-3; }

step_sanitize() {
  local fault wanted
  # Of the tests of whole programs those of the program's own code: the library's code is that of the others.
  local programs='^t9_(messages|outputs|overwrite|program|study|time|values|words)$'
  # Arrays of a cell on the stack have shadows of more than 64 KiB, which would be mapped anew for each call: that took
  # most of the time of some tests.
  export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:clear_shadow_mmap_threshold=100000000
  # The threads of MPI, ended before, have storage that the leak check cannot read.
  export LSAN_OPTIONS=use_tls=0:print_suppressions=0:suppressions=$root/tests/leaks.supp
  export UBSAN_OPTIONS=print_stacktrace=1
  for fault in leak overflow; do
    gcc -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all "tests/planted/$fault.c" -o "$build/$fault"
    if "$build/$fault"; then die "the sanitizers do not find tests/planted/$fault.c"; fi
  done
  mapfile -t wanted < <(grep -LE '^ \* Labels: .*(slow|heavy)' tests/t*.c | xargs -n 1 basename -s .c |
    grep -E "^t[0-8]_|$programs")
  build sanitize tessera_cli examples/all "${wanted[@]}"
  brief_tests
  run_tests sanitize 'slow|style|heavy|simd' -E '^(t9_|example_cylinder$)' # a long run of nothing new
  run_tests sanitize 'slow|style|heavy|simd' -R "$programs"
}

# What that build leaves out, for clang's warnings alone.
syntax_of_others() {
  local others='-o (tests|bench|examples|CMakeFiles.tessera_cli)[^ ]* -c'
  ninja -C "$build/threads" -t commands | sed -nE "s/^ccache //; s/ -MD .* $others / -fsyntax-only /p" |
    (cd "$build/threads" && xargs -P "$jobs" -d '\n' -n 1 sh -c)
}

# The runtime of clang's OpenMP tells the sanitizer of its barriers and locks (libarcher); gcc's does not.
step_threads() {
  local name status aslr=() labelled
  # Kernels with many random bits of address confuse the sanitizer of clang 14.
  if setarch -R true 2>/dev/null; then aslr=(setarch -R); fi
  export TSAN_OPTIONS=ignore_noninstrumented_modules=1 OMP_TOOL_LIBRARIES
  OMP_TOOL_LIBRARIES=$(dirname "$(readlink -f "$(command -v clang)")")/../lib/libarcher.so
  for name in race no_race; do
    clang -g -O1 -fopenmp -fsanitize=thread "tests/planted/$name.c" -o "$build/$name"
    status=0
    "${aslr[@]}" "$build/$name" || status=$?
    [ "$name$status" = race66 ] || [ "$name$status" = no_race0 ] || die "$name: the thread sanitizer ends with $status"
  done
  mapfile -t labelled < <(grep -lE '^ \* Labels: .*threads' tests/t*.c | xargs -n 1 basename -s .c)
  build threads cli_cases.c "${labelled[@]}"
  syntax_of_others
  brief_tests
  "${aslr[@]}" ctest --test-dir "$build/threads" -j "$jobs" --output-on-failure --no-tests=error -LE slow -L threads
}

# How a stranger uses the installed library.
step_install() {
  local prefix=$build/prefix header source name flags=()
  build gcc
  rm -rf "$prefix" "$build/user"
  cmake --install "$build/gcc" --prefix "$prefix"
  python3 tools/check_symbols.py "$prefix/include" "$build/gcc/libtessera.so"
  local mpi_headers=() mpi_libraries=() # mpi.h and examples/ranks.c are for those who have it
  if pkg-config --exists ompi-c; then
    eval "mpi_headers=($(pkg-config --cflags ompi-c | sed 's/-I/-isystem /g'))"
    eval "mpi_libraries=($(pkg-config --libs ompi-c))"
  fi
  local petsc_libraries=() # petsc.h and examples/petsc.c likewise
  if [ ${#mpi_libraries[@]} -gt 0 ] && pkg-config --exists PETSc; then
    eval "mpi_headers+=($(pkg-config --cflags-only-I PETSc | sed 's/-I/-isystem /g'))"
    eval "petsc_libraries=($(pkg-config --libs PETSc))"
  fi
  for header in "$prefix"/include/tessera/*.h; do
    if [ "${header##*/}" = mpi.h ] && [ ${#mpi_libraries[@]} = 0 ]; then continue; fi
    if [ "${header##*/}" = petsc.h ] && [ ${#petsc_libraries[@]} = 0 ]; then continue; fi
    local strict=(-Wall -Wextra -Wpedantic -Werror -fsyntax-only "${mpi_headers[@]}" -include "$header")
    gcc -std=c11 "${strict[@]}" -x c /dev/null
    clang -std=c++11 "${strict[@]}" -x c++ /dev/null
  done

  local library_folder
  library_folder=$(dirname "$(find "$prefix" -name tessera.pc)")
  export PKG_CONFIG_PATH=$library_folder
  mkdir -p "$build/user"
  eval "flags=($(pkg-config --cflags --libs tessera))" # spaces in paths come with a backslash
  # shellcheck disable=SC2016 # back quotes of Markdown
  sed -n "/^\`\`\`c\$/,/^\`\`\`\$/{/^\`\`\`/d;p}" README.md >"$build/user/first.c" # the first program of the README
  for source in examples/*.c "$build/user/first.c"; do
    name=$build/user/$(basename "$source" .c)
    if [ "${name##*/}" = ranks ] && [ ${#mpi_libraries[@]} = 0 ]; then continue; fi
    local libraries=("${mpi_libraries[@]}")
    if [ "${name##*/}" = petsc ]; then
      [ ${#petsc_libraries[@]} -gt 0 ] || continue
      libraries+=("${petsc_libraries[@]}")
    fi
    gcc -std=c11 "${mpi_headers[@]}" "$source" -o "$name" "${flags[@]}" "${libraries[@]}" -lm \
      "-Wl,-rpath,${library_folder%/pkgconfig}"
    "$name" >"$name.out"
  done

  cmake -S examples -B "$build/user/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
  ninja -C "$build/user/cmake"
  ctest --test-dir "$build/user/cmake" --output-on-failure --no-tests=error
  "$prefix/bin/tessera" info
  "$prefix/bin/tessera" bench operator --dim 2 --degree 2 --dofs 1e3 --seconds 0.01 --threads 1
}

# The packages that the tests of the Python package want, by pip.
python_packages=("pip>=23.1" scikit-build-core cffi numpy scipy matplotlib pytest meshio mypy py-rattler-build)

# Root, debootstrap and network; the library as step gcc has it.
step_packages() {
  ensure_optional_packages "${packages_packages[@]}"
  tools/test_packages.sh "$build/packages" -DTESSERA_SIMD_WIDTHS=native -DTESSERA_SIMD_DEGREES=4
}

# The package beside petsc4py and mpi4py of Debian, which want Debian's NumPy: python_of_debian NAME of a build.
python_of_debian() {
  local prefix=$build/debian/prefix venv=$build/debian/venv wheels=$build/debian/wheels
  mkdir -p "$build/debian"
  [ -x "$venv/bin/python" ] || /usr/bin/python3 -m venv --system-site-packages "$venv"
  if ! "$venv/bin/python" -m pip --disable-pip-version-check install -q "${python_packages[@]}" "numpy<2"; then
    say "pip cannot install ${python_packages[*]}: petsc4py and mpi4py are not tested"
    return 0
  fi
  make_wheel "$1" "$prefix" "$wheels" "$venv"
  "$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir python python/tests/test_{petsc,mpi}.py
}

# make_wheel NAME PREFIX WHEELS VENV: a wheel with the library of a build, installed.
make_wheel() {
  rm -rf "$2" "$3"
  cmake --install "$build/$1" --prefix "$2"
  "$4/bin/python" -m pip --disable-pip-version-check wheel --no-deps --no-build-isolation -w "$3" . \
    -C cmake.source-dir=python -C cmake.define.CMAKE_PREFIX_PATH="$2"
  "$4/bin/python" -m pip --disable-pip-version-check install -q --no-deps --force-reinstall "$3"/*.whl
}

# A wheel of python/ with the library that step gcc has built, installed and tested as a user has it.
step_python() {
  local prefix=$build/python/prefix venv=$build/python/venv wheels=$build/python/wheels
  build gcc tessera tessera_cli
  mkdir -p "$build/python"
  [ -x "$venv/bin/python" ] || /usr/bin/python3 -m venv "$venv"
  if ! "$venv/bin/python" -m pip --disable-pip-version-check install -q "${python_packages[@]}"; then
    say "pip cannot install ${python_packages[*]}"
    return 77
  fi
  make_wheel gcc "$prefix" "$wheels" "$venv"
  MPLBACKEND=agg "$venv/bin/python" -m pytest -q -p no:cacheprovider --rootdir python python/tests
}

step_fuzz() {
  local program name seconds=${FUZZ_SECONDS:-60} corpus
  if [ ! -f tests/fuzz/CMakeLists.txt ]; then
    say "there are no fuzzers"
    return 77
  fi
  build fuzz
  for program in "$build"/fuzz/tests/fuzz/fuzz_*; do
    if [ ! -x "$program" ] || [ ! -f "$program" ]; then continue; fi
    name=$(basename "$program")
    corpus=$build/fuzz/corpus/$name
    mkdir -p "$corpus"
    "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 "$corpus" "tests/fuzz/corpus/${name#fuzz_}"
  done
}

step_fresh() { tools/fresh_machine.sh bookworm; }

step_site() { build gcc site; }
