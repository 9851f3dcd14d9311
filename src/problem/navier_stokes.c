/* u_t + (u . grad) u - nu Lap u + grad p = f, div u = 0, with continuous elements: nu is data.a. Steps: projection/.
 * And the same without u_t and (u . grad) u, steady. */
#include <math.h>
#include "functional/functional.h"
#include "functional/flow.h"
#include "operator/operator.h"
#include "problem/projection/projection.h"

static int shown(const TesProblem *p, TesiShown *shown) {
  (void)p;
  (void)shown;
  return 0;
}

/* Velocities with derivatives, then the pressure with its own; p NULL: the names alone. */
static int fields(const TesProblem *p, int dim, TesiField *field) {
  static const char *const names[4] = {"p", "px", "py", "pz"};
  const TesiProjection *pr = p ? tesi_projection_of(p) : NULL;
  const TesSpace *const *space = pr ? (const TesSpace *const *)pr->full->part : NULL;
  const int count =
      tesi_fields_of(dim, dim, space, pr ? (const TesVector *const *)p->component : NULL, field);
  for (int i = 0; i <= dim; i++)
    field[count + i] = (TesiField){.name = names[i],
                                   .space = pr ? pr->mixed->pressure : NULL,
                                   .vector = pr ? &pr->p : NULL,
                                   .derivative = i - 1};
  return count + dim + 1;
}

static int problem_fields(const TesProblem *p, TesiField *field) {
  return fields(p, p->mesh->dim, field);
}

int tesi_navier_stokes_fields(int dim, TesiField *field) {
  return fields(NULL, dim, field);
}

const TesiEquation tesi_navier_stokes = {.name = "navier_stokes",
                                         .in_time = true,
                                         .shown = shown,
                                         .fields = problem_fields,
                                         .force = tesi_projection_force,
                                         .own = &tesi_projection_own};

const TesiEquation tesi_stokes_q = {.name = "stokes",
                                    .shown = shown,
                                    .fields = problem_fields,
                                    .force = tesi_projection_force,
                                    .own = &tesi_steady_own};

/* By Algorithm 4. */
const TesiEquation tesi_navier_stokes_iso = {.name = "navier_stokes",
                                             .in_time = true,
                                             .shown = shown,
                                             .fields = problem_fields,
                                             .force = tesi_projection_force,
                                             .own = &tesi_explicit_own};

/* The norm of the pressure's error; where the pressure is undetermined it is shifted to the mean of the exact one. */
static TesStatus pressure_error(const TesProblem *p, const TesFunction *exact, double *l2) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiProjection *pr = tesi_projection_of(p);
  const TesSpace *space = pr->mixed->pressure;
  double mean, volume, integral;
  if (pr->walls.any_open) return tes_functional_error(space, &pr->p, &exact, l2, NULL, NULL, NULL);
  TES_TRY(tes_functional_load(&(TesLoadDesc){.space = space, .f = {exact}}, pr->ps));
  TES_TRY(tes_vector_dot(pr->ones, pr->ps, &integral));
  TES_TRY(tes_functional_value(space, &pr->p, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &mean));
  TES_TRY(tes_functional_value(space, NULL, &(TesValue){.kind = TES_VALUE_INTEGRAL}, &volume));
  TES_TRY(tes_vector_copy(&pr->p, 1, pr->ps));
  TES_TRY(tes_vector_axpy((integral - mean) / volume, pr->ones, pr->ps));
  TES_TRY(tes_functional_error(space, pr->ps, &exact, l2, NULL, NULL, NULL));
done:
  return status;
}

static TesStatus norm_of(const TesProblem *p, const char *of, double *norm) {
  const TesStatus status = tes_problem_value(p, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = of}, norm);
  *norm = sqrt(fmax(*norm, 0));
  return status;
}

TesStatus tesi_navier_stokes_flow(const TesProblem *p, TesFlowResult *result) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiProjection *pr = tesi_projection_of(p);
  const int dim = p->mesh->dim;
  const TesFunction *const *exact = (const TesFunction *const *)p->exact;
  double gradient;
  if (exact[0])
    TES_TRY(tes_functional_error(pr->full, &pr->u, exact, &result->velocity_l2, NULL, NULL, NULL));
  if (exact[0] && exact[dim]) TES_TRY(pressure_error(p, exact[dim], &result->pressure_l2));
  TES_TRY(
      norm_of(p, dim == 2 ? "(ux + vy)*(ux + vy)" : "(ux + vy + wz)*(ux + vy + wz)", &result->divergence_l2));
  TES_TRY(norm_of(p,
                  dim == 2 ? "ux*ux + uy*uy + vx*vx + vy*vy"
                           : "ux*ux + uy*uy + uz*uz + vx*vx + vy*vy + vz*vz + wx*wx + wy*wy + wz*wz",
                  &gradient));
  result->divergence_relative = gradient > 0 ? result->divergence_l2 / gradient : 0;
  for (int i = 0; i < 6 && i < tes_mesh_boundaries(p->mesh); i++)
    TES_TRY(tes_problem_value(p,
                              &(TesValue){.kind = TES_VALUE_INTEGRAL,
                                          .where = TES_ON_BOUNDARY,
                                          .number = i,
                                          .of = dim == 2 ? "u*nx + v*ny" : "u*nx + v*ny + w*nz"},
                              &result->flux[i]));
done:
  return status;
}
