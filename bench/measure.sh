#!/bin/sh
# Measures this machine's CPU with tessera bench and writes one CSV a table, and SVG plots, into a folder:
#   bench/measure.sh [FOLDER] [PROGRAM]      (build/measured build/tessera)
# bench/results.py merge puts the tables into bench/results.
# About five minutes. Nothing else should run meanwhile; compare ratios inside one run, not single times of
# different runs.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build/measured} program=${2:-build/tessera}
mkdir -p "$folder"
measure() { # NAME ARGUMENT...: rows into NAME.csv
  name=$1
  shift
  echo "== tessera bench $*"
  "$program" bench "$@" --csv "$folder/$name.csv"
}
"$program" info | tee "$folder/machine.txt"
echo "commit $(git rev-parse --short HEAD 2>/dev/null || echo unknown)" >>"$folder/machine.txt"
measure operator_constant operator --dim 2,3 --degree 1..10 --seconds 0.2
measure operator_variable operator --dim 2,3 --degree 1..10 --coefficient variable --seconds 0.2
measure operator_constant_one_core operator --dim 3 --degree 1..8 --threads 1 --seconds 0.2
measure operator_variable_one_core operator --dim 3 --degree 1..8 --threads 1 --coefficient variable --seconds 0.2
measure smoother smoother --dim 2,3 --degree 1..10 --seconds 0.2
measure solver solver --dim 3 --degree 1..8 --seconds 0.5
measure solver_variable solver --dim 3 --degree 1..8 --coefficient variable --dofs 2e6 --precision mixed --seconds 0.5
measure sizes_operator operator --degree 1..10 --precision double --dofs 1e3..2e7 --seconds 0.05 --plot \
  "$folder/sizes_operator.svg"
measure sizes_solver solver --degree 1,2,4,7,10 --precision mixed --dofs 1e3..2e7 --seconds 0.1 --plot \
  "$folder/sizes_solver.svg"
measure patch_tables patch-tables
measure stokes_tables stokes-tables --level 3..8
measure stokes stokes --degree 1..3 --cells 4,8,16 --precision mixed --draw errors --plot "$folder/stokes_errors.svg"
measure stokes_double stokes --degree 1..3 --cells 4,8,16 --precision double
