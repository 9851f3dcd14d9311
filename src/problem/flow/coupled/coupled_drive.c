/* The uniform force that keeps a mean velocity: see coupled.h.
 *
 * With e_c the uniform velocity in direction c, M the mass, K the system of the step and (s_c, q_c) the solution of
 * K (s_c, q_c) = (M e_c, 0), zero where values are given, a force F_c adds F_c (s_c, q_c) to the new velocity and
 * pressure. The step is made with the previous force, and the mean velocity is then corrected:
 *
 *   F_c += (U_c |domain| - (M e_c, u)) / (M e_c, s_c),    (u, p) += (what was added) (s_c, q_c),
 *
 * so that the new velocity solves the equation with the new force, implicitly, and stays divergence-free. */
#include "operator/stokes/stokes_operator.h"
#include "problem/flow/coupled/coupled.h"

static bool is_driven(const TesiCoupledDrive *d, int c) {
  return d->components >> c & 1;
}

TesStatus tesi_coupled_drive_check(const TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  for (int c = 0; c < p->mesh->dim; c++) {
    if (!(desc->mean_components >> c & 1)) continue;
    TES_CHECK(
        p->mesh->box_periodic[c],
        "data.mean_velocity: in direction %c it is kept by a force where the domain is periodic in %c, and "
        "this one is not",
        "xyz"[c], "xyz"[c]);
  }
done:
  return status;
}

TesStatus tesi_coupled_drive_create(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupledDrive *d = &tesi_coupled_of(p)->drive;
  TesFunction *one = NULL;
  d->components = desc->mean_components & ((1u << p->mesh->dim) - 1);
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  for (int c = 0; c < p->mesh->dim; c++) {
    const TesFunction *uniform[TESI_AXES + 1] = {NULL};
    if (!is_driven(d, c)) continue;
    TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &d->uniform[c]));
    TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &d->weights[c]));
    TES_TRY(tes_vector_fill(d->weights[c], 0));
    uniform[c] = one;
    TES_TRY(tesi_rt_interpolate(p->space, uniform, d->uniform[c]));
    TES_TRY(tesi_stokes_add_mass(p->op, 1, d->uniform[c], d->weights[c]));
    TES_TRY(tes_vector_dot(d->weights[c], d->uniform[c], &d->volume));
    d->mean[c] = desc->mean_velocity[c];
  }
done:
  tes_function_destroy(&one);
  return status;
}

void tesi_coupled_drive_free(TesiCoupledDrive *d) {
  for (int c = 0; c < TESI_AXES; c++) {
    tes_vector_destroy(&d->uniform[c]);
    tes_vector_destroy(&d->weights[c]);
  }
}

TesStatus tesi_coupled_drive_add(const TesProblem *p, double factor, TesVector *v) {
  TesStatus status = TES_OK;
  const TesiCoupledDrive *d = &tesi_coupled_of(p)->drive;
  for (int c = 0; c < p->mesh->dim && status == TES_OK; c++)
    if (is_driven(d, c)) status = tes_vector_axpy(factor * d->force[c], d->uniform[c], v);
  return status;
}

/* (s_c, q_c) of the present system, once. The solve starts from zero, so that a run continued from a file has the
 * same bits. */
static TesStatus find_response(TesProblem *p, int c) {
  const double tolerance = 1e-10;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupled *flow = tesi_coupled_of(p);
  TesiCoupledSystem *system = &flow->system[0];
  TesVector *response = NULL;
  TesSolveResult result = {0};
  double norm;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &response));
  TES_TRY(tes_vector_fill(response, 0));
  TES_TRY(tes_vector_copy(flow->drive.weights[c], 1 / p->unit, flow->b));
  TES_TRY(tes_vector_norm(flow->b, &norm));
  TES_TRY(tesi_coupled_solve(p, tolerance / p->chosen.tolerance * norm, response, &result));
  TES_TRY(tes_vector_dot(flow->drive.weights[c], response, &system->gain[c]));
  system->response[c] = response, response = NULL;
done:
  tes_vector_destroy(&response);
  return status;
}

TesStatus tesi_coupled_drive_keep(TesProblem *p, TesVector *x) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiCoupledDrive *d = &tesi_coupled_of(p)->drive;
  const TesiCoupledSystem *system = &tesi_coupled_of(p)->system[0];
  for (int c = 0; c < p->mesh->dim; c++) {
    double sum;
    if (!is_driven(d, c)) continue;
    if (!system->response[c]) TES_TRY(find_response(p, c));
    TES_TRY(tes_vector_dot(d->weights[c], x, &sum));
    const double more = (d->mean[c] * d->volume - sum) / system->gain[c];
    TES_TRY(tes_vector_axpy(more, system->response[c], x));
    d->force[c] += more;
  }
done:
  return status;
}
