/* Which cycle, by what one is measured to reach. With a polynomial of degree m the number of iterations times m stays
 * the same where it is large, so that a longer polynomial saves what an iteration costs besides; and cycles that smooth
 * after their coarse correction alone, by 2 m, need 20 to 30 % fewer applications there. On easy meshes both lose. */
#include <math.h>
#include <stdio.h>
#include "multigrid/multigrid.h"
#include "problem/choice.h"
#include "problem/problem.h"
#include "smoother/smoother.h"

/* The factor of a step of conjugate gradients on the level below the finest: cubes and balls to degree 4 have 0.01 to
 * 0.04, at degree 7 0.06; split tetrahedra and needles 0.05 to 0.15; Kershaw's cells, eps 0.3, 0.3. That level has
 * fewer and rounder cells: the finest one's factor is up to three times as large. */
static const struct {
  double least; /* factor */
  bool after;   /* smoothing, else before and after */
  int percent;  /* of the usual degree of the polynomial */
} rows[] = {{0.27, true, 400}, {0.2, true, 300}, {0.08, true, 200}, {0.05, false, 150}, {0, false, 100}};

/* Lines of cells leave so little that one step of them is enough: 30 % less time with 5 iterations in place of 4. From
 * degree 5 on both take the same. */
static bool wants_one_step(const TesProblem *p, double factor) {
  enum { DEGREE = 4 };
  static const double little = 0.05;
  const int top = tes_multigrid_levels(p->multigrid) - 1;
  return factor < little && p->space->degree <= DEGREE &&
         tes_multigrid_level(p->multigrid, top).smoother->kind == TES_SMOOTHER_LINE_PATCH;
}

/* Whether nothing that is changed here is asked for, and cycles are those of one symmetric component. */
static bool may_change(const TesProblem *p) {
  const TesSolveOptions *o = &p->options;
  const bool free = o->method == TES_METHOD_AUTO && o->smoother == TES_SMOOTHER_AUTO && !o->own_smoother &&
                    o->smoother_degree == 0 && o->pre == 0 && o->post == 0 && o->order == TES_ORDER_AUTO;
  return free && p->method == TES_METHOD_CG && p->levels == p->op && !p->in_time && !p->equation->couples &&
         p->mesh->kind != TES_MESH_BOX && !p->start && tesi_multigrid_polynomial(p->multigrid) > 0;
}

TesStatus tesi_problem_tune(TesProblem *p) {
  enum { STEPS = 2 };
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double factor;
  int row = 0;
  if (!may_change(p)) return TES_OK;
  TES_TRY(tesi_work_on(ctx, "a trial of the cycle"));
  TES_TRY(tesi_multigrid_reduction(p->multigrid, STEPS, &factor));
  while (factor < rows[row].least) row++;
  const int usual = tesi_multigrid_polynomial(p->multigrid),
            degree = wants_one_step(p, factor) ? 1 : usual * rows[row].percent / 100;
  tesi_log(ctx, TES_LOG_DETAIL,
           "a step of conjugate gradients reduces by %.3f on the level below: degree %d%s", factor, degree,
           rows[row].after ? ", after the coarse correction alone" : "");
  if (degree != usual) TES_TRY(tesi_multigrid_change(p->multigrid, degree, false, rows[row].after));
  if (!rows[row].after) return TES_OK;
  p->method = TES_METHOD_GMRES;
  snprintf(
      p->method_text, sizeof p->method_text, "%s%s", p->full_start ? "full multigrid, then " : "",
      "GMRES, right-preconditioned by a V-cycle that smooths after its coarse correction (chosen: a trial)");
done:
  return status;
}
