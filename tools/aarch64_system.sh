# shellcheck shell=bash
# Debian's libraries of 64-bit ARM in a folder, of which nothing is installed in this machine. Sourced after setup.sh.
# shellcheck disable=SC2154 # lists from setup.sh

needs_aarch64() {
  local program
  for program in aarch64-linux-gnu-gcc qemu-aarch64 mmdebstrap; do
    if ! command -v $program >/dev/null; then
      say "$program is not installed: nothing is compiled for 64-bit ARM"
      exit 77
    fi
  done
}

# make_aarch64_system FOLDER: unless it is there. Packages are unpacked and not set up: what they would do then, links
# of alternatives, is done here. Links that begin with / would lead into this machine.
make_aarch64_system() {
  local packages link system=$1 libraries=usr/lib/aarch64-linux-gnu headers=usr/include/aarch64-linux-gnu
  if [ -d "$system" ]; then return; fi
  packages=$(printf ,%s "${packages_libraries[@]}" "${packages_parts[@]}" "${packages_aarch64_python[@]}")
  mmdebstrap --variant=extract --architectures=arm64 --include="libc6-dev,libgcc-12-dev$packages" bookworm \
    "$system.new" >"$system.log" 2>&1 || {
    tail -n 5 "$system.log"
    rm -rf "$system.new"
    say "the packages of 64-bit ARM cannot be fetched"
    exit 77
  }
  (
    cd "$system.new" || exit
    find . -path './*lib/*' -lname '/*' | while read -r link; do
      if [ -e ".$(readlink "$link")" ]; then ln -sfr ".$(readlink "$link")" "$link"; fi
    done
    ln -sr $libraries/openblas-pthread/lib*.so.? $libraries
    ln -sr $libraries/openblas-pthread/pkgconfig/openblas.pc $libraries/pkgconfig
    for link in blas lapack; do
      ln -sr $libraries/openblas-pthread/pkgconfig/$link-openblas.pc $libraries/pkgconfig/$link.pc
    done
    ln -sr $headers/openblas-pthread/*.h $headers
  )
  mv "$system.new" "$system"
}
