/* The state of a problem in time goes to another mesh: see remesh.h. */
#include <math.h>
#include "functional/difference.h"
#include "functional/functional.h"
#include "operator/diagonal_cg.h"
#include "operator/operator.h"
#include "parallel/repartition.h"
#include "problem/adapt/remesh.h"

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
  for (int i = 0; i < tes_space_components(to); i++)
    TES_TRY(tesi_functional_difference(from->scalar[i], in + from->first[i], to->scalar[i],
                                       out + to->first[i], b + to->first[i]));
  TES_TRY(tes_vector_set(r, b));
done:
  tesi_free(ctx, &in);
  tesi_free(ctx, &out);
  tesi_free(ctx, &b);
  return status;
}

/* d <- d + constants that correct the mean of each component, from the integrals of the residual r. one, q: scratch. */
static TesStatus correct_mean(const TesOperator *mass, const TesVector *r, TesVector *one, TesVector *q,
                              TesVector *d) {
  TesContext *ctx = mass->context;
  TesStatus status = TES_OK;
  const TesSpace *space = mass->space;
  double left, volume;
  TES_TRY(tes_vector_fill(one, 1));
  TES_TRY(tes_operator_apply(mass, one, q));
  for (int i = 0; i < tes_space_components(space); i++) {
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
  TES_TRY(tes_vector_norm(w[Q], &size)); /* if cells were only refined, the difference is round-off */
  TES_TRY(tes_operator_diagonal(mass, w[INVERSE]));
  TES_TRY(tesi_vector_invert(w[INVERSE]));
  const TesiJacobi cg = {.op = mass, .inverse = w[INVERSE], .z = w[Z], .q = w[Q], .p = w[P]};
  TES_TRY(tesi_jacobi_cg(&cg, norm, fmax(tolerance * norm, round_off * size), MOST, w[R], w[D]));
  TES_TRY(correct_mean(mass, w[R], w[P], w[Q], w[D]));
  TES_TRY(tes_vector_axpy(1, w[D], v));
done:
  for (int i = 0; i < VECTORS; i++) tes_vector_destroy(&w[i]);
  return status;
}

/* ---- state --------------------------------------------------------------------------------------------- */

/* Vectors go to the spaces `to`. The spaces `over` are on the mesh whose cells are on the same ranks as the old cells;
 * they are NULL if this is the new mesh itself. Mass operators are over them. */
typedef struct Ways {
  const TesMesh *beside;
  int count;
  struct {
    const TesSpace *to;
    TesSpace *over;
    TesOperator *mass;
  } way[TESI_STATE_VECTORS];
} Ways;

static TesStatus find_way(const TesSpace *space, Ways *w, int *way) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  int i = 0;
  while (i < w->count && w->way[i].to != space) i++;
  *way = i;
  if (i < w->count) return TES_OK;
  w->way[w->count++].to = space;
  if (w->beside) TES_TRY(tesi_space_create_on(space, w->beside, space->degree, &w->way[i].over));
  if (!w->beside) w->way[i].over = tesi_space_retain(space);
done:
  return status;
}

static TesStatus find_mass(Ways *w, int way, const TesOperator **mass) {
  const TesTermDesc term = {.term = TES_TERM_MASS};
  const TesSpace *space = w->way[way].over;
  TesStatus status = TES_OK;
  if (!w->way[way].mass)
    status = tes_operator_create(space->context, &(TesOperatorDesc){.space = space, .form = {1, &term, 0}},
                                 &w->way[way].mass);
  *mass = w->way[way].mass;
  return status;
}

static TesStatus share_out(const TesiLayout *from, const TesVector *u, const TesiLayout *to, TesVector *v) {
  TesContext *ctx = u->context;
  TesStatus status = TES_OK;
  double *here = NULL, *there = NULL;
  TES_ALLOC(&there, to->length);
  TES_TRY(tesi_vector_read(u, &here));
  TES_TRY(tesi_layout_move(from, here, to, there));
  TES_TRY(tes_vector_set(v, there));
done:
  tesi_free(ctx, &here);
  tesi_free(ctx, &there);
  return status;
}

static TesStatus move_vector(const TesiStateVector *u, const TesiStateVector *v, double accuracy, Ways *w) {
  TesContext *ctx = v->space->context;
  TesStatus status = TES_OK;
  const TesOperator *mass;
  TesVector *beside = NULL;
  int way;
  TES_TRY(find_way(v->space, w, &way));
  const TesSpace *over = w->way[way].over;
  if (w->beside) TES_TRY(tesi_vector_create_on(over->layout, TES_DOUBLE, &beside));
  TesVector *to = beside ? beside : v->vector;
  if (v->move == TESI_STATE_PROJECTED) {
    TES_TRY(find_mass(w, way, &mass));
    TES_TRY(tesi_move_projected(u->space, u->vector, mass, accuracy, to));
  } else {
    TES_TRY(tes_space_carry(u->space, u->vector, over, to));
  }
  if (beside) TES_TRY(share_out(over->layout, beside, v->space->layout, v->vector));
done:
  tes_vector_destroy(&beside);
  return status;
}

static TesStatus move_vectors(const TesiState *from, const TesiState *to, const TesMesh *beside) {
  TesStatus status = TES_OK;
  Ways ways = {.beside = beside};
  for (int i = 0; i < to->vectors && status == TES_OK; i++) {
    const TesiStateVector *v = &to->vector[i], *u = tesi_state_vector(from, v->name);
    if (v->move != TESI_STATE_MADE && u) status = move_vector(u, v, to->accuracy, &ways);
  }
  for (int i = 0; i < ways.count; i++) {
    tes_operator_destroy(&ways.way[i].mass);
    tes_space_destroy(&ways.way[i].over);
  }
  return status;
}

TesStatus tesi_move_state(TesProblem *from, TesProblem *next, const TesMesh *beside, double *removed) {
  TesContext *ctx = from->context;
  TesStatus status = TES_OK;
  const TesiInTime *it = from->in_time;
  TesiState old, state;
  tesi_problem_state(from, &old);
  tesi_problem_state(next, &state);
  tesi_state_copy_numbers(&old, &state);
  tesi_problem_state(next, &state);
  TES_TRY(move_vectors(&old, &state, beside));
  for (int c = 0; c < TESI_AXES; c++)
    next->in_time->initial_rate[c] = tesi_function_retain(it->initial_rate[c]);
  if (it->stepper) next->in_time->stepper->dt = it->stepper->dt;
  if (it->stepper) next->in_time->stepper->started = it->stepper->started;
  if (next->equation->own) TES_TRY(next->equation->own->settle(from, next, removed));
done:
  return status;
}
