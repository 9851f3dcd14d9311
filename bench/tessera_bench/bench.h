/* What the benchmarks share: their options, meshes of about a size, timing. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "base/base.h"
#include "table.h"

enum { BENCH_LIST = 64 };

/* What --draw asks for: time over the size, or the degree. */
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
  const char *variant; /* smoother, bp: of the kernel; NULL: that of programs */
  TesMethod method;
  double tolerance,
      seconds; /* time spent on each measurement; 0: none is made, the tables of `with` are drawn */
  /* bp */
  int bp[6], bps;
  bool element, curved; /* element vectors; cells by a smooth map instead of moved vertices */
  TesFactors geometry;
  TesNumberingOrder numbering;
  int points;                     /* Gauss points a direction, more than the degree; 0: 2 */
  double cell_counts[BENCH_LIST]; /* bp: cells in all, instead of dofs; stokes: a direction */
  double lambda; /* factor of the mass added to stiffness; 0: 1 in the element form, none in the global one */
  int cells, cg; /* how many counts; iterations of conjugate gradients, 0: none */
  double cg_tolerance; /* at which they end; 0: never */
  bool alone;          /* adaptive: no assembled operators beside */
  /* stokes */
  bool random; /* right-hand side */
  BenchDrawn drawn;
  TesPenalty penalty;
  int pre, post;                 /* and solver: smoothing steps; 0: chosen, -1: none */
  double alpha, aspect;          /* mass term; length of the box in x */
  int level[BENCH_LIST], levels; /* stokes-tables: of 2^(level - 1) cells a direction; applications: 2^level */
  int paper_table;  /* applications, patch-tables, adaptive: which of the paper's; 0: the counts, none */
  int figure;       /* patch-figures: which of the paper's; else 0 */
  const char *mesh; /* adaptive, and of tables 2 and 3; NULL: all */
  const char *csv, *plot, *with; /* with: tables whose lines are drawn too, with commas between */
  char comment[512], machine[256];
} BenchOptions;

/* Each returns TES_OK with its rows in the table (begun by it), and says how to draw them. */
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
/* By part and by level. */
TesStatus bench_cycle(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_solver(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_bp(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_adaptive(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_kershaw(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_scaling(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_stokes(TesContext *ctx, const BenchOptions *options, BenchResult *result);
/* The same with options->variant: sweeps of patches in ways that are to be compared. */
TesStatus bench_stokes_variants(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_applications(TesContext *ctx, const BenchOptions *options, BenchResult *result);
/* The same with options->paper_table 2 and 3; 4. */
TesStatus bench_elastic_cube(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_explicit_flow(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_stokes_tables(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_patch_tables(TesContext *ctx, const BenchOptions *options, BenchResult *result);
/* The same with options->paper_table 5 and 6; the figures by options->figure. */
TesStatus bench_patch_kernels(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_patch_figures(TesContext *ctx, const BenchOptions *options, BenchResult *result);
TesStatus bench_patch_shares(TesContext *ctx, const BenchOptions *options,
                             BenchResult *result); /* 10 to 12, 16 */
TesStatus bench_patch_roofline(TesContext *ctx, const BenchOptions *options, BenchResult *result); /* 19, 20 */

/* The steps of bench_cycle(): the V-cycle of a space, and milliseconds of its parts on each level, the coarsest first,
 * each timed by itself: two sweeps, a residual, both transfers; on level 0 the coarse solver. */
enum { BENCH_SMOOTH, BENCH_RESIDUAL, BENCH_TRANSFER, BENCH_COARSE, BENCH_PARTS, BENCH_LEVELS = 40 };
TesStatus bench_cycle_multigrid(TesContext *ctx, const BenchOptions *options, int dim, int degree,
                                double dofs, TesPrecision precision, TesMultigrid **mg);
TesStatus bench_cycle_times(TesContext *ctx, const BenchOptions *options, const TesMultigrid *mg,
                            double ms[BENCH_LEVELS][BENCH_PARTS]);
double bench_sum(const double *values, int count);
/* Columns of a table of variants: `dim` and `degree` say the space, `rate` is 1e9 unknowns a second. */
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
/* Rows of variants of the patch kernel in a table of bench_variants_begin(): those of `names` (parted by blanks;
 * NULL: all), for one space. */
void bench_variants_begin(const BenchOptions *options, BenchResult *result);
TesStatus bench_variants_measure(TesContext *ctx, const BenchOptions *options, const char *names, int dim,
                                 int degree, double dofs, TesPrecision precision, CliTable *table);
/* The steps of bench_solver(); and rows of Table 7 of patch-smoothers-cui-2024 in its table. */
void bench_solver_begin(const BenchOptions *options, BenchResult *result);
TesStatus bench_solver_rows(TesContext *ctx, const BenchOptions *options, CliTable *table);
/* One solve in mixed precision by options->method. */
TesStatus bench_solver_once(TesContext *ctx, const BenchOptions *options, int dim, int degree, double dofs,
                            double *unknowns, double *seconds, int *iterations);
TesStatus bench_solver_published(int degree, CliTable *table);

/* A unit square or cube with cells chosen so that about `dofs` unknowns come out. coarsens: only 2^l, 3*2^l and
 * 5*2^l cells a direction, which multigrid can use. */
TesStatus bench_space(TesContext *ctx, int dim, int degree, double dofs, bool coarsens, TesSpace **space);
/* The variable coefficient of the benchmarks: 1 / (0.05 + 2 |x|^2), as in adaptive-matrix-free-ljungkvist-2017. */
TesStatus bench_coefficient(TesContext *ctx, bool variable, TesFunction **a);
/* Reproducible values in [-1, 1), zero at Dirichlet nodes. */
TesStatus bench_random(const TesSpace *space, TesVector *vector);

/* What is measured: an operator or a smoother of a space like that, with b at random and y. On failure there is
 * nothing to release. */
typedef struct BenchSubject {
  TesSpace *space;
  TesFunction *a;
  TesOperator *op;
  TesSmoother *smoother; /* NULL: the operator is measured */
  TesVector *b, *x, *y;  /* x NULL */
} BenchSubject;
TesStatus bench_subject(TesContext *ctx, TesSpace *space, bool variable, TesPrecision precision,
                        BenchSubject *subject); /* takes the space over; no smoother */
void bench_subject_release(BenchSubject *subject);

/* A text that stays; the same for the same words. */
const char *bench_text(const char *format, ...) TESI_PRINTF(1, 2);
/* Whether `names`, parted by blanks, has this one. */
bool bench_has_name(const char *names, const char *name);
/* Options and their values, in parts; ends with NULL. */
extern const char *const bench_help[];
/* Bytes that a context holds where it computes: of the host, or of its GPU. */
double bench_memory(TesContext *ctx);

/* Assembled forms of problems (assembled.c). Milliseconds of a product with an operator of the problem's space, with
 * random numbers that are zero at given nodes, for about so many seconds. */
TesStatus bench_product(const TesProblem *problem, const TesOperator *op, double seconds, double *ms);
/* tesi_problem_assemble(), and what it took. */
TesStatus bench_assemble(TesProblem *problem, double *seconds);
/* "text, cuSPARSE", or what else multiplies; MiB of the finest matrix in float64. */
const char *bench_assembled_name(const TesProblem *problem, const char *text);
double bench_assembled_mib(const TesProblem *problem);
/* Whether a row of matrices failed for want of memory alone: then the user is told, and the table goes on. */
bool bench_leaves_out(TesContext *ctx, TesStatus status);

/* Waits for queued work of a GPU. */
TesStatus bench_wait(const TesOperator *op);

/* Seconds of one call: median of many, after a warm-up, in `seconds` of time (at least 5 calls). */
typedef TesStatus (*BenchCall)(void *data);
typedef struct BenchTime {
  double median, fastest, slowest;
  int calls;
} BenchTime;
TesStatus bench_time(BenchCall call, void *data, double seconds, BenchTime *time);
/* Joules of one call, of the GPU that computes or else of the processors, over a second and more of calls; NaN: there
 * is no counter. Counters are renewed some ten times a second: calls are counted from one renewal to another. */
TesStatus bench_joules(TesContext *ctx, BenchCall call, void *data, double *joules);
/* Measures in processor time of the calling thread from now on: for one thread on a machine that others use too. */
void bench_use_processor_clock(void);

/* Bytes a second that a copy of 256 MiB reads and writes on this device: a roofline of papers. Measured once. */
TesStatus bench_copy_rate(TesContext *ctx, double *bytes_per_second);

/* How many millions of unknowns like these, of a problem of `unknowns`, fit in the 139 GiB of an H200, by
 * tes_problem_memory(). */
TesStatus bench_room(TesContext *ctx, const TesProblemDesc *desc, double unknowns, double *most);

/* Least seconds for this cost on this machine, from its measured peak and memory bandwidth (measured once a run), and
 * which of both it is: "flops" or "memory". */
double bench_floor(TesContext *ctx, TesPrecision precision, TesCost cost, const char **bound);

#endif
