/* The solver as seen by the files of methods: one state, one file per method.
 *
 * Norms and inner products are Euclidean over all entries and do not distinguish parts. So all rows and unknowns of a
 * system must have comparable units. The caller who makes a system of velocities and pressures scales its pressures
 * (problem/pressure_unit.h). Then the residuals of the parts are comparable, and so are |A| |x| and |b| of the parts
 * (tesi_space_range(), tesi_operator_null_range()). */
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
  TesVector *mg_b, *mg_x;   /* in the cycle's precision; NULL when that is float64 */
  TesiFull *full;           /* the start of full multigrid around a float32 cycle */
  TesVector *const *below;  /* right-hand sides of its levels; NULL: b is restricted */
  TesVector **basis,
      **images; /* gmres: [restart + 1] orthonormal, [restart] preconditioned; on devices the last
                                    * one of the basis is there where mg_b or z is not it (krylov_arguments.h) */
  struct TesiKrylovDevice *device; /* krylov_device.h: cg and gmres on devices with kernels, else NULL */
  TesVector *projected; /* b without its mean, for singular operators, unless the residual loses it (below); b scaled,
                         * where its squares overflow */
  TesVector *ones;        /* of singular operators whose null space is constants, else NULL */
  double *residuals;      /* [max_iterations + 1] */
  bool zero;              /* x is 0 at the beginning of the solve, so that the first residual is b */
  bool keeps_null;        /* tesi_solver_keep_null() */
  bool gives_up, gave_up; /* tesi_solver_give_up_early(), and whether the last solve did */
  bool told;              /* r is the residual of the last solution */
  bool raw;          /* the next cycle is the first, of a residual that may be rough (desc.smooths_rough) */
  bool takes_single; /* gmres on devices: the operator takes the cycle's float32 result as its input */
  size_t spare;
  double b_norm, root; /* |b|, and the root of its number of entries */
  int iterations;
  TesiFloor floor;    /* of the solve under way */
  double allowed;     /* TesSolveResult.floor */
  const char *advice; /* tesi_solver_advise() */
};

/* Whether the iteration is V-cycles in float32 and the operator corrects x, rounds the residual and computes its norm
 * in one pass. Then r is not needed. */
bool tesi_solver_rounds(const TesSolver *solver);
/* fmg: number of cycles on each level below the finest. */
int tesi_solver_cycles_below(const TesSolver *solver);
/* fmg: the kind of the cycles in the start. */
TesiCycleKind tesi_solver_start_kind(const TesSolver *solver);
/* The power of two that scales a vector of this norm to entries of about 1. Rounding is the same with and without
 * it. */
double tesi_solver_factor(const TesSolver *solver, double norm);
/* z <- MG r (z <- r without multigrid), through the cycle's precision; z may be of either precision. norm: about
 * |r|. */
TesStatus tesi_solver_precondition(TesSolver *solver, const TesVector *r, double norm, TesVector *z);
/* x <- MG b: a cycle from zero. The first cycle of a solve smooths before its coarse correction if this is wanted and b
 * is rough. */
TesStatus tesi_solver_cycle(TesSolver *solver, const TesVector *b, TesVector *x);
/* Whether this first cycle is next; afterwards it is not. */
TesStatus tesi_solver_smooths_before(TesSolver *solver, const TesVector *b, bool *before);
/* Recomputes r <- b - A x, and its norm relative to |b|. */
TesStatus tesi_solver_residual(TesSolver *solver, const TesVector *b, const TesVector *x, double *relative);
/* The start of a Krylov method: x <- x or the result of full multigrid for b; r <- b - A x, and its relative norm. */
TesStatus tesi_solver_begin(TesSolver *solver, const TesVector *b, TesVector *x, double *relative);
/* Records the residual of iteration `iteration`; tells in *stop whether to end, and returns why as a status:
 * TES_OK (converged or not finished), TES_NOT_CONVERGED, TES_DIVERGED, TES_NAN, TES_INTERRUPTED. */
TesStatus tesi_solver_record(TesSolver *solver, int iteration, double relative, bool *stop);
/* How an iteration continues. */
typedef struct TesiProgress {
  TesStatus outcome; /* as tesi_solver_record() returns it */
  bool stop;
  bool again; /* from the residual of x, without earlier directions */
} TesiProgress;
/* After a recorded iteration: whether it is at the floor of float64 (floor.h), which ends it as converged. x is the
 * iterate. claimed: |r| / |b| by a recurrence, INFINITY: none; suspect: `claimed` is below the tolerance, but the
 * residual of x is not. */
TesStatus tesi_solver_settle(TesSolver *solver, const TesVector *b, TesVector *x, double claimed,
                             bool suspect, TesiProgress *progress);
/* Records an iteration of a method whose residual, *relative, comes from a recurrence, and decides how to continue. If
 * it is below the tolerance, or if the iteration must go on without earlier directions, r and *relative are recomputed
 * from x. */
TesStatus tesi_solver_follow(TesSolver *solver, const TesVector *b, TesVector *x, int iteration,
                             double *relative, TesiProgress *progress);
/* Replaces the last recorded residual by the recomputed one. */
void tesi_solver_correct(TesSolver *solver, double relative);

/* tes_solver_solve() from x = 0, whatever the content of x. */
TesStatus tesi_solver_solve_from_zero(TesSolver *solver, const TesVector *b, TesVector *x,
                                      TesSolveResult *result);
/* The residual of the last solution in float64 if the method computed it, else NULL. The caller may change it. Valid
 * until the next solve. */
TesVector *tesi_solver_last_residual(const TesSolver *solver);
/* Two vectors in the precision of the multigrid's cycle that are free between solves; else NULL. */
void tesi_solver_lend(const TesSolver *solver, TesVector *work[2]);
/* fmg: sets the right-hand sides of the levels below the finest for all later solves, whose b must belong to them. They
 * are float64 and owned by the caller. The solves then read x and add the prolongated solution to it. */
void tesi_solver_set_below(TesSolver *solver, TesVector *const *below);
/* Of the solves to come. */
void tesi_solver_set_tolerance(TesSolver *solver, double tolerance);
/* Advice for solves that do not converge, beside more iterations and another method; owned by the caller. */
void tesi_solver_advise(TesSolver *solver, const char *advice);
/* From now on a solve ends with TES_NOT_CONVERGED as soon as it seems to take 1.5 times the iterations that it may:
 * for callers that know another way. */
void tesi_solver_give_up_early(TesSolver *solver);
/* In later solves x may have any multiple of the operator's null vector; the caller removes it. */
void tesi_solver_keep_null(TesSolver *solver);
/* The operator's coefficients have moved to other addresses: recordings are made again. */
void tesi_solver_forget(TesSolver *solver);
/* The outcome of an iteration that relies on a recurrence. If it did not converge, the last residual is recomputed. */
TesStatus tesi_solver_tell(TesSolver *solver, const TesVector *b, const TesVector *x, TesStatus outcome);

/* A restart cycle of GMRES, on host or device: begin: basis[0] from solver->r of relative size `relative`; step: one
 * column, and then the relative residual; correct: x is corrected by the columns. */
typedef struct TesiArnoldi {
  TesStatus (*begin)(TesSolver *solver, void *data, double relative);
  TesStatus (*step)(TesSolver *solver, void *data, int column, double *relative);
  TesStatus (*correct)(TesSolver *solver, void *data, int columns, TesVector *x);
  void *data;
} TesiArnoldi;
/* GMRES(solver->desc.restart) from x. */
TesStatus tesi_solver_restarted(TesSolver *solver, const TesiArnoldi *arnoldi, const TesVector *b,
                                TesVector *x);

/* Bytes on a device for more columns of GMRES than necessary, if the solver chooses their number. */
size_t tesi_solver_spare(const TesSolver *solver);

TesStatus tesi_solver_stationary(TesSolver *solver, const TesVector *b, TesVector *x);
TesStatus tesi_solver_cg(TesSolver *solver, const TesVector *b, TesVector *x);
TesStatus tesi_solver_gmres(TesSolver *solver, const TesVector *b, TesVector *x);

#endif
