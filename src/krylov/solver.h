/* The solver as the method files see it: one state, a file a method.
 *
 * Norms and inner products are the Euclidean ones over all entries, and know no parts: rows and unknowns of a system
 * have one unit each. Who makes a system of velocities and pressures sees to it, with its pressures in a unit of their
 * own (problem/pressure_unit.h): so the residual of a part compares with that of another, and |A| |x| and |b| of a part
 * (tesi_space_range(), tesi_operator_null_range()) with those of another. */
#ifndef TESI_SOLVER_H
#define TESI_SOLVER_H

#include "device/vector.h"
#include "krylov/floor.h"
#include "multigrid/full.h"
#include "operator/operator.h"
#include "tessera/solver.h"

struct TesiKrylovDevice;

struct TesSolver {
  TesContext *context;
  TesSolverDesc desc;       /* defaults filled in */
  TesVector *r, *p, *q, *z; /* float64 work vectors; which ones exist depends on the method */
  TesVector *mg_b, *mg_x;   /* of the cycle's precision; NULL when that is float64 */
  TesiFull *full;           /* the start of full multigrid around a float32 cycle */
  TesVector *const *below;  /* right-hand sides of its levels; NULL: restricted */
  TesVector **basis,
      **images; /* gmres: [restart + 1] orthonormal, [restart] preconditioned; on devices the last
                                    * one of the basis is there where mg_b or z is not it (krylov_arguments.h) */
  struct TesiKrylovDevice *device; /* krylov_device.h: cg and gmres on devices with kernels, else NULL */
  TesVector *projected; /* b without its mean, for singular operators, unless the residual loses it (below); b scaled,
                         * where its squares overflow */
  TesVector *ones;   /* of singular operators whose null space is constants, else NULL */
  double *residuals; /* [max_iterations + 1] */
  bool zero;         /* x is 0 where the solve begins, so that the first residual is b */
  bool keeps_null;   /* tesi_solver_keep_null() */
  bool told;         /* r is the residual of the last solution */
  bool raw;          /* the next cycle is the first, of a residual that may be rough (desc.smooths_rough) */
  bool takes_single; /* gmres on devices: the operator takes what the cycle gives, in float32 */
  size_t spare;
  double b_norm, root; /* |b|, and the root of its number of entries */
  int iterations;
  TesiFloor floor;    /* of the solve under way */
  double allowed;     /* TesSolveResult.floor */
  const char *advice; /* tesi_solver_advise() */
};

/* Whether the iteration is V-cycles in float32 and the operator corrects, rounds and measures in one pass: r is not
 * needed then. */
bool tesi_solver_rounds(const TesSolver *solver);
/* fmg: cycles on each level below the finest. */
int tesi_solver_cycles_below(const TesSolver *solver);
/* fmg: of the cycles of the start. */
TesiCycleKind tesi_solver_start_kind(const TesSolver *solver);
/* The power of two that brings a vector of this norm to entries of about 1: rounding is the same with and without
 * it. */
double tesi_solver_factor(const TesSolver *solver, double norm);
/* z <- MG r (z <- r without multigrid), through the cycle's precision; z may be of either precision. norm: about
 * |r|. */
TesStatus tesi_solver_precondition(TesSolver *solver, const TesVector *r, double norm, TesVector *z);
/* x <- MG b: a cycle from zero, the first of a solve with smoothing before if it should have that and b is rough. */
TesStatus tesi_solver_cycle(TesSolver *solver, const TesVector *b, TesVector *x);
/* Whether that one is next; it is no longer after the call. */
TesStatus tesi_solver_smooths_before(TesSolver *solver, const TesVector *b, bool *before);
/* Recomputes r <- b - A x, and its norm relative to |b|. */
TesStatus tesi_solver_residual(TesSolver *solver, const TesVector *b, const TesVector *x, double *relative);
/* The start of a Krylov method: x, or what full multigrid makes of b; r <- b - A x, and its relative norm. */
TesStatus tesi_solver_begin(TesSolver *solver, const TesVector *b, TesVector *x, double *relative);
/* Records the residual of iteration `iteration`; tells in *stop whether to end, and returns why as a status:
 * TES_OK (converged or not finished), TES_NOT_CONVERGED, TES_DIVERGED, TES_NAN, TES_INTERRUPTED. */
TesStatus tesi_solver_record(TesSolver *solver, int iteration, double relative, bool *stop);
/* How an iteration goes on. */
typedef struct TesiProgress {
  TesStatus outcome; /* as tesi_solver_record() returns it */
  bool stop;
  bool again; /* from the residual of x, without directions of the past */
} TesiProgress;
/* After a recorded iteration: whether it is at the floor of float64 (floor.h), which ends it as converged. x is that
 * of the iteration. claimed: |r| / |b| by a recurrence, INFINITY: there is none; suspect: it is below the tolerance,
 * and the residual of x is not. */
TesStatus tesi_solver_settle(TesSolver *solver, const TesVector *b, TesVector *x, double claimed,
                             bool suspect, TesiProgress *progress);
/* Records an iteration of a method that has its residual by a recurrence, *relative, and settles it. Where that is
 * below the tolerance, or the iteration is to go on without its past, r and *relative are made of x. */
TesStatus tesi_solver_follow(TesSolver *solver, const TesVector *b, TesVector *x, int iteration,
                             double *relative, TesiProgress *progress);
/* Replaces the last recorded residual by the recomputed one. */
void tesi_solver_correct(TesSolver *solver, double relative);

/* tes_solver_solve() from x = 0, whatever x is. */
TesStatus tesi_solver_solve_from_zero(TesSolver *solver, const TesVector *b, TesVector *x,
                                      TesSolveResult *result);
/* The residual of the last solution, in float64, where the method computed it, else NULL; the caller may change it.
 * Until the next solve. */
TesVector *tesi_solver_last_residual(const TesSolver *solver);
/* Two vectors for a cycle of its multigrid, of that precision, which are free between solves; else NULL. */
void tesi_solver_lend(const TesSolver *solver, TesVector *work[2]);
/* fmg: the right-hand sides of the levels below the finest, float64, which the caller keeps; and x is then read: to it
 * the prolongated solution is added. Of all solves to come, whose b is what these belong to. */
void tesi_solver_set_below(TesSolver *solver, TesVector *const *below);
/* Of the solves to come. */
void tesi_solver_set_tolerance(TesSolver *solver, double tolerance);
/* What helps where a solve does not converge, beside more iterations and another method; the caller keeps it. */
void tesi_solver_advise(TesSolver *solver, const char *advice);
/* x of the solves to come has any multiple of the operator's null vector: who asks for it takes it away. */
void tesi_solver_keep_null(TesSolver *solver);
/* The operator has other numbers in other places: what was recorded of it is made again. */
void tesi_solver_forget(TesSolver *solver);
/* The outcome of an iteration that trusts a recurrence: where it did not converge the last residual is recomputed.
 */
TesStatus tesi_solver_tell(TesSolver *solver, const TesVector *b, const TesVector *x, TesStatus outcome);

/* A restart cycle of GMRES, wherever its scalars are: basis[0] from solver->r of relative size `relative`; one column,
 * and the relative residual then; x corrected by the columns. */
typedef struct TesiArnoldi {
  TesStatus (*begin)(TesSolver *solver, void *data, double relative);
  TesStatus (*step)(TesSolver *solver, void *data, int column, double *relative);
  TesStatus (*correct)(TesSolver *solver, void *data, int columns, TesVector *x);
  void *data;
} TesiArnoldi;
/* GMRES(solver->desc.restart) from x. */
TesStatus tesi_solver_restarted(TesSolver *solver, const TesiArnoldi *arnoldi, const TesVector *b,
                                TesVector *x);

/* Bytes on a device that more columns of GMRES than need be take, where their number was left to the solver. */
size_t tesi_solver_spare(const TesSolver *solver);

TesStatus tesi_solver_stationary(TesSolver *solver, const TesVector *b, TesVector *x);
TesStatus tesi_solver_cg(TesSolver *solver, const TesVector *b, TesVector *x);
TesStatus tesi_solver_gmres(TesSolver *solver, const TesVector *b, TesVector *x);

#endif
