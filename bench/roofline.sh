#!/bin/sh
# bench/roofline.sh FOLDER: the tables of one H200 in FOLDER (operator, smoother, ladder .csv) as plots there:
# roofline_dram.svg (all kernels against main memory), roofline_shared.svg (variants of the patch kernel against
# shared memory). Needs gnuplot. Ceilings: bench/results/README.md. Operations and bytes are those of the
# algorithms (TesCost), not of counters.
set -eu
folder=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# intensity and rate of the operator: 2 (7 (k + 1) / 2 + 8) operations, a vector read and one written
awk -F, -v w="$work" '/^apply/ {
  flops = 2 * (7 * ($2 + 1) / 2 + 8); size = $3 == "float64" ? 8 : 4
  print flops / (2 * size), flops * $9 > (w "/operator_" $3)
}' "$folder/operator.csv"
# a sweep in rows, degree 2 and higher: four launches, each 4 even-odd contractions and the line solves (patch_device.c)
awk -F, -v w="$work" '/^smooth/ && $2 > 1 {
  k = $2; m = 2 * k - 1; share = m * m / (4 * k * k); size = $3 == "float64" ? 8 : 4
  flops = 4 * 2 * share * (4 * (2 * k + 2) + 2 * k); bytes = 4 * (2 * share + 2 / k + share / (2 * k)) * size
  print flops / bytes, flops * $9 > (w "/sweep_" $3)
}' "$folder/smoother.csv"
awk -F, -v w="$work" '!/^#/ && ($3 == "conflict_free" || $3 == "even_odd_boundary" || $3 == "tensor") {
  print $10 / $11, $10 > (w "/" $3 "_" $2)
}' "$folder/ladder.csv"
# shared memory: operands fetched for each multiply-add (two; a line of n for n results, twice; a tile of 8 x 8 for
# 16 x 8 results)
awk -F, -v w="$work" '!/^#/ && $10 > 0 {
  k = $1; m = 2 * k - 1; n = 2 * k + 1; size = $2 == "double" ? 8 : 4; v = $3
  if (v == "conflict_free") bytes = size
  else if (v == "lines") bytes = (n + m) * size / (2 * n * m) * 1.0
  else if (v == "even_odd") bytes = (n + m) * size / (n * m)
  else if (v == "tensor") bytes = (8 + 16) * size / (2 * 8 * 16)
  else next
  print 1 / bytes, $10 > (w "/shared_" v "_" $2)
}' "$folder/ladder.csv"

gnuplot <<G
set terminal svg size 900,560 font "sans,12" background "white"
set logscale xy
set key outside right
set ylabel "GFLOP/s"
set grid
min(a, b) = a < b ? a : b
set xrange [0.5:100]
set yrange [300:100000]
set xlabel "operations a byte of main memory (least traffic)"
set title "One H200: main memory 4.29 TB/s, 33.4 and 63.9 TFLOP/s"
set output "$folder/roofline_dram.svg"
plot min(4292 * x, 33400) title "roof, float64" lc "black", min(4292 * x, 63900) title "roof, float32" lc "gray", \
  "$work/operator_float64" title "operator, float64" pt 7 lc 1, "$work/operator_float32" title "operator, float32" pt \
    6 lc 1, \
  "$work/sweep_float64" title "sweep in rows, float64" pt 5 lc 2, "$work/sweep_float32" title \
    "sweep in rows, float32" pt 4 lc 2, \
  "$work/conflict_free_double" title "conflict\\\\_free, float64" pt 9 lc 3, "$work/conflict_free_single" title \
    "conflict\\\\_free, float32" pt 8 lc 3, \
  "$work/even_odd_boundary_double" title "even\\\\_odd\\\\_boundary, float64" pt 11 lc 4, \
  "$work/even_odd_boundary_single" title "even\\\\_odd\\\\_boundary, float32" pt 10 lc 4, "$work/tensor_double" title \
    "tensor, float64" pt 13 lc 5
set xrange [0.05:20]
set xlabel "operations a byte of shared memory (operands of the contractions)"
set title "One H200: shared memory 33.2 TB/s; float64 tensor cores 66.7 TFLOP/s"
set output "$folder/roofline_shared.svg"
plot min(33200 * x, 33400) title "roof, float64" lc "black", min(33200 * x, 63900) title "roof, float32" lc "gray", \
  "$work/shared_conflict_free_double" title "conflict\\\\_free, float64" pt 9 lc 3, \
    "$work/shared_conflict_free_single" title "conflict\\\\_free, float32" pt 8 lc 3, \
  "$work/shared_lines_double" title "lines, float64" pt 7 lc 1, "$work/shared_lines_single" title "lines, float32" pt \
    6 lc 1, \
  "$work/shared_even_odd_double" title "even\\\\_odd, float64" pt 11 lc 4, "$work/shared_even_odd_single" title \
    "even\\\\_odd, float32" pt 10 lc 4, \
  "$work/shared_tensor_double" title "tensor, float64" pt 13 lc 5
G
