/* Loose motions in a static problem of elasticity. */
#include "operator/elasticity/elasticity_motions.h"
#include <math.h>
#include <stdio.h>
#include "problem/equation/elastic.h"
#include "space/slip.h"

/* The force of b in each direction and its moments about the origin: in 3D about x, y, z, in 2D one moment. */
static TesStatus sum_forces(const TesProblem *p, const double *b, double force[3], double moment[3]) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int dim = p->mesh->dim;
  const int64_t n = p->space->part[0]->length;
  double *x = NULL;
  TES_ALLOC(&x, n * dim);
  TES_TRY(tes_space_coordinates(p->space->part[0], x));
  for (int k = 0; k < 3; k++) force[k] = moment[k] = 0;
  for (int64_t i = 0; i < n; i++) {
    double f[3] = {0}, at[3] = {0};
    if (!tesi_layout_owns(p->space->part[0]->layout, i)) continue;
    for (int d = 0; d < dim; d++) f[d] = b[d * n + i], at[d] = x[i * dim + d], force[d] += f[d];
    for (int k = 0; k < 3; k++)
      moment[k] += at[(k + 1) % 3] * f[(k + 2) % 3] - at[(k + 2) % 3] * f[(k + 1) % 3];
  }
  tesi_reduce(ctx, TESI_SUM, 3, force);
  tesi_reduce(ctx, TESI_SUM, 3, moment);
done:
  tesi_free(ctx, &x);
  return status;
}

static TesStatus refuse_unbalanced(const TesProblem *p, const double *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double f[3], m[3];
  char text[200], words[400];
  TES_TRY(sum_forces(p, b, f, m));
  TES_TRY(tesi_elasticity_tell(p->space, p->motions, p->motion, sizeof words, words));
  if (p->mesh->dim == 3)
    snprintf(text, sizeof text,
             "force is (%.6g, %.6g, %.6g), their moment about the origin (%.6g, %.6g, %.6g)", f[0], f[1],
             f[2], m[0], m[1], m[2]);
  else
    snprintf(text, sizeof text, "force is (%.6g, %.6g), their moment about the origin %.6g", f[0], f[1], m[2]);
  TES_FAIL(TES_INVALID_INPUT,
           "boundary: %d rigid motion%s held by no boundary, and the loads do not balance there: their %s. "
           "Free: %s. "
           "Give a boundary a "
           "displacement, a roller or springs, or loads that balance",
           p->motions, p->motions > 1 ? "s are" : " is", text, words);
done:
  return status;
}

/* For nearly incompressible materials, for which this form is not suitable. */
static void warn(const TesProblem *p) {
  const double nu = tesi_elasticity_poisson(p->op);
  if (p->space->degree == 1 && nu > 0.45)
    tesi_log(
        p->context, TES_LOG_WARNING,
        "warning: Poisson's ratio is %.6g, and elements of degree 1 lock above 0.45: take a higher degree",
        nu);
  else if (nu > 0.49)
    tesi_log(p->context, TES_LOG_WARNING,
             "warning: Poisson's ratio is %.6g: nearly incompressible materials lose an order and take many "
             "iterations",
             nu);
}

/* The largest load in a motion that is accepted. The moment about a bore is zero only up to the sagitta of the bore's
 * cells, which is proportional to the square of the kinks' angle. */
static double allowed(const TesSpace *space) {
  return space->slip ? fmax(1e-4, space->slip->along.kinks * space->slip->along.kinks) : 1e-8;
}

/* Whether the load's component in each motion is the round-off of the single loads that were added. A component that
 * comes from faces with slip is dropped with a warning. */
static TesStatus check_parts(const TesProblem *p, const double *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiLayout *layout = p->space->layout;
  const int64_t n = p->space->length;
  const double norm = sqrt(tesi_layout_product(layout, b, b));
  double *size = NULL, *motion = NULL;
  double most = 0;
  TES_ALLOC(&size, n);
  TES_ALLOC(&motion, n);
  TES_TRY(tesi_elasticity_load_size(p, size));
  for (int k = 0; k < p->motions; k++) {
    for (int64_t i = 0; i < n; i++) motion[i] = fabs(p->motion[k * n + i]);
    const double added = tesi_layout_product(layout, size, motion),
                 part = tesi_layout_product(layout, b, p->motion + k * n);
    if (!(fabs(part) <= most * fmax(norm, added))) most = fabs(part) / fmax(norm, added);
  }
  if (!(most <= allowed(p->space))) TES_TRY(refuse_unbalanced(p, b));
  if (most > 1e-8)
    tesi_log(ctx, TES_LOG_WARNING,
             "warning: the loads have a part of %.1e in a rigid motion along faces with slip; it is left out",
             most);
done:
  tesi_free(ctx, &size);
  tesi_free(ctx, &motion);
  return status;
}

/* In time inertia fixes the motions that supports leave free. */
static TesStatus tell_in_time(const TesProblem *p) {
  int loose = 0;
  const TesStatus status = p->space->slip ? tesi_elasticity_unheld(p->op, &loose) : TES_OK;
  if (status == TES_OK) tesi_along_tell(p->space, loose > 0);
  return status;
}

/* Motions that nothing holds: the component of the loads in them must be round-off, and is removed. */
TesStatus tesi_elasticity_balance(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double *b = NULL;
  warn(p);
  if (p->in_time) return tell_in_time(p);
  TES_TRY(tesi_elasticity_motions(p->op, &p->motions, &p->motion));
  tesi_along_tell(p->space, p->motions > 0);
  if (!p->motions) return TES_OK;
  TES_TRY(tesi_vector_read(p->b, &b));
  TES_TRY(check_parts(p, b));
  tesi_elasticity_project(p->space->layout, p->motions, p->motion, b);
  TES_TRY(tes_vector_set(p->b, b));
done:
  tesi_free(ctx, &b);
  return status;
}

TesStatus tesi_elasticity_remove_motions(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int64_t n = p->space->length;
  double *u = NULL, *exact = NULL;
  TesVector *v = NULL;
  if (!p->motions) return TES_OK;
  TES_ALLOC(&exact, n);
  TES_TRY(tesi_vector_read(p->u, &u));
  if (p->exact[0]) {
    TES_TRY(tes_vector_create(ctx, n, TES_DOUBLE, &v));
    TES_TRY(tes_space_interpolate(p->space, (const TesFunction *const *)p->exact, v));
    TES_TRY(tes_vector_get(v, exact));
  }
  for (int64_t i = 0; i < n; i++) u[i] -= exact[i];
  tesi_elasticity_project(p->space->layout, p->motions, p->motion, u);
  for (int64_t i = 0; i < n; i++) u[i] += exact[i];
  TES_TRY(tes_vector_set(p->u, u));
done:
  tes_vector_destroy(&v);
  tesi_free(ctx, &u);
  tesi_free(ctx, &exact);
  return status;
}
