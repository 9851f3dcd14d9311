/* The measured limits of this machine: the ceilings of rooflines. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

#include "base/base.h"

/* Number of chains of multiply-adds. They hide a latency of 4 to 5 cycles at two per cycle, in 32 or 16 registers
 * with two constants. */
#define BENCH_PEAK_CHAINS(bits) ((bits) >= 512 ? 24 : 12)

/* Fused multiply-adds of independent SIMD registers on all threads of the context: flops per second (an FMA is two).
 * Takes about 0.1 s. */
TesStatus bench_peak_flops(TesContext *ctx, TesPrecision precision, double *flops_per_second);
/* Bytes per second that y <- x + a y moves (two reads, one write) on all threads, over arrays of 256 MiB. Takes about
 * 1 s. */
TesStatus bench_peak_bandwidth(TesContext *ctx, double *bytes_per_second);

#endif
