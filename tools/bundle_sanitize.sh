#!/bin/sh
# sanitize FOLDER [tool or test]...: compute-sanitizer (memcheck, racecheck, initcheck, synccheck) on the GPU tests
# of a bundle (tools/bundle.sh), all of them or those named: brief lists of cases, a few degrees a run, runs side
# by side. A line a run appears on standard output and in FOLDER/sanitize.txt as soon as it ends, what a tool said
# in FOLDER/TOOL-TEST-DEGREES.log. The exit status counts failures.
#   SANITIZE_JOBS=14      runs side by side
#   SANITIZE_SECONDS=60   for one run
#   SANITIZE_TOTAL=330    for all; what is not reached by then is told
# Kernels come from the cache (TESSERA_CACHE_DIR) where an earlier run left them.
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
SANITIZE_UNTIL=${SANITIZE_UNTIL:-$(($(date +%s) + ${SANITIZE_TOTAL:-330}))}
export TESSERA_TEST_CASES="$here/cases"
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 PATH="$PATH:/usr/local/cuda/bin"
export SANITIZE_UNTIL TESSERA_TEST_DEVICE=cuda TESSERA_TEST_BRIEF=1 TESSERA_TUNE=off

# A test a line and its runs, the most telling first: by degrees, t9_devices by case, t7_device_solve by test. "-":
# all at once.
runs() {
  cat << 'R'
t4_operator_kernels 3 2 1 4,5 7 8
t4_mapped_device 2 3 1 4
t4_quadrature_kernels 2 3 1 4 9-99 7 8
t5_patch_kernels 2 1 3 9-99 4 7 8
t4_mapped_kernels 2 3 4 1 7 8
t4_mapped_ladder 2 3 1 4 6-7
t4_mapped_cuts 3 2 4,6 1 13,14
t4_forest_kernels 3 2 4 1 7 8
t4_transport_kernels 3 2 4 1 7 8
t4_elasticity_kernels 3 2 1 4 7 8
t4_taylor_hood_kernels 2 3 4
t4_assembled 2 1 3 4-6
t5_forest_kernels 3 2 4 1 7 8
t5_cell_patch_kernels 3 2 4 1 7 8
t5_line_patch 3 2 4 1 7 8
t5_patch_ladder 3 2 4 1 7 8
t5_stokes_ladder 2 1 3 4
t5_stokes_kernels 2 1 3 4
t5_stokes_varying_kernels 1-3 4
t5_rt_convection_kernels 3 2 1 4
t7_rt_flow_device -
t5_upwind_kernels 3 2 1 4 7 8
t5_modal_load_kernels 3 2 1 4 7 8
t7_dg_transport_device -
t9_devices fichera l-shape:1 variable-coefficient poisson-cube l-shape:2 l-shape:3 l-shape:4
t9_devices poisson-square pure-neumann plate
t9_devices stokes-cavity stokes-channel
t7_device_solve gmres conjugate_gradients restarted_gmres_is_the_hosts lent_memory_changes_nothing multigrid_alone
t7_device_solve pure_neumann cell_patches
t7_scale -
t7_units -
t7_time -
t7_time_device -
t7_navier_stokes_device -
t7_steady_schur -
t7_balance -
t7_direct -
t7_steady_transport -
t8_gradient -
t6_sparse -
t7_direct_sparse -
t1_device_guard -
t5_periodic -
t7_periodic -
t7_mpi -
t7_mpi_adapt -
t7_mpi_grid -
t7_mpi_copies -
t7_mpi_levels -
t7_mpi_ordered -
t7_mpi_dg -
t7_mpi_iso -
t7_mpi_stokes -
t4_functional_device 2 3 4 1 7 8
t5_smoother_kernels 1 2 3 4 7 8
t5_transfer_kernels 3 1,2 4 7 8
t1_device -
t1_recorded -
t6_refined -
t4_iso -
t7_explicit_flow -
t6_coarse_kernels -
t4_slip -
t6_aggregation_kernels -
t6_krylov_kernels -
t6_least -
t7_iso -
R
}

# The n-th run of every test, for n = 1, 2, ...: "TEST DEGREES" lines of round n.
round() {
  runs | awk -v n="$1" 'NF > n { print $1, $(n + 1) }'
}

wanted() { # TOOL TEST: named, or nothing of its kind was
  tools="" tests=""
  for name in $names; do
    case $name in *check) tools="$tools $name" ;; *) tests="$tests $name" ;; esac
  done
  case " ${tools:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
  case " ${tests:-$2} " in *" $2 "*) ;; *) return 1 ;; esac
}

list() { # lines "TOOL TEST DEGREES", round by round; memcheck comes first and leaves the compiled kernels to the others
  for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
    for tool in memcheck racecheck initcheck synccheck; do
      round $n | while read -r test degrees; do
        if wanted $tool "$test"; then echo "$tool $test $degrees"; fi
      done
    done
  done
}

findings() { cat "$@" | grep -cE \
  '^========= *(Error: |Warning: |Invalid|Uninitialized|Barrier|Race|Program hit|Address)'; }

# follow TOOL PROGRAM [argument]...: the program under the tool. Of cuSPARSE's own kernels racecheck tells hazards:
# they are left out.
follow() {
  tool=$1
  shift
  case "$tool $1" in "racecheck t4_assembled") ours="kns=tesk_" ;; *) ours="" ;; esac
  exec compute-sanitizer --tool "$tool" --target-processes all --show-backtrace device --error-exitcode 9 \
    ${ours:+--kernel-name "$ours"} ${SANITIZE_LOG:+--log-file "$SANITIZE_LOG"} "$here/run" "$@"
}

# one TOOL TEST DEGREES: runs it; a line of the outcome.
one() {
  log=$out/$1-$2-$3.log
  name="$1 $2 $3"
  case $name in
    *" -") ;;
    *t9*) export TESSERA_TEST_CASE="$3" ;;
    *t7*) export TESSERA_TEST_ONLY="$3" ;;
    *) export TESSERA_TEST_DEGREES="$3" ;;
  esac
  begun=$(date +%s)
  left=$((SANITIZE_UNTIL - begun)) seconds=${SANITIZE_SECONDS:-60}
  if [ $left -lt 5 ]; then
    echo "$name" >>"$out/not_reached"
    return
  fi
  [ "$left" -gt "$seconds" ] || seconds=$left
  case $2 in
    t9*) # the processes that it starts are followed, one by one
      TESSERA_TEST_PROGRAM="$0 $out program $1" SANITIZE_LOG="$log.%p" timeout -k 3 "$seconds" "$here/run" "$2" \
        >"$log" 2>&1
      ;;
    *) timeout -k 3 "$seconds" "$0" "$out" follow "$1" "$2" >"$log" 2>&1 ;;
  esac
  status=$? took=$(($(date +%s) - begun))
  if [ $status = 0 ] && ! grep -q '^\[       OK' "$log"; then status="0, but nothing ran"; fi
  case $status in
    0) echo "clean $name ($took s)" ;;
    124) echo "out of time: $name, $(findings "$log"*) findings until then ($took s)" ;;
    *) echo "FAILED $name, status $status ($took s)
$(cat "$log"* | grep -m12 -E '^=========|ERROR|FAILED|error' | cut -c 1-220 | sed 's/^/    /')" ;;
  esac
}

# The runs that time did not allow, a line a tool and test.
tell_not_reached() {
  [ ! -f "$out/not_reached" ] || sort "$out/not_reached" | awk '
    $1 " " $2 != key { if (key) print "not reached: " key list; key = $1 " " $2; list = "" }
    { list = list " " $3 }
    END { print "not reached: " key list }'
}

case "${1:-}" in
  one)
    one "$2" "$3" "$4"
    exit
    ;;
  follow)
    shift
    follow "$@"
    ;;
  program) # TOOL [argument]...: tessera, on a GPU under the tool
    case "$*" in *"--device cpu"*) shift 2 && exec "$here/run" tessera "$@" ;; esac
    tool=$2
    shift 2
    follow "$tool" tessera "$@"
    ;;
esac

names=$*
mkdir -p "$out"
rm -f "$out/not_reached"
if ! command -v compute-sanitizer > /dev/null; then
  echo "no compute-sanitizer here"
  exit 0
fi
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2> /dev/null | head -1 | tr ',' ' ')
{
  echo "# $gpu | tessera $(cat "$here/commit" 2> /dev/null) | $(date -u +%Y-%m-%d) | compute-sanitizer, brief lists" \
    "of cases, ${SANITIZE_JOBS:-14} runs side by side, at most ${SANITIZE_SECONDS:-60} s each"
  list | xargs -P "${SANITIZE_JOBS:-14}" -n 3 "$0" "$out" one
  tell_not_reached
} | tee "$out/sanitize.txt"
exit "$(grep -c '^FAILED' "$out/sanitize.txt")"
