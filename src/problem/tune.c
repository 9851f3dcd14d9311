/* Adjusts the cycle to its measured convergence factor. For a polynomial of degree m with many iterations, iterations
 * times m stays the same, so a longer polynomial saves the other costs of an iteration. On easy meshes it costs time.
 *
 * Cycles that smooth only after their coarse correction, with degree 2 m, need 20 to 30 % fewer applications on
 * sheared cells, and as many on needles. They are not symmetric. Conjugate gradients whose direction is conjugate to
 * the last one need no symmetry (Bouwmeester, Dougherty, Knyazev, Nonsymmetric preconditioning for conjugate gradient
 * and steepest descent methods, 2015). Up to 15 iterations they take at most 15 % more than GMRES, and no memory for
 * a basis. From 30 on they take half as many more. Where coarse levels are poor, as for cells in sectors round a
 * node, they take three times as many as with the symmetric cycle. So such cycles are not used if the level below is
 * hard too. */
#include <math.h>
#include <stdio.h>
#include "multigrid/multigrid.h"
#include "problem/choice.h"
#include "problem/problem.h"
#include "smoother/smoother.h"

/* The convergence factor of conjugate gradients on the level below the finest: 0.01 to 0.04 on cubes and balls to
 * degree 4, 0.06 at degree 7; 0.05 to 0.15 on split tetrahedra and needles; on Kershaw's cells 0.13 to 0.36 with eps
 * 0.3, and 0.2 to 0.54 with eps 0.1. That level has fewer and rounder cells: the factor on the finest level is up to
 * three times as large. After the coarse correction the polynomial has hardly more steps than the symmetric cycle has
 * before and after it: with five times the usual degree the trial found the reduction too dear, and the symmetric cycle
 * took more iterations. */
static const struct {
  double least;         /* factor */
  int symmetric, after; /* percent of the usual degree of the polynomial; 0: not tried */
} rows[] = {{0.4, 300, 0}, {0.27, 200, 450}, {0.2, 200, 300}, {0.08, 200, 200}, {0.05, 150, 0}, {0, 100, 0}};

/* Lines of cells leave so little error that one step is enough: 30 % less time, with 5 iterations instead of 4. From
 * degree 5 on both take the same time. So they do at degree 1, where one step takes 7 to 9 iterations instead of 5 or
 * 6. */
static bool wants_one_step(const TesProblem *p, double factor) {
  enum { LEAST = 2, MOST = 4 };
  static const double little = 0.05;
  const int top = tes_multigrid_levels(p->multigrid) - 1;
  return factor < little && p->space->degree >= LEAST && p->space->degree <= MOST &&
         tes_multigrid_level(p->multigrid, top).smoother->kind == TES_SMOOTHER_LINE_PATCH;
}

/* Whether none of the options changed here was asked for, and cycles are those of one symmetric component. */
static bool may_change(const TesProblem *p) {
  const TesSolveOptions *o = &p->options;
  const bool free = o->method == TES_METHOD_AUTO && o->smoother == TES_SMOOTHER_AUTO && !o->own_smoother &&
                    o->smoother_degree == 0 && o->pre == 0 && o->post == 0 && o->order == TES_ORDER_AUTO;
  return free && p->chosen.method == TES_METHOD_CG && p->levels == p->op && !p->in_time &&
         !p->equation->couples && p->mesh->kind != TES_MESH_BOX && !p->start &&
         tesi_multigrid_polynomial(p->multigrid) > 0;
}

/* The applications of the operator in an iteration, in float32 on the finest level: of `steps` steps, conjugate
 * gradients and transfers. A step on cell patches takes one more, and passes over vectors take a third. */
static double work_of(const TesProblem *p, int steps) {
  const int top = tes_multigrid_levels(p->multigrid) - 1;
  const double other = 5.7,
               step = tes_multigrid_level(p->multigrid, top).smoother->kind == TES_SMOOTHER_CHEBYSHEV ? 1.36
                                                                                                      : 2.36;
  return other + steps * step;
}

/* Digits per application. */
static double worth(const TesProblem *p, double factor, int steps) {
  return -log(fmin(fmax(factor, 1e-6), 1)) / work_of(p, steps);
}

enum { STEPS = 2 };

/* Whether the cycle that smooths only after its coarse correction is better; if so, it is made. */
static TesStatus try_after(TesProblem *p, double factor, int percent, bool *better) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int usual = tesi_multigrid_polynomial(p->multigrid), degree = usual * percent / 100;
  double other;
  TES_TRY(tesi_multigrid_change(p->multigrid, degree, false, true));
  TES_TRY(tesi_multigrid_reduction(p->multigrid, STEPS, &other));
  *better = worth(p, other, degree) > worth(p, factor, 2 * usual);
  tesi_log(ctx, TES_LOG_DETAIL, "by %.3f with smoothing by degree %d after the coarse correction alone",
           other, degree);
  if (!*better) return tesi_multigrid_change(p->multigrid, usual, false, false);
  snprintf(p->text.method, sizeof p->text.method, "%s%s", p->chosen.full_start ? "full multigrid, then " : "",
           "conjugate gradients, preconditioned by a V-cycle that smooths after its coarse correction "
           "(chosen: a trial)");
done:
  return status;
}

TesStatus tesi_problem_tune(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double factor;
  int row = 0;
  bool after = false;
  if (!may_change(p)) return TES_OK;
  TES_TRY(tesi_work_on(ctx, "a trial of the cycle"));
  TES_TRY(tesi_multigrid_reduction(p->multigrid, STEPS, &factor));
  while (factor < rows[row].least) row++;
  const int usual = tesi_multigrid_polynomial(p->multigrid),
            degree = wants_one_step(p, factor) ? 1 : usual * rows[row].symmetric / 100;
  tesi_log(ctx, TES_LOG_DETAIL, "a step of conjugate gradients reduces by %.3f on the level below", factor);
  if (rows[row].after && p->chosen.sheared) TES_TRY(try_after(p, factor, rows[row].after, &after));
  if (degree != usual && !after) TES_TRY(tesi_multigrid_change(p->multigrid, degree, false, false));
done:
  return status;
}
