/* See balance.h. */
#include "problem/balance.h"
#include <math.h>
#include <string.h>
#include "functional/functional.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"
#include "problem/modal.h"
#include "problem/in_time.h"

static bool is_given(const TesProblem *p, int boundary) {
  return tesi_problem_given(p, boundary, 0);
}

static TesStatus new_vector(const TesProblem *p, TesVector **v) {
  return tesi_vector_create_on(p->space->layout, TES_DOUBLE, v);
}

static bool is_modal(const TesProblem *p) {
  return p->space->element->weak;
}

/* The operator with the transport term. */
static const TesOperator *transport_in(const TesProblem *p) {
  return p->in_time && p->in_time->carrier ? p->in_time->carrier : p->op;
}

/* v <- int over a boundary of g phi, at all nodes; for discontinuous elements the whole load of the boundary. */
static TesStatus load_boundary(const TesProblem *p, int boundary, const TesFunction *g, TesVector *v) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesFunction **all = NULL;
  if (is_modal(p)) return tesi_modal_given_load(p, transport_in(p), boundary, g, v);
  TES_ALLOC(&all, tes_mesh_boundaries(p->mesh) + 1);
  all[boundary] = g;
  TES_TRY(tesi_functional_load(&(TesiLoad){.space = p->space, .g = all}, true, v));
done:
  tesi_free(ctx, &all);
  return status;
}

/* ---- weights ------------------------------------------------------------------------------------------- */

/* The shares of each given node in its boundaries: int phi over the boundary, divided by the sum over all its
 * boundaries. */
static TesStatus share_nodes(const TesProblem *p, TesiBalance *b, const TesFunction *one) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const int64_t n = p->space->length;
  double *sum = NULL, *part = NULL;
  TES_ALLOC(&sum, n);
  TES_ALLOC(&part, n);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < b->boundaries; i++) {
      if (!is_given(p, i)) continue;
      if (!b->share[i]) TES_TRY(new_vector(p, &b->share[i]));
      if (!pass) TES_TRY(load_boundary(p, i, one, b->share[i]));
      TES_TRY(tes_vector_get(b->share[i], part));
      for (int64_t k = 0; k < n; k++)
        if (pass)
          part[k] = sum[k] > 0 ? part[k] / sum[k] : 0;
        else
          sum[k] += part[k];
      if (pass) TES_TRY(tes_vector_set(b->share[i], part));
    }
done:
  tesi_free(ctx, &sum);
  tesi_free(ctx, &part);
  return status;
}

/* v <- v + factor W of a boundary. */
static TesStatus add_through(const TesProblem *p, const TesSpace *full, int boundary, double factor,
                             TesVector *v) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiFaceMass mass = {0};
  signed char *through = NULL;
  double *one = NULL, *values = NULL, *added = NULL;
  const int64_t n = p->space->length;
  TES_ALLOC(&through, tes_mesh_boundaries(p->mesh) + 1);
  TES_ALLOC(&one, n);
  through[boundary] = 1;
  TES_TRY(tesi_transport_faces(full, p->numbered.data.b, through, &mass));
  if (!mass.faces && tesi_ranks(ctx) == 1) goto done;
  TES_ALLOC(&added, n);
  for (int64_t i = 0; i < n; i++) one[i] = factor;
  tesi_face_mass_add(&mass, TES_DOUBLE, 1, true, one, added);
  tesi_exchange_sum(p->space->layout->shared, TES_DOUBLE, added);
  TES_TRY(tesi_vector_read(v, &values));
  for (int64_t i = 0; i < n; i++) values[i] += added[i];
  TES_TRY(tes_vector_set(v, values));
done:
  tesi_free(ctx, &added);
  tesi_face_mass_free(ctx, &mass);
  tesi_free(ctx, &through);
  tesi_free(ctx, &one);
  tesi_free(ctx, &values);
  return status;
}

/* source <- sigma M 1 - A 1 of the symmetric part: - C - sum of Z. */
static TesStatus weigh_reaction(const TesProblem *p, const TesOperator *whole, double sigma, TesiBalance *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiTransport *transport = tesi_transport_of(whole);
  TES_TRY(tes_operator_apply(transport ? transport->symmetric : whole, b->one, b->work));
  if (b->mass) TES_TRY(tes_vector_axpy(sigma, b->mass, b->weights.source));
  TES_TRY(tes_vector_axpy(-1, b->work, b->weights.source));
done:
  return status;
}

/* The inflow through boundary i of the values of u, and their part of the sources. */
static TesStatus weigh_robin(const TesProblem *p, int i, TesiBalance *b) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  if (!p->numbered.given[i].alpha) return TES_OK;
  TES_TRY(load_boundary(p, i, p->numbered.given[i].alpha, b->work));
  TES_TRY(tes_vector_axpy(-1, b->work, b->weights.enter[i]));
  TES_TRY(tes_vector_axpy(1, b->work, b->weights.source));
done:
  return status;
}

/* The same for the transport of u through the boundary. */
static TesStatus weigh_transport(const TesProblem *p, const TesOperator *flow, int i, TesiWeights *weights) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const bool conservative = tesi_transport_of(flow)->conservative;
  const bool carries = is_given(p, i) ? !conservative : p->numbered.given[i].how[0] != TESI_FLUX;
  if (!conservative) TES_TRY(add_through(p, flow->space, i, 1, weights->source));
  if (carries) TES_TRY(add_through(p, flow->space, i, -1, weights->enter[i]));
done:
  return status;
}

/* Discontinuous elements: all rows are equations, and A 1 holds the diffusive flux through given boundaries. */
static TesStatus weigh_modal(const TesProblem *p, const TesOperator *flow, int i, TesiBalance *b,
                             TesiWeights *weights) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  const TesiTransport *transport = tesi_transport_of(flow);
  TES_TRY(tesi_modal_enter(p, transport ? transport->symmetric : flow, i, b->work));
  TES_TRY(tes_vector_axpy(-1, b->work, b->weights.source));
  TES_TRY(tes_vector_axpy(1, b->work, b->weights.enter[i]));
  if (!transport) goto done;
  TES_TRY(tes_vector_axpy(-1, b->work, weights->enter[i]));
  TES_TRY(tesi_modal_enter(p, flow, i, b->work));
  TES_TRY(tes_vector_axpy(1, b->work, weights->enter[i]));
done:
  return status;
}

/* flow: the operator with the transport term and the weights `weights`. */
static TesStatus weigh(const TesProblem *p, const TesOperator *whole, const TesOperator *flow, double sigma,
                       TesiBalance *b, TesiWeights *weights) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *one = NULL;
  const TesiTransport *transport = tesi_transport_of(flow);
  TES_TRY(tes_function_create_constant(ctx, 1, &one));
  if (!is_modal(p)) TES_TRY(share_nodes(p, b, one));
  TES_TRY(weigh_reaction(p, whole, sigma, b));
  for (int i = 0; i < b->boundaries; i++)
    if (is_modal(p)) {
      TES_TRY(weigh_modal(p, flow, i, b, weights));
    } else {
      TES_TRY(weigh_robin(p, i, b));
      if (transport) TES_TRY(weigh_transport(p, flow, i, weights));
    }
  if (transport && !transport->conservative) {
    TES_TRY(tesi_transport_slopes(flow, b->work));
    TES_TRY(tes_vector_axpy(-1, b->work, weights->source));
  }
done:
  tes_function_destroy(&one);
  return status;
}

/* ---- creation ------------------------------------------------------------------------------------------ */

static TesStatus fill_one(const TesProblem *p, TesVector *v) {
  TesFunction *one = NULL;
  if (!is_modal(p)) return tes_vector_fill(v, 1);
  TesStatus status = tes_function_create_constant(p->context, 1, &one);
  if (status == TES_OK) status = tesi_modal_project(p->space, one, v);
  tes_function_destroy(&one);
  return status;
}

static TesStatus exchange(void *user, double time, const TesVector *u, double *rate) {
  return tesi_balance_exchange(user, time, u, rate);
}

static TesStatus leak(void *user, double sigma, const TesVector *x, const TesVector *b, double *rate) {
  const TesProblem *p = user;
  TesiBalance *balance = p->balance;
  (void)sigma;
  if (is_modal(p)) return TES_OK;
  const TesStatus status = tes_operator_residual(p->in_time->whole, b, x, balance->work);
  return status == TES_OK ? tesi_balance_leak(p, balance->work, rate) : status;
}

static TesStatus create_weights(const TesProblem *p, int boundaries, TesiWeights *weights) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TES_ALLOC(&weights->enter, boundaries + 1);
  TES_TRY(new_vector(p, &weights->source));
  TES_TRY(tes_vector_fill(weights->source, 0));
  for (int i = 0; i < boundaries; i++) {
    TES_TRY(new_vector(p, &weights->enter[i]));
    TES_TRY(tes_vector_fill(weights->enter[i], 0));
  }
done:
  return status;
}

/* Products with them would be 0 in every step. */
static TesStatus drop_zeros(int boundaries, TesiWeights *weights) {
  TesStatus status = TES_OK;
  double norm;
  for (int i = 0; weights->enter && i < boundaries && status == TES_OK; i++) {
    status = tes_vector_norm(weights->enter[i], &norm);
    if (status == TES_OK && norm == 0) tes_vector_destroy(&weights->enter[i]);
  }
  return status;
}

static void free_weights(TesContext *ctx, int boundaries, TesiWeights *weights) {
  tes_vector_destroy(&weights->source);
  for (int i = 0; weights->enter && i < boundaries; i++) tes_vector_destroy(&weights->enter[i]);
  tesi_free(ctx, &weights->enter);
}

TesStatus tesi_balance_create(TesProblem *p, const TesOperator *whole, const TesOperator *carrier,
                              const TesOperator *mass, double sigma, TesiBalance **balance) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiBalance *b;
  TES_NEW(&b);
  *balance = b;
  const int n = b->boundaries = tes_mesh_boundaries(p->mesh);
  b->amounts = (TesiAmounts){.count = n + 1, .exchange = exchange, .leak = leak};
  TES_ALLOC(&b->share, n + 1);
  TES_ALLOC(&b->carried_rate, n + 1);
  TES_ALLOC(&b->g, n + 1);
  TES_ALLOC(&b->flux, n + 1);
  TES_ALLOC(&b->amounts.rate, n + 1);
  TES_ALLOC(&b->amounts.now, n + 1);
  TES_ALLOC(&b->amounts.old, (n + 1) * TESI_STEPPER_OLD);
  b->loaded[0] = b->loaded[1] = NAN;
  TES_TRY(new_vector(p, &b->one));
  TES_TRY(new_vector(p, &b->work));
  TES_TRY(fill_one(p, b->one));
  if (mass) TES_TRY(new_vector(p, &b->mass));
  if (mass) TES_TRY(tes_operator_apply(mass, b->one, b->mass));
  TES_TRY(create_weights(p, n, &b->weights));
  if (carrier) TES_TRY(create_weights(p, n, &b->carried));
  TES_TRY(weigh(p, whole, carrier ? carrier : whole, sigma, b, carrier ? &b->carried : &b->weights));
  TES_TRY(drop_zeros(n, &b->weights));
  TES_TRY(drop_zeros(n, &b->carried));
  for (int i = 0; i < n; i++)
    b->g[i] = (is_given(p, i) && !is_modal(p)) || !p->numbered.given[i].g[0] ? 0 : NAN;
done:
  return status;
}

void tesi_balance_destroy(const TesProblem *p, TesiBalance **balance) {
  TesContext *ctx = p->context;
  TesiBalance *b = *balance;
  if (!b) return;
  for (int i = 0; b->share && i < b->boundaries; i++) tes_vector_destroy(&b->share[i]);
  TesVector **const vectors[] = {&b->one, &b->mass, &b->work};
  for (int i = 0; i < 3; i++) tes_vector_destroy(vectors[i]);
  free_weights(ctx, b->boundaries, &b->weights);
  free_weights(ctx, b->boundaries, &b->carried);
  tesi_free(ctx, &b->carried_rate);
  tesi_free(ctx, &b->share);
  tesi_free(ctx, &b->g);
  tesi_free(ctx, &b->flux);
  tesi_free(ctx, &b->amounts.rate);
  tesi_free(ctx, &b->amounts.now);
  tesi_free(ctx, &b->amounts.old);
  tesi_free(ctx, balance);
}

/* ---- rates --------------------------------------------------------------------------------------------- */

TesStatus tesi_balance_loaded(TesiBalance *b, double time, const TesVector *load) {
  b->loaded[1] = b->loaded[0], b->sum[1] = b->sum[0];
  b->loaded[0] = time;
  return tes_vector_dot(b->one, load, &b->sum[0]);
}

/* The function of a boundary at a time. */
static TesStatus integrate_g(const TesProblem *p, int i, double time, TesVector *work, double *value) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesFunction *g = NULL;
  const TesFunction *given = (p->in_time ? &p->in_time->numbers : &p->numbered)->given[i].g[0];
  TesiBalance *b = p->balance;
  TES_TRY(tesi_function_at(given, time, &g));
  TES_TRY(load_boundary(p, i, g, work));
  TES_TRY(tes_vector_dot(b->one, work, value));
  if (!tesi_function_timed(given)) b->g[i] = *value;
done:
  tes_function_destroy(&g);
  return status;
}

/* rate <- rate + the amounts that are linear in v. */
static TesStatus add_weighed(const TesiBalance *b, const TesiWeights *weights, const TesVector *v,
                             double *rate) {
  TesStatus status = TES_OK;
  for (int i = 0; i <= b->boundaries && status == TES_OK; i++) {
    const TesVector *w = i < b->boundaries ? weights->enter[i] : weights->source;
    double value = 0;
    if (w) status = tes_vector_dot(w, v, &value);
    rate[i] += value;
  }
  return status;
}

TesStatus tesi_balance_carried(TesiBalance *b, const TesVector *e) {
  memset(b->carried_rate, 0, (size_t)b->amounts.count * sizeof(double));
  return add_weighed(b, &b->carried, e, b->carried_rate);
}

TesStatus tesi_balance_exchange(const TesProblem *p, double time, const TesVector *u, double *rate) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiBalance *b = p->balance;
  double all = 0;
  for (int i = 0; i < b->boundaries; i++) {
    double g = b->g[i];
    if (isnan(g)) TES_TRY(integrate_g(p, i, time, b->work, &g));
    all += g, rate[i] += g;
  }
  TES_TRY(add_weighed(b, &b->weights, u, rate));
  for (int i = 0; i <= b->boundaries; i++) rate[i] += b->carried_rate[i];
  const int at = b->loaded[1] == time && b->loaded[0] != time;
  rate[b->boundaries] += b->sum[at] - all;
done:
  return status;
}

TesStatus tesi_balance_leak(const TesProblem *p, const TesVector *r, double *rate) {
  TesStatus status = TES_OK;
  const TesiBalance *b = p->balance;
  for (int i = 0; i < b->boundaries && status == TES_OK; i++) {
    double value = 0;
    if (b->share[i]) status = tes_vector_dot(b->share[i], r, &value);
    rate[i] -= value;
  }
  return status;
}

/* ---- results ------------------------------------------------------------------------------------------- */

TesStatus tesi_balance_begin(TesProblem *p) {
  TesiBalance *b = p->balance;
  const size_t n = (size_t)b->amounts.count;
  memset(b->amounts.now, 0, n * sizeof(double));
  memset(b->amounts.old, 0, TESI_STEPPER_OLD * n * sizeof(double));
  return tes_vector_dot(b->mass, p->u, &b->start);
}

/* The residual of all rows, and the rates that follow from it. */
static TesStatus find_steady(TesProblem *p, const TesOperator *whole) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesiBalance *b = p->balance;
  TesVector *load = NULL;
  TES_TRY(new_vector(p, &load));
  TES_TRY(p->equation->load_all(p, whole, load));
  TES_TRY(tesi_balance_loaded(b, 0, load));
  memset(b->amounts.now, 0, (size_t)b->amounts.count * sizeof(double));
  TES_TRY(tesi_balance_exchange(p, 0, p->u, b->amounts.now));
  TES_TRY(tes_operator_residual(whole, load, p->u, b->work));
  TES_TRY(tesi_balance_leak(p, b->work, b->amounts.now));
done:
  tes_vector_destroy(&load);
  return status;
}

TesStatus tesi_balance_steady(TesProblem *p) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  TesSpace *full = NULL;
  TesOperator *whole = NULL;
  TES_TRY(tesi_problem_create_full(p, &full));
  TES_TRY(tesi_operator_on(p->op, full, TES_DOUBLE, &whole));
  if (!p->balance) TES_TRY(tesi_balance_create(p, whole, NULL, NULL, 0, &p->balance));
  TES_TRY(find_steady(p, whole));
done:
  tes_operator_destroy(&whole);
  tes_space_destroy(&full);
  return status;
}

TesBalance tesi_balance_result(const TesProblem *p) {
  TesiBalance *b = p->balance;
  TesBalance result = {.in = NAN, .out = NAN, .sources = NAN, .stored = NAN, .defect = NAN};
  double now;
  if (!b || isnan(b->start)) return result;
  result = (TesBalance){.flux = b->flux, .sources = b->amounts.now[b->boundaries]};
  const double *rate = p->in_time ? b->amounts.rate : b->amounts.now;
  for (int i = 0; i < b->boundaries; i++) {
    result.in += fmax(b->amounts.now[i], 0);
    result.out += fmax(-b->amounts.now[i], 0);
    b->flux[i] = -rate[i] / (p->in_time && p->in_time->march.desc.method == TES_TIME_CRANK_NICOLSON ? 2 : 1);
  }
  if (b->mass && tes_vector_dot(b->mass, p->u, &now) == TES_OK) result.stored = now - b->start;
  result.defect = result.in + result.sources - result.out - result.stored;
  return result;
}
