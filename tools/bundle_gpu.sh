#!/bin/sh
# gpu FOLDER [part[=SECONDS]]...: checks and benches of a GPU, in a bundle (tools/bundle.sh). Tables and logs
# appear in FOLDER; each table begins with the GPU, the commit, the date and its commands. The exit status counts
# failures. Parts, and the seconds each has at most where none are given:
#   check 240      every test of a GPU, in pieces side by side, and cases/ on the host and the GPU; a line a
#                  piece as it ends
#   sanitize 330   those tests under compute-sanitizer: `sanitize`, which can be run alone, by tool and by test
#   kernels 120    operators, smoothers, transfers, vectors of boxes     solve 180     whole solves
#   stokes 90      flows: operator, sweep, whole solves
#   bp 300         the benchmark operators: bench_mapped, _cg, _csr      adaptive 270  meshes with hanging nodes
#   start 90       processes from start to end                           ladder 60     variants of the patch kernel
#   profile 300    counters of ncu; only where it is named
# A part out of time keeps what it has and tells what is missing. CHECK_JOBS=14: pieces side by side.
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
parts=${*:-check sanitize kernels solve stokes bp adaptive start ladder}
mkdir -p "$out"
as=""
failures=${GPU_FAILURES:-$(mktemp)} # a line each: pieces and loops behind pipes are processes of their own
export GPU_FAILURES="$failures" GPU_UNTIL
fail() { echo "FAILED $*" | tee -a "$failures"; }
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1 | tr ',' ' ')
head="# $gpu | tessera $(cat "$here/commit" 2>/dev/null) | $(date -u +%Y-%m-%d)"

# begin PART SECONDS: whether it is wanted; its time begins.
begin() {
  for part in $parts; do
    case $part in
      "$1") seconds=$2 ;;
      "$1"=*) seconds=${part#*=} ;;
      *) continue ;;
    esac
    GPU_UNTIL=$(($(date +%s) + seconds))
    echo "== $1, at most $seconds s"
    return 0
  done
  return 1
}
left() { echo $((GPU_UNTIL - $(date +%s))); }
# within COMMAND...: in what is left of the part's time; 124 where that ends it
within() {
  [ "$(left)" -gt 1 ] || return 124
  timeout -k 3 "$(left)" "$@"
}

# rows NAME COMMAND...: adds the rows of a command to the table NAME; its last argument is the option that names a
# CSV. The table's head tells the command, or $as where that is set.
rows() {
  name=$1
  shift
  rm -f "$out/$name.more"
  note=""
  within "$here/run" "$@" "$out/$name.more" >"$out/$name.log" 2>&1
  status=$?
  if [ $status = 124 ]; then
    note=" (out of time)"
    echo "out of time: $*"
  elif [ $status != 0 ]; then
    fail "$*"
    tail -3 "$out/$name.log"
  fi
  echo "${as:-${*}}$note" | sed 's/ --csv//' >>"$out/$name.commands"
  first=1 # behind rows that are there already the names of the columns are left out
  [ ! -s "$out/$name.rows" ] || first=2
  [ ! -f "$out/$name.more" ] || grep -v '^#' "$out/$name.more" | tail -n +$first >>"$out/$name.rows"
  rm -f "$out/$name.more"
}

# tables NAME...: their CSV from the rows.
tables() {
  for name in "$@"; do
    [ -s "$out/$name.rows" ] && { echo "$head | $(awk '!seen[$0]++' "$out/$name.commands" | paste -sd';')"; cat \
      "$out/$name.rows"; } >"$out/$name.csv"
    rm -f "$out/$name.rows" "$out/$name.commands"
  done
}

# Tests and their pieces by degrees, the long ones first. "-": all at once. Every degree is in a piece.
pieces() {
  cat <<'P'
t5_stokes_kernels 9-99 5-8 4 3 2 1
t4_quadrature_kernels 8 7 6 5 3-4 1-2 9-99
t5_patch_ladder 8 7 6 5 4 3 1-2
t5_stokes_ladder 4 3 1-2
t5_patch_kernels 4 3 2 1 5-8 9-99
t4_operator_kernels 8 7 5-6 4 3 1-2 9-99
t4_mapped_kernels 9-99 7-8 5-6 4 3 2 1
t5_smoother_kernels 8 7 5-6 3-4 1-2 9-99
t5_transfer_kernels 7-99 4-6 1-3
t5_forest_kernels 7-8 4-6 1-3
t5_cell_patch_kernels 7-8 4-6 1-3
t5_line_patch 7-8 4-6 1-3
t5_stokes_varying_kernels 4-99 1-3
t5_rt_convection_kernels -
t7_rt_flow_device -
t5_upwind_kernels 7-8 5-6 3-4 1-2
t5_modal_load_kernels 5-8 1-4
t7_dg_transport_device -
t4_mapped_device 1-2 3-4
t4_mapped_ladder 1-5 6,7
t4_functional_device 6-9 1-5
t4_forest_kernels 5-8 1-4
t4_transport_kernels 7-8 5-6 1-4
t4_elasticity_kernels 7-8 5-6 3-4 1-2
t4_taylor_hood_kernels 7-8 5-6 3-4 2
t4_assembled 1-2 3-6
t7_device_solve -
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
t7_own_smoother -
t7_mpi -
t7_mpi_adapt -
t7_mpi_grid -
t7_mpi_copies -
t7_mpi_levels -
t7_mpi_ordered -
t7_mpi_dg -
t7_mpi_iso -
t7_mpi_stokes -
t7_scale -
t7_units -
t4_mapped_cuts -
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
P
  for case in "$here"/cases/*.yaml; do echo "t9_devices $(basename "$case" .yaml)"; done
}

# check TEST DEGREES|CASE|-: one line of the outcome.
check() {
  name="$1 $2"
  export TESSERA_TEST_DEVICE=cuda TESSERA_TEST_PROGRAM="$here/run tessera" TESSERA_TEST_CASES="$here/cases"
  export OMP_WAIT_POLICY=passive OMP_NUM_THREADS="${OMP_NUM_THREADS:-4}"
  case $name in
    *" -") ;;
    t9*) export TESSERA_TEST_CASE="$2" ;;
    *) export TESSERA_TEST_DEGREES="$2" ;;
  esac
  log=$out/$1-$2.log begun=$(date +%s)
  within "$here/run" "$1" >"$log" 2>&1
  status=$?
  case $status in
    0) echo "passed $name ($(($(date +%s) - begun)) s)" ;;
    124) fail "$name: out of time ($(($(date +%s) - begun)) s)" ;;
    *)
      fail "$name"
      grep -E 'ERROR|Failure|degree' "$log" | head -5
      ;;
  esac
}

if [ "${1:-}" = one ]; then
  check "$2" "$3"
  exit
fi

if begin check 240; then
  pieces | awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | xargs -P "${CHECK_JOBS:-14}" -n 2 "$0" "$out" one | tee \
    "$out/check.txt"
fi

if begin sanitize 330; then
  SANITIZE_TOTAL=$(left) "$here/sanitize" "$out/sanitize" || grep '^FAILED' "$out/sanitize/sanitize.txt" >>"$failures"
  cp "$out/sanitize/sanitize.txt" "$out/"
fi

if begin kernels 120; then
  rows operator bench_kernels --what operator --csv
  rows smoother bench_kernels --what smoother --csv
  rows smoother_q1 bench_kernels --what smoother --degrees 1 --dofs 1.34e8 --csv
  rows transfer bench_kernels --what transfer --no-check --csv
  rows vector bench_kernels --what vector --csv
  tables operator smoother smoother_q1 transfer vector
fi

if begin solve 180; then
  as="bench_solve --degree K --cells N --precision P --method M"
  for problem in "4 8" "2 32" "1 512" "3 256" "7 128" "7 208"; do
    for how in "mixed fmg" "double fmg" "mixed cg" "mixed gmres"; do
      case "$problem $how" in "7 208 double fmg" | "7 208 mixed gmres" | "7 208 mixed cg") continue ;; esac
      # shellcheck disable=SC2086
      set -- $problem $how
      rows solve bench_solve --degree "$1" --cells "$2" --precision "$3" --method "$4" --repeat \
        "$([ "$2" -lt 64 ] && echo 15 || echo 3)" --csv
    done
  done
  as=""
  tables solve
fi

if begin stokes 90; then
  flow="--cells 32,64 --rhs random --tolerance 1e-6 --precision mixed --seconds 0.2"
  as="tessera bench stokes --device cuda --degree K $flow"
  for degree in 2 3 4 1; do
    # shellcheck disable=SC2086
    rows stokes tessera bench stokes --device cuda --degree $degree $flow --csv
  done
  as=""
  tables stokes
fi

# The most telling first. Kernels are compiled before, side by side, by the device that only compiles.
if begin bp 300; then
  target=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d .)
  for what in "--form global" "--form element --mass" "--form global --geometry vertices" \
    "--form global --bp 3,5 --mass"; do
    for degree in 8 7 6 5 4 3 2 1 15 14 13 12 11 10 9; do echo "$what --degrees $degree"; done
  done | within xargs -P "${CHECK_JOBS:-14}" -I{} sh -c "'$here/run' bench_mapped --device nvrtc:$target {}" \
    >"$out/bp.log" 2>&1
  rows bp_global bench_mapped --form global --degrees 1-8 --csv
  rows bp_global bench_mapped --form global --geometry vertices --degrees 1-8 --csv
  rows bp_global bench_mapped --form global --bp 3,5 --mass --degrees 1-8 --csv
  rows bp_element bench_mapped --form element --mass --degrees 1-15 --csv
  rows bp_cg bench_mapped_cg --degrees 1-8 --csv
  rows bp_csr bench_mapped_csr --degrees 1-6 --dofs 3e6 --csv
  for side in 7 15 33; do rows bp_small bench_mapped --form global --degrees 3 --side $side --csv; done
  for side in 3 6 14; do rows bp_small bench_mapped --form global --degrees 7 --side $side --csv; done
  rows bp_plane tessera bench bp --dim 2 --bp 1,3,5 --degree 1..8 --dofs 4e6 --precision double --device cuda --csv
  rows bp_global bench_mapped --form global --degrees 9-15 --csv
  rows bp_float bench_mapped --form global --precision float --degrees 1-8 --csv
  rows bp_vector bench_mapped --form global --components 3 --degrees 1-8 --csv
  rows bp_global bench_mapped --form global --geometry affine --degrees 1-8 --csv
  rows bp_global bench_mapped --form global --geometry vertices --degrees 9-15 --csv
  rows bp_global bench_mapped --form global --colours --degrees 1-8 --csv
  for rung in global shared registers constant padded unrolled barriers symmetric split cube cube_unrolled \
    cube_factors \
    cube_registers cube_shared cube_arrays; do
    rows bp_ladder bench_mapped --mass --form element --degrees 1-15 --variant $rung --csv
  done
  tables bp_global bp_element bp_cg bp_csr bp_small bp_plane bp_float bp_vector bp_ladder
fi

if begin adaptive 270; then # degree 1: fewer unknowns, whose cells are many
  as="tessera bench adaptive --device cuda --dim D --degree K --dofs ${ADAPTIVE_DOFS:-1e7} (degree 1: 2e6)"
  as="$as --seconds 0.2"
  for dim in 3 2; do
    for degree in 3 4 2 5 7 6 8; do
      rows adaptive tessera bench adaptive --device cuda --dim $dim --degree $degree --dofs "${ADAPTIVE_DOFS:-1e7}" \
        --seconds 0.2 --csv
    done
    rows adaptive tessera bench adaptive --device cuda --dim $dim --degree 1 --dofs 2e6 --seconds 0.2 --csv
  done
  as="bench_forest_solve --device cuda --domain box --aspect 10 --dim D --degree K --base B --depth 0 --patches on|off"
  for problem in "3 4 5" "2 4 9" "3 2 6" "3 7 4" "2 2 10" "2 7 8"; do
    for patches in off on; do
      # shellcheck disable=SC2086
      set -- $problem
      rows patches bench_forest_solve --device cuda --domain box --aspect 10 --dim "$1" --degree "$2" --base "$3" \
        --depth 0 --most 3e7 --patches $patches --csv
    done
  done
  as="bench_cell_patch --device cuda --dim D --degree K --dofs 1e7 (degree 1: 2e6) --precision P --sums S"
  for problem in "3 2" "3 4" "3 7" "2 4" "3 1" "2 2" "2 7"; do
    for precision in single double; do
      for sums in ordered atomics; do
        # shellcheck disable=SC2086
        set -- $problem
        rows cell_patch bench_cell_patch --device cuda --dim "$1" --degree "$2" --dofs \
          "$([ "$2" = 1 ] && echo 2e6 || echo 1e7)" --precision $precision --sums $sums --csv
      done
    done
  done
  as=""
  tables adaptive patches cell_patch
fi

# process CASE: seconds of a whole process, and what it tells of itself, as a row
process() {
  start=$(date +%s%N)
  within "$here/run" tessera solve "$cases/$1.yaml" --device cuda --verbose --json "$out/start.json" \
    >"$out/start.log" 2>&1 || fail "solve $1"
  end=$(date +%s%N)
  number() { grep -oE "\"$1\":[[:space:]]*[0-9][0-9.e+-]*" "$out/start.json" | head -1 | grep -oE "[0-9.e+-]+$"; }
  printf '%s,%s,%s,%s,%s,%s,%s\n' "$1" "$2" "$(awk "BEGIN { printf \"%.3f\", ($end - $start) / 1e9 }")" \
    "$(grep -c '^compiled' "$out/start.log")" \
    "$(number setup)" "$(number solve)" "$(number errors)"
}

if begin start 90; then
  cases=$here/cases
  {
    echo "$head | tessera solve cases/CASE.yaml --device cuda --verbose, the process from start to end;" \
      "bare: bench_start, that with --keep"
    echo "case,cache,process_s,programs_compiled,setup_s,solve_s,errors_s"
    for _ in 1 2 3 4 5; do
      for how in "" --keep; do
        start=$(date +%s%N)
        within "$here/run" bench_start $how >"$out/bare.log"
        echo "bare$how,,$(awk "BEGIN { printf \"%.3f\", ($(date +%s%N) - $start) / 1e9 }"),,,,"
      done
    done
    for case in poisson-cube variable-coefficient mixed-boundary poisson-square; do
      (
        TESSERA_CACHE_DIR=$(mktemp -d)
        export TESSERA_CACHE_DIR
        process $case empty
        for _ in 1 2 3 4; do process $case filled; done
        rm -r "$TESSERA_CACHE_DIR"
      )
    done
  } | tee "$out/first_use.csv"
  grep -h 'driver opened' "$out/start.log"
  cat "$out/bare.log"
  rm -f "$out/start.json"
fi

if begin ladder 60; then
  as="tessera bench smoother --device cuda --variant all --degree K --dofs ${LADDER_DOFS:-3e7}"
  for degree in 4 7 3 2 5 8 6 1; do
    rows ladder tessera bench smoother --device cuda --variant all --degree $degree --dofs "${LADDER_DOFS:-3e7}" \
      --seconds 0.03 --csv
  done
  as=""
  tables ladder
fi

if command -v ncu >/dev/null && begin profile 300; then
  metrics=gpu__time_duration.sum,dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,sm__inst_issued.avg.pct_of_peak_sustained_active
  metrics=$metrics,sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active
  metrics=$metrics,sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active
  metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,sm__warps_active.avg.pct_of_peak_sustained_active
  metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum
  for k in 1 2 3 4 5 6 7 8; do
    for precision in double float; do
      LD_LIBRARY_PATH=$here/lib within ncu --clock-control none --csv --page raw -k 'regex:tesk_(laplace|patch)' -s 2 \
        -c 1 --metrics "$metrics" \
        "$here/bin/bench_kernels" --no-check --what smoother --degrees $k --precision $precision --dofs 6e7 \
          >"$out/profile-$k-$precision.csv" 2>&1
    done
  done
fi
exit "$(wc -l <"$failures")"
