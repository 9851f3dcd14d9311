/* The state of a problem in time goes to another mesh: see remesh.h. */
#include <math.h>
#include <string.h>
#include "functional/difference.h"
#include "functional/functional.h"
#include "operator/diagonal_cg.h"
#include "operator/operator.h"
#include "problem/adapt/remesh.h"
#include "problem/balance.h"

/* ---- projection ---------------------------------------------------------------------------------------- */

/* r <- int (u - v) phi. */
static TesStatus find_difference(const TesSpace *from, const TesVector *u, const TesSpace *to,
                                 const TesVector *v, TesVector *r) {
  TesContext *ctx = to->context;
  TesStatus status = TES_OK;
  double *in = NULL, *out = NULL, *b = NULL;
  TES_ALLOC(&in, from->length);
  TES_ALLOC(&out, to->length);
  TES_ALLOC(&b, to->length);
  TES_TRY(tes_vector_get(u, in));
  TES_TRY(tes_vector_get(v, out));
  for (int i = 0; i < to->scalars; i++)
    TES_TRY(tesi_functional_difference(from->scalar[i], in + from->first[i], to->scalar[i],
                                       out + to->first[i], b + to->first[i]));
  TES_TRY(tes_vector_set(r, b));
done:
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  tesi_free(ctx, &b);
  return status;
}

static TesStatus find_inverse(const TesOperator *mass, TesVector *inverse) {
  TesContext *ctx = mass->context;
  TesStatus status = TES_OK;
  double *values = NULL;
  TES_ALLOC(&values, inverse->length);
  TES_TRY(tes_operator_diagonal(mass, inverse));
  TES_TRY(tes_vector_get(inverse, values));
  for (int64_t i = 0; i < inverse->length; i++) values[i] = 1 / values[i];
  TES_TRY(tes_vector_set(inverse, values));
done:
  tesi_free(ctx, &values);
  return status;
}

/* d <- d + the constants whose integrals are what the residual r has left of the mean of each component. one, q:
 * scratch. */
static TesStatus correct_mean(const TesOperator *mass, const TesVector *r, TesVector *one, TesVector *q,
                              TesVector *d) {
  TesContext *ctx = mass->context;
  TesStatus status = TES_OK;
  const TesSpace *space = mass->space;
  double left, volume;
  TES_TRY(tes_vector_fill(one, 1));
  TES_TRY(tes_operator_apply(mass, one, q));
  for (int i = 0; i < space->scalars; i++) {
    const TesVector ones = tesi_space_scalar_range(space, one, i), of = tesi_space_scalar_range(space, r, i),
                    weights = tesi_space_scalar_range(space, q, i);
    TesVector to = tesi_space_scalar_range(space, d, i);
    TES_TRY(tes_vector_dot(&ones, &of, &left));
    TES_TRY(tes_vector_dot(&ones, &weights, &volume));
    TES_TRY(tes_vector_axpy(left / volume, &ones, &to));
  }
done:
  return status;
}

/* v <- v + d with M d = int (u - v) phi, v the interpolation of u. */
TesStatus tesi_move_projected(const TesSpace *from, const TesVector *u, const TesOperator *mass,
                              double tolerance, TesVector *v) {
  enum { R, D, Z, Q, P, INVERSE, VECTORS, MOST = 1000 };
  TesContext *ctx = mass->context;
  TesStatus status = TES_OK;
  const TesSpace *to = mass->space;
  const double round_off = 1e-15;
  TesVector *w[VECTORS] = {NULL};
  double norm, size;
  TES_TRY(tes_space_carry(from, u, to, v));
  for (int i = 0; i < VECTORS; i++) TES_TRY(tesi_vector_create_on(to->layout, TES_DOUBLE, &w[i]));
  TES_TRY(find_difference(from, u, to, v, w[R]));
  TES_TRY(tes_vector_norm(w[R], &norm));
  if (norm == 0) goto done;
  TES_TRY(tes_operator_apply(mass, v, w[Q]));
  TES_TRY(tes_vector_norm(w[Q], &size)); /* where cells were refined alone the difference is round-off */
  TES_TRY(find_inverse(mass, w[INVERSE]));
  const TesiJacobi cg = {.op = mass, .inverse = w[INVERSE], .z = w[Z], .q = w[Q], .p = w[P]};
  TES_TRY(tesi_jacobi_cg(&cg, norm, fmax(tolerance * norm, round_off * size), MOST, w[R], w[D]));
  TES_TRY(correct_mean(mass, w[R], w[P], w[Q], w[D]));
  TES_TRY(tes_vector_axpy(1, w[D], v));
done:
  for (int i = 0; i < VECTORS; i++) tes_vector_destroy(&w[i]);
  return status;
}

/* ---- state --------------------------------------------------------------------------------------------- */

static void move_amounts(const TesProblem *from, TesProblem *next) {
  if (!from->balance || !next->balance) return;
  const TesiAmounts *a = &from->balance->amounts, *b = &next->balance->amounts;
  const size_t size = (size_t)a->count * sizeof *a->now;
  memcpy(b->rate, a->rate, size);
  memcpy(b->now, a->now, size);
  memcpy(b->old, a->old, TESI_STEPPER_OLD * size);
  next->balance->start = from->balance->start;
}

/* u_t and u_tt of second order, and the functions that they began as. */
static TesStatus move_rates(const TesProblem *from, const TesOperator *mass, double tolerance,
                            TesProblem *next) {
  TesContext *ctx = from->context;
  TesStatus status = TES_OK;
  const TesiStepper *old = from->in_time->stepper;
  TesiStepper *s = next->in_time->stepper;
  for (int c = 0; c < TESI_AXES; c++)
    next->in_time->initial_rate[c] = tesi_function_retain(from->in_time->initial_rate[c]);
  TES_TRY(tesi_move_projected(from->space, old->rate, mass, tolerance, s->rate));
  TES_TRY(tesi_move_projected(from->space, old->second, mass, tolerance, s->second));
done:
  return status;
}

/* Old values that the formula takes after the next step are projected; those of guesses alone are interpolated. */
TesStatus tesi_move_state(const TesProblem *from, TesProblem *next) {
  TesContext *ctx = from->context;
  TesStatus status = TES_OK;
  const TesiStepper *old = from->in_time->stepper;
  TesiStepper *s = next->in_time->stepper;
  const TesTermDesc term = {.term = TES_TERM_MASS};
  TesOperator *plain = NULL; /* that of second order has the density */
  if (old->rate)
    TES_TRY(tes_operator_create(ctx, &(TesOperatorDesc){.space = next->in_time->full, .form = {1, &term, 0}},
                                &plain));
  const TesOperator *mass = plain ? plain : next->in_time->mass;
  const int needed = tesi_time_method(old->method)->old - 1;
  const double tolerance = 1e-10;
  TES_TRY(tesi_move_projected(from->space, from->u, mass, tolerance, next->u));
  for (int i = 0; i < old->known; i++)
    TES_TRY(i < needed ? tesi_move_projected(from->space, old->old[i], mass, tolerance, s->old[i])
                       : tes_space_carry(from->space, old->old[i], next->space, s->old[i]));
  s->known = old->known, s->dt = old->dt, s->started = old->started;
  memcpy(s->when, old->when, sizeof s->when);
  if (old->rate) TES_TRY(move_rates(from, mass, tolerance, next));
  move_amounts(from, next);
done:
  tes_operator_destroy(&plain);
  return status;
}
