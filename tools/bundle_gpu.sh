#!/bin/sh
# gpu FOLDER [part]...: all checks and benches of a GPU, in a bundle (tools/bundle.sh). Tables and logs appear in FOLDER; each table begins with the
# GPU, the commit and the date. Parts: check sanitize kernels solve ladder profile (default: all but profile). The exit status counts failures.
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
parts=${*:-check sanitize kernels solve ladder}
mkdir -p "$out"
failures=$(mktemp) # a line each: loops behind pipes are processes of their own
fail() { echo "FAILED $*" | tee -a "$failures"; }
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -1 | tr ',' ' ')
head="# $gpu | tessera $(cat "$here/commit" 2>/dev/null) | $(date -u +%Y-%m-%d)"
tests="t4_operator_kernels t5_smoother_kernels t5_transfer_kernels t5_patch_ladder"

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
fi

if wants sanitize; then
  if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck initcheck synccheck; do # side by side: none of them is timed
      for test in $tests; do
        log=$out/$tool-$test.log
        TESSERA_TEST_DEVICE=cuda TESSERA_TUNE=off LD_LIBRARY_PATH=$here/lib timeout "${SANITIZE_SECONDS:-300}" \
          compute-sanitizer --tool $tool --error-exitcode 9 "$here/bin/$test" > "$log" 2>&1
        status=$?
        case $status in
          0) echo "clean $tool $test" ;;
          124) echo "$tool $test: out of time, $(grep -c '========= \(Invalid\|Error\|Race\|Unini\|Barrier\)' "$log") errors until then" ;;
          *) fail "$tool $test"; grep -m3 -A4 '=========' "$log" ;;
        esac
      done &
    done | tee "$out/sanitize.txt"
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
  echo "degree,cells,precision,method,dofs,setup_s,solve_s,iterations,residual,nodal_error" > "$out/solve.rows"
  for problem in "4 8" "2 32" "1 512" "3 256" "7 128" "7 208"; do
    for precision in mixed double; do
      [ "$problem $precision" = "7 208 double" ] && continue
      # shellcheck disable=SC2086
      set -- $problem
      "$here/run" bench_solve --degree "$1" --cells "$2" --precision $precision --repeat "$([ "$2" -lt 64 ] && echo 9 || echo 3)" \
        --csv "$out/solve.rows" || fail "solve $*"
    done
  done 2>&1 | tee "$out/solve.log"
  { echo "$head | bench_solve --degree K --cells N --precision P"; cat "$out/solve.rows"; } > "$out/solve.csv"
  rm "$out/solve.rows"
fi

if wants ladder; then
  table ladder tessera bench smoother --device cuda --variant all --degree 1..8 --dofs "${LADDER_DOFS:-3e7}" --seconds 0.03 --csv
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
