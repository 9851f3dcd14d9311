/* Equations of second order in time: the initial u_t and u_tt. */
#include <math.h>
#include "operator/operator.h"
#include "problem/in_time.h"
#include "smoother/spectrum.h"
#include "space/slip.h"

double tesi_in_time_rho(const TesTimeDesc *desc) {
  return desc->rho_inf == 0 ? 0.8 : fmax(desc->rho_inf, 0);
}

/* *values[3] <- boundary values at three times, h apart. */
static TesStatus lift_three(TesProblem *p, double time, double h, TesVector *values[3]) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  for (int i = 0; i < 3; i++) {
    TES_TRY(tesi_in_time_at(p, time + i * h));
    TES_TRY(tesi_problem_lift(p));
    TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &values[i]));
    if (p->lifting.lifted) TES_TRY(tes_vector_copy(p->lifting.shift, 1, values[i]));
  }
  TES_TRY(tesi_in_time_at(p, time));
  TES_TRY(tesi_problem_lift(p));
done:
  return status;
}

/* v <- v, with the first or second difference of boundary values at given nodes; 0 if the values stay the same. */
static TesStatus give_rates(TesProblem *p, double time, int order, TesVector *v) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *g[3] = {NULL};
  const double h = p->in_time->march.dt / 16, first[3] = {-1.5 / h, 2 / h, -0.5 / h},
               second[3] = {1 / h / h, -2 / h / h, 1 / h / h};
  if (p->lifting.some_given) TES_TRY(tesi_problem_clear(p, v));
  if (!tesi_numbered_timed(p->mesh, &p->in_time->numbers, true)) goto done;
  TES_TRY(lift_three(p, time, h, g));
  for (int i = 0; i < 3; i++) TES_TRY(tes_vector_axpy(order == 1 ? first[i] : second[i], g[i], v));
done:
  for (int i = 0; i < 3; i++) tes_vector_destroy(&g[i]);
  return status;
}

/* The functions of u_t: given, or the derivatives of the exact solution if u is taken from it. */
static TesStatus find_functions(const TesProblem *p, const TesProblemDesc *desc, TesFunction *v[TESI_AXES]) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const double time = p->in_time->march.time;
  TesFunction *slope = NULL;
  for (int c = 0; c < p->mesh->dim; c++) {
    if (desc->initial_velocity[0]) {
      TES_TRY(tesi_function_at(desc->initial_velocity[c], time, &v[c]));
    } else if (desc->exact[0] && !desc->initial[0]) {
      TES_TRY(tes_function_create_derivative(desc->exact[c], 3, &slope));
      TES_TRY(tesi_function_at(slope, time, &v[c]));
      tes_function_destroy(&slope);
    }
  }
done:
  tes_function_destroy(&slope);
  return status;
}

TesStatus tesi_in_time_begin_rates(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  TesVector *rate = it->stepper->rate;
  if (it->initial_rate[0])
    TES_TRY(tes_space_interpolate(p->space, (const TesFunction *const *)it->initial_rate, rate));
  TES_TRY(give_rates(p, it->march.time, 1, rate));
done:
  return status;
}

TesStatus tesi_in_time_begin_second(TesProblem *p, const TesProblemDesc *desc) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiInTime *it = p->in_time;
  it->stepper->rho = tesi_in_time_rho(&it->march.desc);
  for (int c = 0; c < p->space->parts; c++)
    TES_TRY(tes_vector_part(p->space, it->stepper->rate, c, &it->rate[c]));
  if (p->before) goto done; /* u_t comes from there */
  TES_TRY(find_functions(p, desc, it->initial_rate));
  TES_TRY(tesi_in_time_begin_rates(p));
done:
  return status;
}

/* Solves M x = b at free nodes by conjugate gradients with the diagonal of M; x is 0 on entry. At a face with slip the
 * diagonal differs by component, so z is projected. */
static TesStatus solve_mass(const TesProblem *p, TesVector *b, TesVector *x) {
  enum { MOST = 500 };
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = p->in_time;
  TesVector *z = NULL, *q = NULL, *s = NULL;
  void *inverse = NULL;
  double first = 0, rz = 0, next, sq;
  TesVector **all[] = {&z, &q, &s};
  for (int i = 0; i < 3; i++) TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, all[i]));
  TES_TRY(tesi_inverse_diagonal(it->mass, &inverse));
  for (int step = 0; step < MOST; step++) {
    TES_TRY(tesi_device_multiply(ctx, TES_DOUBLE, b->length, 1, b->data, inverse, z->data));
    TES_TRY(tesi_space_project(p->space, TES_DOUBLE, z->data));
    TES_TRY(tes_vector_dot(b, z, &next));
    if (step == 0) first = next;
    if (!(next > 1e-28 * first)) break;
    if (step)
      TES_TRY(tes_vector_xpay(z, next / rz, s));
    else
      TES_TRY(tes_vector_copy(z, 1, s));
    rz = next;
    TES_TRY(tes_operator_apply(it->mass, s, q));
    if (p->lifting.some_given) TES_TRY(tesi_problem_clear(p, q));
    TES_TRY(tes_vector_dot(s, q, &sq));
    TES_TRY(tes_vector_axpy(rz / sq, s, x));
    TES_TRY(tes_vector_axpy(-rz / sq, q, b));
  }
done:
  for (int i = 0; i < 3; i++) tes_vector_destroy(all[i]);
  tesi_context_device(ctx)->release(ctx, &inverse);
  return status;
}

TesStatus tesi_in_time_accelerate(void *user, double sigma, double time, const TesVector *u, TesVector *a) {
  TesProblem *p = user;
  TesiInTime *it = p->in_time;
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesVector *b = NULL, *x = NULL;
  const TesiEvolution *e = &it->stepper->evolution;
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &b));
  TES_TRY(tesi_vector_create_on(p->space->layout, TES_DOUBLE, &x));
  TES_TRY(e->load(p, time, b));
  TES_TRY(e->subtract(p, sigma, time, u, b));
  TES_TRY(tes_operator_apply(it->mass, u, it->d));
  TES_TRY(tes_vector_axpy(sigma, it->d, b));
  TES_TRY(tes_vector_fill(a, 0));
  TES_TRY(give_rates(p, time, 2, a));
  TES_TRY(tes_operator_apply(it->mass, a, it->d));
  TES_TRY(tes_vector_axpy(-1, it->d, b));
  if (p->lifting.some_given) TES_TRY(tesi_problem_clear(p, b));
  TES_TRY(solve_mass(p, b, x));
  TES_TRY(tes_vector_axpy(1, x, a));
done:
  tes_vector_destroy(&b);
  tes_vector_destroy(&x);
  return status;
}
