/* The variants of the Stokes operator of figures 8 and 9 of stokes-multigrid-cui-2025 (stokes_operators.cu), and of
 * its local solvers of figure 10 (stokes_local.cu), on devices with kernels. For measurements and tests; programs use
 * tes_operator_create and tes_smoother_create. */
#ifndef BENCH_STOKES_OPERATORS_H
#define BENCH_STOKES_OPERATORS_H

#include "kernels/patch_ladder.h"
#include "smoother/smoother.h"

/* ---- operators ------------------------------------------------------------------------------------------ */
typedef enum BenchStokesForm {
  BENCH_STOKES_PADDED,
  BENCH_STOKES_BASIC,
  BENCH_STOKES_SHARED,
  BENCH_STOKES_CONFLICT_FREE,
  BENCH_STOKES_FORMS
} BenchStokesForm;
extern const char *const bench_stokes_forms[BENCH_STOKES_FORMS];
enum { BENCH_STOKES_MOST = 4 /* degree */ };

typedef struct BenchStokesOperator BenchStokesOperator;
/* Whether the variant exists for a stokes operator: equal cells in 3D, not periodic, a device with kernels, degree at
 * most 4. */
bool bench_stokes_operator_serves(const TesOperator *op);
/* Made from the space and the tables of op, in its precision. Errors: TES_MISSING if it does not exist. */
TesStatus bench_stokes_operator_create(TesContext *ctx, const TesOperator *op, BenchStokesForm form,
                                       BenchStokesOperator **variant);
void bench_stokes_operator_destroy(BenchStokesOperator **variant);
/* y <- K x, device vectors. */
TesStatus bench_stokes_operator_apply(const BenchStokesOperator *variant, const void *x, void *y);

/* Work of one application: operations in the kernel's text, with zeros of the padding; numbers read from and added to
 * vectors; accesses to shared memory by single threads. */
typedef struct BenchStokesWork {
  double flops, bytes, shared_bytes;
  int threads, cells; /* of a block */
  size_t shared;      /* bytes of a block */
} BenchStokesWork;
BenchStokesWork bench_stokes_operator_work(const BenchStokesOperator *variant);
/* Accesses of a block whose cells have neighbours, counted in the emulator. */
TesStatus bench_stokes_operator_conflicts(int degree, BenchStokesForm form, TesPrecision precision,
                                          BenchConflicts *conflicts);

/* ---- local solvers -------------------------------------------------------------------------------------- */
typedef enum BenchStokesLocal {
  BENCH_STOKES_DIRECT, /* dense inverses, one per kind of patches */
  BENCH_STOKES_TABLES, /* S^+ from tables, one block per patch: the kernel that programs use if lanes do not serve */
  BENCH_STOKES_SCHUR,      /* conjugate gradients on the Schur complement, one thread per column */
  BENCH_STOKES_SCHUR_FREE, /* the same, without bank conflicts */
  BENCH_STOKES_LOCALS
} BenchStokesLocal;

/* Vertex patches in colours; before each colour the residual of the whole mesh. accuracy and steps: of conjugate
 * gradients; 0: the paper's values, 1e-3 and 15. op: 3D, equal cells, normal velocities given on all faces, degree at
 * most 4. Errors: TES_MISSING if it does not exist, TES_OUT_OF_MEMORY. */
TesStatus bench_stokes_local_create(TesContext *ctx, const TesOperator *op, BenchStokesLocal local,
                                    double accuracy, int steps, TesSmoother **smoother);
/* The local solves of all colours, without residuals: x += local solutions for r. */
TesStatus bench_stokes_local_run(const TesSmoother *smoother, const void *r, void *x);
/* Accesses of one patch in one step of conjugate gradients, counted in the emulator. */
TesStatus bench_stokes_local_conflicts(int degree, BenchStokesLocal local, TesPrecision precision,
                                       BenchConflicts *conflicts);

/* The operator for counting conflicts, over a box of this many cells with walls. */
TesStatus bench_stokes_box_operator(TesContext *ctx, int degree, TesPrecision precision, const int cells[3],
                                    TesOperator **op);

#endif
