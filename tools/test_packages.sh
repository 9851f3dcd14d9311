#!/usr/bin/env bash
# Packages of Debian 12: makes them, looks at them (lintian), installs them in a bare system, and uses them there: the
# program, an example in C by pkg-config and by CMake's package, Python.
#   tools/test_packages.sh FOLDER [arguments of CMake]     root, debootstrap, network; FOLDER: of the build
# The packages are left in FOLDER/packages. What they need to be made: tools/setup.sh, packages_packages.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -gt 0 ] || {
  sed -n '4s/^# *//p' "$0" >&2
  exit 2
}
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_INSTALL_RPATH=ON -DTESSERA_TESTS=OFF \
  -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" -DTESSERA_PYTHON=ON \
  -DTESSERA_PYTHON_FOLDER=lib/python3/dist-packages -DPython_EXECUTABLE=/usr/bin/python3 "$@"
ninja -C "$build" ${jobs:+-j "$jobs"} tessera tessera_cli tessera_python
rm -f "$build"/*.deb
(cd "$build" && cpack -G DEB)
ls -l "$build"/*.deb
if command -v lintian >/dev/null; then
  # made by cpack, without a bug report of Debian
  lintian --allow-root --fail-on error --suppress-tags initial-upload-closes-no-bugs "$build"/*.deb
fi
# Versions of functions: listed ones keep theirs, others are new, lost ones are refused.
symbols() {
  cmake -DLIBRARY="$build/libtessera.so" -DNAME=libtessera.so.0 -DPACKAGE=libtessera0 -DVERSION=9.9 -DLISTED="$1" \
    -DNM=nm -DOUT="$build/symbols.test" -P "$root/cmake/symbols.cmake"
}
listed=$root/packaging/debian/symbols
grep -v ' tes_version@' "$listed" >"$build/symbols.listed"
symbols "$build/symbols.listed"
grep -q '^ tes_version@Base 9.9$' "$build/symbols.test"
grep -q '^ tes_context_create@Base 0.2.0$' "$build/symbols.test"
echo ' tes_that_is_gone@Base 0.1' >>"$build/symbols.listed"
if symbols "$build/symbols.listed" 2>"$build/symbols.log"; then
  echo "a function that is gone is not noticed"
  exit 1
fi
grep -q 'tes_that_is_gone of version 0.1 is gone' "$build/symbols.log"
dpkg-deb --ctrl-tarfile "$build"/libtessera0_*.deb | tar -xO ./symbols >"$build/symbols.test"
if grep '^ tes_' "$listed" | grep -vxFf "$build/symbols.test"; then
  echo "the package has other versions"
  exit 1
fi
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "the packages are made; a bare system to use them in needs root and debootstrap"
  exit 77
fi

machine=$(mktemp -d)
clean_up() {
  umount "$machine/proc" "$machine/dev" 2>/dev/null || true
  rm -rf --one-file-system "$machine"
}
trap clean_up EXIT
debootstrap --variant=minbase bookworm "$machine" >"$machine.log" 2>&1 || {
  tail -n 5 "$machine.log"
  exit 1
}
rm -f "$machine.log"
mount -t proc proc "$machine/proc"
mount --bind /dev "$machine/dev"
mkdir "$machine/srv/debs"
cp "$build"/*.deb "$machine/srv/debs"
cp "$root/examples/poisson.c" "$root/examples/CMakeLists.txt" "$machine/srv"
cat >"$machine/srv/use.sh" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive OMP_NUM_THREADS=2
cd /srv
apt-get -q -y update >/dev/null
apt-get -q -y install --no-install-recommends ./debs/*.deb gcc libc6-dev pkg-config cmake make >apt.log 2>&1 ||
  { tail -n 20 apt.log; exit 1; }
tessera info
tessera new poisson-cube >cube.yaml
tessera solve cube.yaml --json cube.json | tail -n 3
grep -q '"status".*"converged"' cube.json
zcat /usr/share/man/man1/tessera.1.gz | grep -q tessera
# shellcheck disable=SC2046 # several words
gcc -std=c11 poisson.c -o poisson $(pkg-config --cflags --libs tessera) -lm
./poisson | tail -n 1
mkdir by-cmake && cp poisson.c CMakeLists.txt by-cmake
cmake -S by-cmake -B by-cmake/build >/dev/null
make -C by-cmake/build >/dev/null
./by-cmake/build/example_poisson >/dev/null
python3 -c '
import tessera
result = tessera.solve({"problem": "poisson", "mesh": {"box": {"dim": 2, "cells": [16, 16]}}, "data": {"f": "1"}})
assert abs(result.value("u") - 0.03514425) < 1e-7, result.value("u")
print(tessera.__version__, result)'
python3 -m tessera info >/dev/null
apt-get -q -y remove tessera libtessera0 >/dev/null 2>&1
[ ! -e /usr/bin/tessera ]
[ -z "$(find / -xdev -name 'libtessera*' -not -path '/srv/*' -not -path '/var/*')" ]
END
chroot "$machine" /bin/bash /srv/use.sh
echo "packages: used in a bare system"
