#!/bin/sh
# gpu FOLDER [part]...: all checks and benches of a GPU, in a bundle (tools/bundle.sh). Tables and logs appear in FOLDER; each table begins with the
# GPU, the commit and the date. Parts: check sanitize kernels solve start ladder profile (default: all but profile). The exit status counts failures.
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
parts=${*:-check sanitize kernels solve start ladder}
mkdir -p "$out"
failures=$(mktemp) # a line each: loops behind pipes are processes of their own
fail() { echo "FAILED $*" | tee -a "$failures"; }
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1 | tr ',' ' ')
head="# $gpu | tessera $(cat "$here/commit" 2>/dev/null) | $(date -u +%Y-%m-%d)"
tests="t4_operator_kernels t4_forest_kernels t4_quadrature_kernels t4_load_device t4_mapped_kernels t4_mapped_device t4_mapped_cuts t5_smoother_kernels t5_patch_kernels
  t5_transfer_kernels t5_patch_ladder t7_device_solve t1_device"
sanitized=${SANITIZED:-t7_device_solve t4_operator_kernels t4_quadrature_kernels t4_load_device t4_mapped_kernels t5_smoother_kernels t5_patch_kernels t5_transfer_kernels t5_patch_ladder}

wants() { case " $parts " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
# table NAME COMMAND...: the command writes the CSV that its last argument names
table() {
  name=$1
  shift
  if "$here/run" "$@" "$out/$name.part" > "$out/$name.log" 2>&1; then
    { echo "$head | $*"; grep -v '^#' "$out/$name.part"; } > "$out/$name.csv"
    rm "$out/$name.part"
  else
    fail "$*"; tail -3 "$out/$name.log"
  fi
}

if wants check; then
  for test in $tests; do
    if TESSERA_TEST_DEVICE=cuda "$here/run" "$test" > "$out/$test.log" 2>&1; then echo "passed $test"; else
      fail "$test"; grep -E 'Failure|degree' "$out/$test.log" | head -5; fi
  done
  export TESSERA_TEST_PROGRAM="$here/run tessera" TESSERA_TEST_CASES="$here/cases"
  if "$here/run" t9_devices > "$out/t9_devices.log" 2>&1; then echo "passed t9_devices"; else
    fail t9_devices; grep -E 'ERROR|Failure' "$out/t9_devices.log" | head -5; fi
fi

# sanitize TOOL TEST DEGREES: one line of the outcome. racecheck follows every access to shared memory: it gets few degrees, so that it ends.
sanitize() {
  log=$out/sanitize-$1-$2-${3%%,*}.log
  TESSERA_TEST_DEVICE=cuda TESSERA_TEST_DEGREES=$3 TESSERA_TUNE=off LD_LIBRARY_PATH=$here/lib timeout "${SANITIZE_SECONDS:-240}" \
    compute-sanitizer --tool "$1" --error-exitcode 9 "$here/bin/$2" > "$log" 2>&1
  status=$?
  case $status in
    0) echo "clean $1 $2, degrees $3" ;;
    124) echo "$1 $2, degrees $3: out of time, $(grep -c '========= \(Invalid\|Error\|Race\|Unini\|Barrier\)' "$log") errors until then" ;;
    *) fail "$1 $2, degrees $3"; grep -m3 -A4 '=========' "$log" ;;
  esac
}

if [ "${1:-}" = one ]; then
  sanitize "$2" "$3" "$4"
  exit
fi

if wants sanitize; then
  if command -v compute-sanitizer > /dev/null; then
    echo "$head | compute-sanitizer" > "$out/sanitize.txt"
    for test in $sanitized; do
      for degree in ${RACE_DEGREES:-1 2 4 7}; do echo "racecheck $test $degree"; done
      for tool in memcheck initcheck synccheck; do echo "$tool $test ${SANITIZE_DEGREES:-1,2,3,5,7,8}"; done
    done | xargs -P "${SANITIZE_JOBS:-14}" -n 3 "$0" "$out" one | tee -a "$out/sanitize.txt" # side by side: none of them is timed
    grep FAILED "$out/sanitize.txt" >> "$failures"
  else
    echo "no compute-sanitizer here"
  fi
fi

if wants kernels; then
  table operator bench_kernels --what operator --csv
  table smoother bench_kernels --what smoother --csv
  table smoother_q1 bench_kernels --what smoother --degrees 1 --dofs 1.34e8 --csv
  table transfer bench_kernels --what transfer --no-check --csv
  table vector bench_kernels --what vector --csv
fi

if wants solve; then
  echo "degree,cells,precision,method,dofs,setup_s,load_s,gib,solve_s,iterations,numbers_to_host,residual,nodal_error" > "$out/solve.rows"
  for problem in "4 8" "2 32" "1 512" "3 256" "7 128" "7 208"; do
    for how in "mixed fmg" "double fmg" "mixed cg" "mixed gmres"; do
      case "$problem $how" in "7 208 double fmg" | "7 208 mixed gmres" | "7 208 mixed cg") continue ;; esac
      # shellcheck disable=SC2086
      set -- $problem $how
      "$here/run" bench_solve --degree "$1" --cells "$2" --precision "$3" --method "$4" --repeat "$([ "$2" -lt 64 ] && echo 15 || echo 3)" \
        --csv "$out/solve.rows" || fail "solve $*"
    done
  done 2>&1 | tee "$out/solve.log"
  { echo "$head | bench_solve --degree K --cells N --precision P --method M"; cat "$out/solve.rows"; } > "$out/solve.csv"
  rm "$out/solve.rows"
fi

# process CASE: seconds of a whole process, and what it tells of itself, as a row
process() {
  begin=$(date +%s%N)
  "$here/run" tessera solve "$cases/$1.yaml" --device cuda --verbose --json "$out/start.json" > "$out/start.log" 2>&1 || fail "solve $1"
  end=$(date +%s%N)
  number() { grep -oE "\"$1\":[[:space:]]*[0-9][0-9.e+-]*" "$out/start.json" | head -1 | grep -oE "[0-9.e+-]+$"; }
  printf '%s,%s,%s,%s,%s,%s,%s\n' "$1" "$2" "$(awk "BEGIN { printf \"%.3f\", ($end - $begin) / 1e9 }")" "$(grep -c '^compiled' "$out/start.log")" \
    "$(number setup)" "$(number solve)" "$(number errors)"
}

if wants start; then
  cases=$here/cases
  {
    echo "$head | tessera solve cases/CASE.yaml --device cuda --verbose, the process from start to end; bare: bench_start, that with --keep"
    echo "case,cache,process_s,programs_compiled,setup_s,solve_s,errors_s"
    for _ in 1 2 3 4 5; do
      for how in "" --keep; do
        begin=$(date +%s%N)
        "$here/run" bench_start $how > "$out/bare.log"
        echo "bare$how,,$(awk "BEGIN { printf \"%.3f\", ($(date +%s%N) - $begin) / 1e9 }"),,,,"
      done
    done
    for case in poisson-cube variable-coefficient mixed-boundary poisson-square; do
      TESSERA_CACHE_DIR=$(mktemp -d)
      export TESSERA_CACHE_DIR
      process $case empty
      for _ in 1 2 3 4; do process $case filled; done
      rm -r "$TESSERA_CACHE_DIR"
      unset TESSERA_CACHE_DIR
    done
  } | tee "$out/first_use.csv"
  grep -h 'driver opened' "$out/start.log"
  cat "$out/bare.log"
  rm -f "$out/start.json"
fi

if wants ladder; then
  table ladder tessera bench smoother --device cuda --variant all --degree 1..8 --dofs "${LADDER_DOFS:-3e7}" --seconds 0.03 --csv
fi

if wants adaptive; then # degree 1: fewer unknowns, whose cells are many
  table adaptive tessera bench adaptive --device cuda --dim 3,2 --degree 2..8 --dofs "${ADAPTIVE_DOFS:-1e7}" --seconds 0.2 --csv
  table adaptive_q1 tessera bench adaptive --device cuda --dim 3,2 --degree 1 --dofs 2e6 --seconds 0.2 --csv
fi

if wants profile && command -v ncu > /dev/null; then
  for k in 1 2 3 4 5 6 7 8; do
    for precision in double float; do
      LD_LIBRARY_PATH=$here/lib ncu --clock-control none --csv --page raw -k 'regex:tesk_(laplace|patch)' -s 2 -c 1 --metrics \
        gpu__time_duration.sum,dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,sm__inst_issued.avg.pct_of_peak_sustained_active,sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active,sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active,l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed,sm__warps_active.avg.pct_of_peak_sustained_active,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum \
        "$here/bin/bench_kernels" --no-check --what smoother --degrees $k --precision $precision --dofs 6e7 > "$out/profile-$k-$precision.csv" 2>&1
    done
  done
fi
exit "$(wc -l < "$failures")"
