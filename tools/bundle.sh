#!/bin/sh
# tools/bundle.sh BUILD OUT: a relocatable folder with the library, the programs, tests and benches of a build, and
# all shared libraries but the C library's. It runs on another x86-64 Linux with a C library at least as new; GPUs
# need only their driver and NVRTC there. OUT/run PROGRAM [argument]... starts a program; OUT/check runs all tests;
# OUT/measure FOLDER writes the tables of bench/ as CSV; OUT/gpu FOLDER runs all checks and benches of a GPU,
# OUT/sanitize FOLDER the tests of a GPU under compute-sanitizer.
set -eu
build=$1 out=$2
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib"
for program in "$build"/tessera "$build"/tests/t[0-9]_* "$build"/bench/bench_* "$build"/bench/tessera-bench; do
  case $program in *_petsc) continue ;; esac # PETSc and what it links are as large as all the rest
  if [ -f "$program" ] && [ -x "$program" ]; then cp "$program" "$out/bin/"; fi
done
ours='ld-linux|libc\.so|libm\.so|libmvec|libpthread|libdl\.so|librt\.so|libresolv|libutil\.so'
# MUMPS is opened when it is asked for, so that ldd does not name it.
mumps=$(/sbin/ldconfig -p 2>/dev/null | awk '$1 ~ /^libdmumps-[0-9.]*so$/ { print $NF; exit }')
[ -z "$mumps" ] || cp -L "$mumps" "$out/lib/"
for file in "$build"/libtessera.so.? "$build"/libtessera_internal.so "$out"/bin/* $mumps; do
  ldd "$file" | awk '$3 ~ /^\// { print $3 }' | grep -vE "/($ours)" || true
done | sort -u | while read -r library; do cp -L "$library" "$out/lib/"; done
# Open MPI finds its plugins by folders that the run script names; those of networks and schedulers stay behind.
if ls "$out"/lib/libmpi.so* >/dev/null 2>&1 && command -v ompi_info >/dev/null; then
  plugins=$(ompi_info --path pkglibdir --parsable | cut -d: -f3) data=$(ompi_info --path pkgdatadir --parsable | cut \
    -d: -f3)
  mkdir -p "$out/lib/openmpi3" "$out/share"
  for plugin in "$plugins"/mca_*.so; do
    case $(basename "$plugin") in
    *ucx* | *ofi* | *openib* | *psm* | *slurm* | *gridengine* | *romio* | *monitoring* | *treematch*) ;;
    mca_scoll* | mca_spml* | mca_sshmem* | mca_memheap* | mca_atomic*) ;; # of OpenSHMEM
    *) cp "$plugin" "$out/lib/openmpi3/" ;;
    esac
  done
  for file in "$out"/lib/openmpi3/*.so; do
    ldd "$file" | awk '$3 ~ /^\// { print $3 }' | grep -vE "/($ours)" || true
  done | sort -u | while read -r library; do cp -L "$library" "$out/lib/"; done
  cp -rL "$data" "$out/share/openmpi"
  # Several ranks of one host: `run mpirun -n 2 OUT/bin/tessera ...`, or `run tessera solve ... --ranks 2`.
  for program in orterun orted; do cp -L "$(command -v $program)" "$out/bin/" 2>/dev/null || true; done
  [ ! -f "$out/bin/orterun" ] || mv "$out/bin/orterun" "$out/bin/mpirun"
fi
cp -r "$(dirname "$0")/../cases" "$out/cases"
strip --strip-unneeded "$out"/lib/*.so* "$out"/bin/* 2>/dev/null || true
cat > "$out/run" <<'R'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
if [ -d "$here/lib/openmpi3" ]; then
  export OPAL_PREFIX="$here" OPAL_LIBDIR="$here/lib" OPAL_PKGLIBDIR="$here/lib/openmpi3" \
    OPAL_PKGDATADIR="$here/share/openmpi"
  export OMPI_MCA_mca_base_component_show_load_errors=0 OMPI_MCA_ess_singleton_isolated=1
  export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
  export PMIX_MCA_pcompress_base_silence_warning=1 PATH="$here/bin:$PATH"
fi
program=$1
shift
exec "$here/bin/$program" "$@"
R
cat > "$out/check" <<'R'
#!/bin/sh
# All tests; the exit status is the number of those that failed.
here=$(cd "$(dirname "$0")" && pwd)
failed=0
for test in "$here"/bin/t[0-9]_*; do
  name=$(basename "$test")
  if "$here/run" "$name" > "/tmp/$name.log" 2>&1; then echo "passed $name"; else
    echo "FAILED $name"; tail -5 "/tmp/$name.log"; failed=$((failed + 1)); fi
done
exit $failed
R
cat > "$out/measure" <<'R'
#!/bin/sh
# measure FOLDER [device]: every table of the benches.
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
"$here/run" bench_kernels --device "${2:-cuda}" --csv "$1/kernels.csv"
R
cp "$(dirname "$0")/bundle_gpu.sh" "$out/gpu"
cp "$(dirname "$0")/bundle_sanitize.sh" "$out/sanitize"
git -C "$(dirname "$0")" log -1 --format='%h %cs' > "$out/commit" 2>/dev/null || true
chmod +x "$out/run" "$out/check" "$out/measure" "$out/gpu" "$out/sanitize"
du -sh "$out"
