/* Functions that the benchmarks share: options, meshes of about a size, timing. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "base/base.h"
#include "table.h"

enum { BENCH_LIST = 64 };

/* The axis of --draw: time over the size, or over the degree. */
typedef enum BenchDrawn {
  BENCH_DRAW_TIME,
  BENCH_DRAW_ERRORS,
  BENCH_DRAW_OPERATOR,
  BENCH_DRAW_ITERATIONS,
  BENCH_DRAW_MEMORY,
  BENCH_DRAW_REGISTERS,
  BENCH_DRAW_ROOFLINE
} BenchDrawn;

typedef struct BenchOptions {
  const char *name;
  CliCommon common;
  int dim[2], dims;
  int degree[BENCH_LIST], degrees;
  double dofs[BENCH_LIST];
  int sizes;
  bool single_precision, double_precision, mixed; /* which to measure */
  bool variable;                                  /* coefficient a(x) instead of 1 */
  bool modal;                                     /* solver: element dg */
  TesSmootherKind smoother;
  const char *variant; /* name of a kernel for smoother and bp; NULL: the kernel of programs */
  TesMethod method;
  double tolerance,
      seconds; /* seconds for each measurement; 0: nothing is measured, only the tables of `with` are drawn */
  /* bp */
  int bp[6], bps;
  bool element, curved; /* element vectors; cells by a smooth map instead of moved vertices */
  TesFactors geometry;
  TesNumberingOrder numbering;
  int points;                     /* Gauss points per direction, more than the degree; 0: 2 */
  double cell_counts[BENCH_LIST]; /* bp: number of cells, instead of dofs; stokes: cells per direction */
  double lambda; /* factor of the mass added to stiffness; 0: 1 in the element form, no mass in the global form */
  int cells, cg;       /* number of counts; iterations of conjugate gradients, 0: none */
  double cg_tolerance; /* tolerance at which they end; 0: they never end early */
  bool alone;          /* adaptive: without assembled operators */
  /* stokes */
  bool random; /* right-hand side */
  BenchDrawn drawn;
  TesPenalty penalty;
  int pre, post;                 /* and solver: smoothing steps; 0: chosen, -1: none */
  double alpha, aspect;          /* mass term; length of the box in x */
  int level[BENCH_LIST], levels; /* stokes-tables: 2^(level - 1) cells per direction; applications: 2^level */
  int paper_table;  /* applications, patch-tables, adaptive: number of the paper's table; 0: counts, none */
  int figure;       /* patch-figures: number of the paper's figure; else 0 */
  const char *mesh; /* adaptive, and of tables 2 and 3; NULL: all */
  const char *csv, *plot, *with; /* with: tables whose lines are drawn too, separated by commas */
  char comment[512], machine[256];
} BenchOptions;

/* The result of a benchmark: its table, which the benchmark begins and fills, and how to draw it. Benchmarks return
 * TES_OK with a complete result. */
typedef struct BenchResult {
  CliTable table;
  CliPlot plot;
} BenchResult;

/* Draws a table, with the rows of the files that options->with names, to options->plot. */
TesStatus bench_plot_with(TesContext *ctx, const BenchOptions *options, const CliTable *ours,
                          const CliPlot *plot);

TesStatus bench_operator(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_smoother(TesContext *ctx, const BenchOptions *options, BenchResult *result);
/* The same for variants of the patch kernel on a GPU: options->variant is a name, "all" or "list". */
TesStatus bench_variants(TesContext *ctx, const BenchOptions *options, BenchResult *result);
/* By part and by level of the V-cycle. */
TesStatus bench_cycle(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_solver(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_bp(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_adaptive(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_kershaw(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_scaling(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_stokes(TesContext *ctx, const BenchOptions *options, BenchResult *result);
/* The same with options->variant: sweeps of patches in several ways, for comparison. */
TesStatus bench_stokes_variants(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_applications(TesContext *ctx, const BenchOptions *options, BenchResult *result);
/* The same with options->paper_table 2 and 3; then 4. */
TesStatus bench_elastic_cube(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_explicit_flow(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_stokes_tables(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_patch_tables(TesContext *ctx, const BenchOptions *options, BenchResult *result);
/* The same with options->paper_table 5 and 6; then the figures by options->figure. */
TesStatus bench_patch_kernels(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_patch_figures(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_patch_shares(TesContext *ctx, const BenchOptions *options,
                             BenchResult *result); /* 10 to 12, 16 */
TesStatus bench_patch_roofline(TesContext *ctx, const BenchOptions *options, BenchResult *result); /* 19, 20 */

/* The steps of bench_cycle(): the V-cycle of a space, and milliseconds of its parts on each level, the coarsest
 * first. Each part is timed separately: two sweeps, a residual, both transfers; on level 0 the coarse solver. */
enum { BENCH_SMOOTH, BENCH_RESIDUAL, BENCH_TRANSFER, BENCH_COARSE, BENCH_PARTS, BENCH_LEVELS = 40 };
TesStatus bench_cycle_multigrid(TesContext *ctx, const BenchOptions *options, int dim, int degree,
                                double dofs, TesPrecision precision, TesMultigrid **mg);
TesStatus bench_cycle_times(TesContext *ctx, const BenchOptions *options, const TesMultigrid *mg,
                            double ms[BENCH_LEVELS][BENCH_PARTS]);
double bench_sum(const double *values, int count);
/* Columns of a table of variants. `dim` and `degree` give the space; `rate` is in 1e9 unknowns per second. */
enum {
  BENCH_VARIANT_DEGREE,
  BENCH_VARIANT_PRECISION,
  BENCH_VARIANT_NAME,
  BENCH_VARIANT_CELLS,
  BENCH_VARIANT_DOFS,
  BENCH_VARIANT_MS,
  BENCH_VARIANT_FASTEST,
  BENCH_VARIANT_SPREAD,
  BENCH_VARIANT_PS,
  BENCH_VARIANT_GFLOPS,
  BENCH_VARIANT_GBYTES,
  BENCH_VARIANT_DIFFERENCE,
  BENCH_VARIANT_DIM,
  BENCH_VARIANT_PATCHES,
  BENCH_VARIANT_BLOCKS,
  BENCH_VARIANT_RATE,
  BENCH_VARIANT_SERIES,
  BENCH_VARIANT_COLUMNS
};
/* Adds rows for variants of the patch kernel to a table of bench_variants_begin(), for one space. names: separated by
 * blanks; NULL: all. */
void bench_variants_begin(const BenchOptions *options, BenchResult *result);
TesStatus bench_variants_measure(TesContext *ctx, const BenchOptions *options, const char *names, int dim,
                                 int degree, double dofs, TesPrecision precision, CliTable *table);
/* The steps of bench_solver(); and rows in its table for Table 7 of patch-smoothers-cui-2024. */
void bench_solver_begin(const BenchOptions *options, BenchResult *result);
TesStatus bench_solver_rows(TesContext *ctx, const BenchOptions *options, CliTable *table);
/* One solve in mixed precision by options->method. */
TesStatus bench_solver_once(TesContext *ctx, const BenchOptions *options, int dim, int degree, double dofs,
                            double *unknowns, double *seconds, int *iterations);
TesStatus bench_solver_published(int degree, CliTable *table);

/* A unit square or cube whose number of cells gives about `dofs` unknowns. coarsens: only 2^l, 3*2^l and 5*2^l cells
 * per direction, which multigrid can coarsen. */
TesStatus bench_space(TesContext *ctx, int dim, int degree, double dofs, bool coarsens, TesSpace **space);
/* The variable coefficient of the benchmarks: 1 / (0.05 + 2 |x|^2), as in adaptive-matrix-free-ljungkvist-2017. */
TesStatus bench_coefficient(TesContext *ctx, bool variable, TesFunction **a);
/* Random values in [-1, 1), the same in every run, zero at Dirichlet nodes. */
TesStatus bench_random(const TesSpace *space, TesVector *vector);

/* The object of a measurement: an operator or a smoother of a space with about this many unknowns, with a random b,
 * and y. On failure there is nothing to release. */
typedef struct BenchSubject {
  TesSpace *space;
  TesFunction *a;
  TesOperator *op;
  TesSmoother *smoother; /* NULL: the operator is measured */
  TesVector *b, *x, *y;  /* x NULL */
} BenchSubject;
TesStatus bench_subject(TesContext *ctx, TesSpace *space, bool variable, TesPrecision precision,
                        BenchSubject *subject); /* takes ownership of the space; there is no smoother */
void bench_subject_release(BenchSubject *subject);

/* A text that stays valid; the same pointer for the same words. */
const char *bench_text(const char *format, ...) TESI_PRINTF(1, 2);
/* Whether `names`, separated by blanks, contains this name. */
bool bench_has_name(const char *names, const char *name);
/* Options and their values, in parts; NULL ends the list. */
extern const char *const bench_help[];
/* Bytes that a context uses on its device: on the host, or on its GPU. */
double bench_memory(TesContext *ctx);

/* Assembled forms of problems (assembled.c). Milliseconds of a product with an operator of the problem's space,
 * measured for about this many seconds with random numbers that are zero at given nodes. */
TesStatus bench_product(const TesProblem *problem, const TesOperator *op, double seconds, double *ms);
/* tesi_problem_assemble(), and its time. */
TesStatus bench_assemble(TesProblem *problem, double *seconds);
/* "text, cuSPARSE", or the name of the other multiplication; MiB of the finest matrix in float64. */
const char *bench_assembled_name(const TesProblem *problem, const char *text);
double bench_assembled_mib(const TesProblem *problem);
/* Whether a row of matrices failed only for lack of memory: then the user is told, and the table goes on. */
bool bench_leaves_out(TesContext *ctx, TesStatus status);

/* Waits for queued work of a GPU. */
TesStatus bench_wait(const TesOperator *op);

/* Seconds of one call: the median of many calls, after a warm-up, within `seconds` (at least 5 calls). */
typedef TesStatus (*BenchCall)(void *data);
typedef struct BenchTime {
  double median, fastest, slowest;
  int calls;
} BenchTime;
TesStatus bench_time(BenchCall call, void *data, double seconds, BenchTime *time);
/* Joules of one call, by the GPU that computes or else by the processors, over at least a second of calls; NaN: there
 * is no counter. Counters are updated about ten times per second, so calls are counted between two updates. */
TesStatus bench_joules(TesContext *ctx, BenchCall call, void *data, double *joules);
/* From now on times are processor times of the calling thread: for one thread on a shared machine. */
void bench_use_processor_clock(void);

/* Bytes per second that a copy of 256 MiB reads and writes on this device: the roofline of some papers. Measured
 * once. */
TesStatus bench_copy_rate(TesContext *ctx, double *bytes_per_second);

/* Millions of unknowns like those of a problem with `unknowns` unknowns that fit into the 139 GiB of an H200, by
 * tes_problem_memory(). */
TesStatus bench_room(TesContext *ctx, const TesProblemDesc *desc, double unknowns, double *most);

/* The smallest possible seconds for this cost on this machine, from its peak and memory bandwidth, which are measured
 * once per run; and the limit that determines them: "flops" or "memory". */
double bench_floor(TesContext *ctx, TesPrecision precision, TesCost cost, const char **bound);

#endif
