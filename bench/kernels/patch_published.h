/* Results that patch-smoothers-cui-2024 prints for its kernels and solves: one A100 of 80 GB, 3D. Its figures have no
 * numbers. */
#ifndef BENCH_PATCH_PUBLISHED_H
#define BENCH_PATCH_PUBLISHED_H

/* Tables 5 and 6, float64: milliseconds of one of the eight colours. That it is one colour follows from the printed
 * rates: 19 % of 9.7 TFLOP/s in 28.23 ms are the operations for an eighth of the patches. Unknowns: for Q3 from Table
 * 7; for Q2 and Q6 from "135-721 million" and cells in powers of two. NaN: not printed. `variant`: our variant that
 * does the same. part 0: all, 1: the residual, 2: the local solves. */
typedef struct PatchKernelTimes {
  int table, degree;
  const char *kernel, *variant;
  int part;
  double dofs, colour_ms, data_ms, peak_percent, blocks, conflicts;
} PatchKernelTimes;
static const PatchKernelTimes patch_kernel_times[] = {
    {5, 3, "basic", "fused", 0, 454.8e6, 28.23, NAN, 19, NAN, 113},
    {5, 3, "linear indexing", "linear_layers", 0, 454.8e6, 25.35, NAN, 21, NAN, 163},
    {5, 3, "conflict free", "layers", 0, 454.8e6, 21.50, NAN, 24, NAN, 0},
    {6, 2, "fused", "conflict_free", 0, 135.0e6, 6.85, 1.89, NAN, 3, NAN},
    {6, 2, "separate (residual)", "separate", 1, 135.0e6, 5.58, 2.02, NAN, 3, NAN},
    {6, 2, "separate (solver)", "separate", 2, 135.0e6, 1.66, 1.07, NAN, 8, NAN},
    {6, 6, "fused", "conflict_free", 0, 454.8e6, 43.20, 7.56, NAN, 3, NAN},
    {6, 6, "separate (residual)", "separate", 1, 454.8e6, 30.20, 8.28, NAN, 3, NAN},
    {6, 6, "separate (solver)", "separate", 2, 454.8e6, 14.24, 6.78, NAN, 4, NAN}};
enum { PATCH_KERNEL_TIMES = sizeof patch_kernel_times / sizeof *patch_kernel_times };
/* TFLOP/s, float64 without tensor cores: the peak of which Table 5 prints shares. */
static const double patch_peak_gflops = 9700;

/* Table 7: GMRES to 1e-9, preconditioned by V-cycles, u = product of sin(pi x). */
typedef struct PatchSolveTimes {
  int degree, iterations;
  double dofs, error_l2, double_s, mixed_s;
} PatchSolveTimes;
static const PatchSolveTimes patch_solve_times[] = {{1, 5, 135e6, 1.12e-06, 3.391, 2.385},
                                                    {3, 3, 454e6, 2.30e-13, 3.941, 2.418},
                                                    {7, 2, 721e6, 2.89e-16, 5.891, 3.326}};
enum { PATCH_SOLVE_TIMES = sizeof patch_solve_times / sizeof *patch_solve_times };

#endif
