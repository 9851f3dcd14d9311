#!/usr/bin/env bash
# 64-bit ARM: the whole of the library by the cross compiler of Debian, and some quick tests of it under qemu-user.
#   tools/aarch64.sh FOLDER        needs gcc-aarch64-linux-gnu, qemu-user and mmdebstrap; network, at first
# FOLDER/system has Debian's libraries of that processor, of which nothing is installed in this machine; FOLDER/build
# is the build. The program must take as many iterations as the program NATIVE, where that variable names one.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"
# shellcheck source=tools/aarch64_system.sh
. "$root/tools/aarch64_system.sh"
[ $# = 1 ] || {
  sed -n '3s/^# *//p' "$0" >&2
  exit 2
}
needs_aarch64
mkdir -p "$1"
folder=$(cd "$1" && pwd)
system=$folder/system

make_aarch64_system "$system"

# All that is compiled: the library, the program, these tests.
build=$folder/build
tests=()
for source in "$root"/tests/{t[0-2]_*,t4_mapped*,t4_operator_*,t5_patch*,t6_multigrid,t7_poisson}.c; do
  tests+=("$(basename "$source" .c)")
done
cmake --toolchain "$root/cmake/aarch64.cmake" -DTESSERA_SYSROOT="$system" -S "$root" -B "$build" -G Ninja \
  -DTESSERA_WERROR=ON -DTESSERA_SIMD_DEGREES=2
ninja ${jobs:+-j "$jobs"} -C "$build" tessera tessera_cli "${tests[@]}"
aarch64-linux-gnu-readelf -h "$build/libtessera.so" | grep -q AArch64

export OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=2 TESSERA_TEST_BRIEF=1 TESSERA_TEST_DEGREES=2-3
export OMPI_MCA_btl=self OMPI_MCA_ess_singleton_isolated=1 QEMU_LD_PREFIX=$system
mkdir -p "$folder/logs" "$folder/bin"
ln -sf "$(command -v aarch64-linux-gnu-gcc)" "$folder/bin/cc" # kernels of the emulator, drivers of t1_device_missing
native_path=$PATH
PATH=$folder/bin:$PATH
# qemu-user has no limit of the address space, and ends a process with threads that forks.
known='the_limit_of_the_address_space_is_known|children_make_teams_of_their_own'

# passes TEST: it ran to its end, and nothing failed but what is known.
passes() {
  local log=$folder/logs/$1.log status=0
  timeout 1200 qemu-aarch64 "$build/tests/$1" >"$log" 2>&1 || status=$?
  [ $status = 0 ] && return
  grep -q '^\[==========\].*run\.$' "$log" || return 1
  ! sed -n 's/^\[  FAILED  \] \([a-z_0-9]*\)$/\1/p' "$log" | grep -qvxE "$known"
}
for test in "${tests[@]}"; do
  begin=$SECONDS
  passes "$test" || {
    tail -n 30 "$folder/logs/$test.log"
    die "$test fails under qemu"
  }
  say "passed $test, $((SECONDS - begin)) s"
done

# compare NAME [arguments of solve]: the program takes as many iterations here and there, to the same errors.
compare() {
  local name=$1
  shift
  qemu-aarch64 "$build/tessera" solve "$@" --quiet --json "$folder/$name.json"
  [ -n "${NATIVE-}" ] || return 0
  PATH=$native_path "$NATIVE" solve "$@" --quiet --json "$folder/$name-native.json"
  python3 - "$folder/$name.json" "$folder/$name-native.json" <<'END'
import json, sys
ours, native = (json.load(open(name)) for name in sys.argv[1:])
for key in ("status", "dofs", "iterations"):
    assert ours[key] == native[key], (key, ours[key], native[key])
for name, error in native.get("errors", {}).items():
    assert abs(ours["errors"][name] - error) < 1e-2 * error, (name, ours["errors"][name], error)
print(native["case"], "iterations", ours["iterations"], ours["fractional_iterations"], native["fractional_iterations"])
END
}
cd "$root"
compare poisson-cube cases/poisson-cube.yaml --set 'mesh.box.cells=[8, 8, 8]'
compare emulator cases/poisson-cube.yaml --set 'mesh.box.cells=[4, 4, 4]' --device emulator
compare l-shape cases/l-shape.yaml --set adapt.tolerance=1e-3
compare cavity cases/stokes-cavity.yaml --set 'mesh.box.cells=[4, 4, 4]'
say "64-bit ARM: ${#tests[@]} tests and 4 solves pass under qemu-user"
