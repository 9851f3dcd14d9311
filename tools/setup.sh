# shellcheck shell=bash
# What ./run and ./check share: installing packages and building. Sourced with $root set to the project's folder.
# shellcheck disable=SC2034,SC2154 # lists for, and root from, the sourcing script

# What a build needs. libc6-dev is only a recommendation of gcc.
packages_libraries=(libfyaml-dev libcjson-dev libopenblas-dev liblapacke-dev zlib1g-dev libcmocka-dev)
packages_build=(gcc libc6-dev cmake ninja-build pkg-config "${packages_libraries[@]}")
# What the checks need on top.
packages_check=(clang libclang-rt-dev libomp-dev llvm python3 python3-vtk9 python3-numpy doxygen mandoc shellcheck
  gnuplot-nox util-linux python3-venv python3-dev)
# Installed where the distribution has them. Without these the program has no adaptive meshes, no algebraic coarse
# solver, no checkpoints, no pictures or no sparse factors, and says so.
packages_parts=(libp4est-dev mpi-default-dev libhypre-dev libhdf5-dev libpng-dev libmumps-dev)
# The step that wants one of these says so when it is skipped.
packages_optional=(clang-format-14 python3-meshio python3-netcdf4)
# Of the steps slow and petsc alone: 200 packages, a minute and a half.
packages_petsc=(petsc-dev python3-petsc4py python3-mpi4py)
# Of the step packages.
packages_packages=(lintian debootstrap dpkg-dev python3-cffi)
# Of the steps slow and aarch64: a cross compiler, and what runs its programs.
packages_aarch64=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user mmdebstrap)
# Of that processor, beside the libraries: Python, to compile and to try the wheel.
packages_aarch64_python=(python3 libpython3-dev python3-numpy python3-cffi-backend)

say() { printf '%s\n' "$*"; }

# The commit of the sources, where no file of it has changed; otherwise it fails.
wheel_commit() {
  git -C "$root" rev-parse HEAD 2>/dev/null || return 1
  [ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ]
}
die() {
  say "$*" >&2
  exit 3
}

# Prints those of the given packages that are not installed.
missing_packages() {
  local name
  for name in "$@"; do
    case $(dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null) in
    ?i*) ;;
    *) say "$name" ;;
    esac
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

has_candidate() { apt-cache policy "$1" 2>/dev/null | grep -q '^ *Candidate: [^(]'; }

apt_quietly() {
  local log
  log=$(mktemp)
  if as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@" >"$log" 2>&1 \
    </dev/null; then
    rm -f "$log"
  else
    tail -n 15 "$log" >&2
    rm -f "$log"
    return 1
  fi
}

# Installs the given packages that are missing, and says first which. An index that knows them is not refreshed.
ensure_packages() {
  local missing name
  if ! command -v dpkg-query >/dev/null; then
    say "This is no Debian or Ubuntu: please provide what these packages hold: $*"
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "Installing by apt: ${missing[*]}"
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "Neither root nor sudo: as root, run  apt-get install --no-install-recommends ${missing[*]}"
  fi
  for name in "${missing[@]}"; do
    has_candidate "$name" && continue
    apt_quietly update || die "apt-get update failed"
    break
  done
  apt_quietly install --no-install-recommends "${missing[@]}" && return 0
  # An old index may name files that are gone.
  if apt_quietly update && apt_quietly install --no-install-recommends "${missing[@]}"; then return; fi
  die "apt-get install failed"
}

# The same for packages that not every distribution has: those without a candidate are left out.
ensure_optional_packages() {
  local name
  command -v dpkg-query >/dev/null || return 0
  for name in $(missing_packages "$@"); do
    if has_candidate "$name"; then ensure_packages "$name"; fi
  done
}

# configure FOLDER [CMake arguments]: does nothing when the folder was configured with the same arguments.
configure() {
  local folder=$1 arguments
  shift
  arguments="$root $* without: $(missing_packages "${packages_parts[@]}" "${packages_petsc[@]}" | tr '\n' ' ')"
  if [ -f "$folder/build.ninja" ] && [ "$(cat "$folder/.arguments" 2>/dev/null)" = "$arguments" ]; then return; fi
  rm -f "$folder/CMakeCache.txt" # old arguments would live on in it
  cmake -S "$root" -B "$folder" -G Ninja "$@"
  printf '%s' "$arguments" >"$folder/.arguments"
}
