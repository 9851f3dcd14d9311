/* The residual estimator, and the dual-weighted one: adapt.h. */
#include "base/ascending.h"
#include "problem/adapt/dual.h"
#include "problem/adapt/estimate.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/work.h"

enum { CHUNK = 8 }; /* batches that a thread takes at a time */

static int threads_for(const TesiResidual *s) {
  return tesi_team_threads(s->space->context, 16 * s->space->cells * s->space->cell_nodes);
}

/* Weights of |r|^2, h |j|^2 and, of flows, |div u|^2. */
typedef struct CellWeights {
  double inside, face, divergence;
} CellWeights;

/* Data of a cell: degree, size, diffusion, speed. */
typedef struct CellData {
  double k, h, a, speed;
} CellData;

typedef CellWeights (*Weigher)(const CellData *cell);

enum { NORMS = 2 };
/* Integrals over a batch of a flow: |u|^2, p^2, p, 1. */
typedef struct Integrals {
  double u2, p2, p, one;
} Integrals;

/* Indicators in several norms, from the same residuals. */
typedef struct Estimate {
  const TesiResidual *s;
  int norms;
  Weigher weigher[NORMS];
  TesiResidualAt *at;                /* [threads] */
  double *face[NORMS], *eta2[NORMS]; /* [cells]; face: weights of h |j|^2 */
  double *face_across[NORMS];        /* of cells of other ranks */
  double *jump;                      /* [pairs] h |j|^2, one half of it inside */
  Integrals *integrals;              /* [batches of cells]; of flows */
} Estimate;

/* For the energy norm, with a at the centre of the cell: adapt.h. */
static CellWeights weigh_energy(const CellData *c) {
  const double k = c->k, h = c->h, a = c->a;
  return (CellWeights){h * h / (8 * k * k * a), 1 / (8 * k * a), a};
}

/* For the L2 norm of the solution; flows: of the velocity. */
static CellWeights weigh_l2(const CellData *c) {
  const double k = c->k, h = c->h, rate = k * c->speed / h + 2 * k * k * c->a / (h * h),
               time = rate > 0 ? 1 / rate : 0;
  return (CellWeights){time * time, time * time * k / (h * h), h * h / (k * k)};
}

/* For the L2 norm of a flow's pressure: a times the energy, since the pressure balances the residual. */
static CellWeights weigh_pressure(const CellData *c) {
  const double k = c->k, h = c->h, a = c->a;
  return (CellWeights){h * h / (8 * k * k), 1 / (8 * k), a * a};
}

/* sum[lane] <- sum over fields and points of weight v^2. */
static void sum_squares(const TesiResidualAt *at, int fields, const double *v, double sum[TESI_LANES]) {
  memset(sum, 0, TESI_LANES * sizeof *sum);
  for (int c = 0; c < fields; c++) at->s->loops.squares(at->points, at->weight, v + c * at->n, sum);
}

static void sum_weights(const TesiResidualAt *at, double sum[TESI_LANES]) {
  memset(sum, 0, TESI_LANES * sizeof *sum);
  for (int64_t i = 0; i < at->n; i += TESI_LANES)
    for (int l = 0; l < TESI_LANES; l++) sum[l] += at->weight[i + l];
}

static Integrals integrate(const TesiResidualAt *at, const double size[TESI_LANES]) {
  double u2[TESI_LANES], p2[TESI_LANES], p[TESI_LANES] = {0};
  Integrals sum = {0};
  sum_squares(at, at->s->components, at->u, u2);
  sum_squares(at, 1, at->p, p2);
  for (int64_t i = 0; i < at->n; i += TESI_LANES)
    for (int l = 0; l < TESI_LANES; l++) p[l] += at->weight[i + l] * at->p[i + l];
  for (int l = 0; l < at->count; l++) sum.u2 += u2[l], sum.p2 += p2[l], sum.p += p[l], sum.one += size[l];
  return sum;
}

static void add_cells(const void *data, TesiSpan span) {
  const Estimate *e = data;
  const TesiResidual *s = e->s;
  TesiResidualAt *at = &e->at[span.thread];
  for (int64_t b = span.first; b < span.end; b++) {
    double inside[TESI_LANES], divergence[TESI_LANES] = {0}, size[TESI_LANES], a[TESI_LANES],
                               speed[TESI_LANES];
    tesi_residual_cells(at, b);
    sum_squares(at, s->components, at->r, inside);
    if (s->pressure) sum_squares(at, 1, at->divergence, divergence);
    sum_weights(at, size);
    if (e->integrals) e->integrals[b] = integrate(at, size);
    tesi_residual_diffusions(at, a);
    tesi_residual_speeds(at, speed);
    for (int l = 0; l < at->count; l++) {
      const CellData cell = {s->space->degree, pow(size[l], 1.0 / s->rule.dim), a[l], speed[l]};
      for (int i = 0; i < e->norms; i++) {
        const CellWeights weight = e->weigher[i](&cell);
        e->face[i][at->item[l]] = weight.face;
        e->eta2[i][at->item[l]] = weight.inside * inside[l] + weight.divergence * divergence[l];
      }
    }
  }
}

static void find_jumps(const void *data, TesiSpan span) {
  const Estimate *e = data;
  TesiResidualAt *at = &e->at[span.thread];
  for (int64_t b = span.first; b < span.end; b++) {
    double jump[TESI_LANES], area[TESI_LANES];
    const bool counts = tesi_residual_faces(at, b);
    if (counts) sum_squares(at, e->s->components, at->r, jump);
    if (counts) sum_weights(at, area);
    for (int l = 0; l < at->count; l++) {
      const double share = at->other[l] < 0 ? 1 : 0.5;
      e->jump[at->item[l]] = counts ? share * (e->s->rule.dim == 3 ? sqrt(area[l]) : area[l]) * jump[l] : 0;
    }
  }
}

/* Both cells of a face get a contribution with the data of the finer cell. Cells of other ranks get their
 * contribution on their rank. The order of the sums is the order of the pairs. */
static void add_jumps(const Estimate *e) {
  const int64_t cells = e->s->space->cells;
  for (int64_t i = 0; i < e->s->pairs; i++) {
    const TesiFacePair *pair = &e->s->pair[i];
    for (int n = 0; n < e->norms; n++) {
      const double eta =
          (pair->cell < cells ? e->face[n][pair->cell] : e->face_across[n][pair->cell - cells]) * e->jump[i];
      if (pair->cell < cells) e->eta2[n][pair->cell] += eta;
      if (pair->other >= 0 && pair->other < cells) e->eta2[n][pair->other] += eta;
    }
  }
}

static bool is_flow(const TesProblem *problem) {
  return problem->equation->own && problem->equation->own->reaction;
}

static TesStatus check_mesh(const TesProblem *problem) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TES_CHECK(problem->mesh->kind == TES_MESH_FOREST,
            "errors are estimated on meshes of kind forest, which can be refined");
  TES_CHECK(problem->space->parts == 1 || problem->equation->couples || is_flow(problem),
            "there is no estimator for %s", problem->equation->name);
done:
  return status;
}

static TesStatus take_faces(const TesiResidual *s, const double *face, double **across) {
  TesContext *ctx = s->space->context;
  TesStatus status = TES_OK;
  double *shown = NULL;
  TES_ALLOC(&shown, s->across.shown);
  for (int64_t i = 0; i < s->across.shown; i++) shown[i] = face[s->across.cell[i]];
  TES_TRY(tesi_across_values(s->space, &s->across, sizeof *shown, shown, across));
done:
  tesi_free(ctx, &shown);
  return status;
}

/* eta2[norms][cells] <- indicators; *sum <- integrals of all ranks (NULL: not wanted). */
static TesStatus find_indicators(const TesProblem *problem, const TesiResidual *s, int norms,
                                 const Weigher *weigher, double *const *eta2, Integrals *sum) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  Estimate e = {.s = s, .norms = norms};
  const int threads = threads_for(s);
  double time[3] = {tesi_now()};
  TES_TRY(tesi_residual_at_create(s, threads, &e.at));
  for (int i = 0; i < norms; i++) {
    e.weigher[i] = weigher[i], e.eta2[i] = eta2[i];
    TES_ALLOC(&e.face[i], s->space->cells);
  }
  TES_ALLOC(&e.jump, s->pairs);
  if (sum) TES_ALLOC(&e.integrals, s->cells.batches);
  TES_TRY(tesi_work_share(ctx, threads, s->cells.batches, CHUNK, add_cells, &e));
  time[1] = tesi_now();
  for (int i = 0; i < norms && tesi_ranks(ctx) > 1; i++) TES_TRY(take_faces(s, e.face[i], &e.face_across[i]));
  TES_TRY(tesi_work_share(ctx, threads, s->faces.batches, CHUNK, find_jumps, &e));
  add_jumps(&e);
  time[2] = tesi_now();
  for (int64_t b = 0; sum && b < s->cells.batches; b++) {
    const Integrals *of = &e.integrals[b];
    *sum = (Integrals){sum->u2 + of->u2, sum->p2 + of->p2, sum->p + of->p, sum->one + of->one};
  }
  if (sum) tesi_reduce(ctx, TESI_SUM, 4, &sum->u2);
  tesi_log(ctx, TES_LOG_DETAIL, "estimate: cells take %.3g s, faces %.3g s", time[1] - time[0],
           time[2] - time[1]);
done:
  tesi_residual_at_free(ctx, threads, &e.at);
  for (int i = 0; i < NORMS; i++) tesi_free(ctx, &e.face[i]), tesi_free(ctx, &e.face_across[i]);
  tesi_free(ctx, &e.jump);
  tesi_free(ctx, &e.integrals);
  return status;
}

TesStatus tes_estimate_residual(const TesProblem *problem, double *eta2) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiResidual *s = NULL;
  TES_TRY(check_mesh(problem));
  TES_TRY(tesi_residual_create(problem, &s));
  TES_TRY(find_indicators(problem, s, 1, (const Weigher[]){s->l2 ? weigh_l2 : weigh_energy}, &eta2, NULL));
done:
  tesi_residual_destroy(ctx, &s);
  return status;
}

static double root(const TesContext *ctx, const double *eta2, int64_t cells) {
  double sum = 0;
  for (int64_t c = 0; c < cells; c++) sum += eta2[c];
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  return sqrt(sum);
}

/* *rest <- the square root of the sum over all cells but a twentieth, the cells with the largest values. On one rank
 * eta2 is sorted. */
static TesStatus find_rest(TesContext *ctx, int64_t cells, double *eta2, double *rest) {
  enum { PART = 20 };
  TesStatus status = TES_OK;
  int8_t *mark = NULL;
  double sum = 0, least = -INFINITY; /* sum: of the unmarked cells; least: minus the least marked value */
  const int64_t all = tesi_reduce_count(ctx, cells), most = (all + PART - 1) / PART;
  if (tesi_ranks(ctx) == 1) {
    qsort(eta2, (size_t)cells, sizeof *eta2, tesi_ascending_double);
    *rest = root(ctx, eta2, cells - most);
    return TES_OK;
  }
  TES_TRY(tesi_agree(ctx, tesi_alloc(ctx, (size_t)cells + 1, sizeof *mark, &mark)));
  const int64_t marked = tesi_reduce_count(
      ctx, tes_mark_cells(ctx, TES_MARK_FRACTION, (double)most / (double)all, cells, eta2, mark));
  for (int64_t c = 0; c < cells; c++) {
    if (!mark[c]) sum += eta2[c];
    if (mark[c] && -eta2[c] > least) least = -eta2[c];
  }
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  tesi_reduce(ctx, TESI_MAXIMUM, 1, &least);
  *rest = sqrt(sum + (double)(marked - most) * -least); /* cells with equal values are marked together */
done:
  tesi_free(ctx, &mark);
  return status;
}

TesStatus tes_estimate_flow(const TesProblem *problem, TesFlowEstimate *estimate) {
  static const Weigher weigher[NORMS] = {weigh_l2, weigh_pressure};
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiResidual *s = NULL;
  double *eta2[NORMS] = {NULL};
  Integrals sum = {0};
  *estimate = (TesFlowEstimate){NAN, NAN, NAN, NAN, NAN};
  if (!is_flow(problem)) return TES_OK;
  tesi_work_begin_results(ctx, problem->in_time != NULL, "the estimate of the error");
  TES_TRY(tesi_residual_create(problem, &s));
  for (int i = 0; i < NORMS; i++) TES_ALLOC(&eta2[i], s->space->cells);
  TES_TRY(find_indicators(problem, s, NORMS, weigher, eta2, &sum));
  estimate->velocity = root(ctx, eta2[0], s->space->cells);
  estimate->pressure = root(ctx, eta2[1], s->space->cells);
  TES_TRY(find_rest(ctx, s->space->cells, eta2[0], &estimate->velocity_rest));
  estimate->velocity_norm = sqrt(sum.u2);
  estimate->pressure_norm = sqrt(fmax(sum.p2 - sum.p * sum.p / sum.one, 0));
done:
  tesi_work_end(ctx);
  tesi_residual_destroy(ctx, &s);
  for (int i = 0; i < NORMS; i++) tesi_free(ctx, &eta2[i]);
  return status;
}

/* ---- dual-weighted residuals --------------------------------------------------------------------------- */

typedef struct Weights {
  const TesiCellView *dual,
      *space;      /* of z; of the solution: of the first component, whose nodes are the nodes of all */
  double *z, *low; /* z and I_k z: [components][length of dual], [components][length of space] */
  double *z_across, *low_across; /* of cells of other ranks */
  TesiCellRule dual_rule;
  TesiSideTables dual_side;
  bool streamline; /* the solution has streamline terms */
} Weights;

/* z, and I_k z, which interpolates z at those nodes of the solution that do not hang. */
static TesStatus take_dual(const TesProblem *problem, const TesProblem *dual, Weights *w) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  const TesiTransport *transport = tesi_transport_of(problem->op);
  TesVector *low = NULL;
  w->streamline = transport && transport->streamline;
  TES_TRY(tesi_space_cells(dual->space->part[0], &w->dual));
  TES_TRY(tesi_space_cells(problem->space->part[0], &w->space));
  TES_TRY(tesi_vector_create_on(problem->space->layout, TES_DOUBLE, &low));
  TES_TRY(tes_space_carry(dual->space, dual->u, problem->space, low));
  TES_TRY(tesi_vector_read(dual->u, &w->z));
  TES_TRY(tesi_vector_read(low, &w->low));
done:
  tes_vector_destroy(&low);
  return status;
}

typedef struct Weigh {
  const TesiResidual *s;
  const Weights *w;
  TesiResidualAt *at; /* [threads] */
  double *eta, *jump; /* [cells], [pairs] */
} Weigh;

static void weigh_cells(const void *data, TesiSpan span) {
  const Weigh *d = data;
  const TesiResidual *s = d->s;
  const Weights *w = d->w;
  TesiResidualAt *at = &d->at[span.thread];
  for (int64_t b = span.first; b < span.end; b++) {
    double sum[TESI_LANES] = {0};
    double *const high = at->spare[TESI_SPARE - 2], *const low = at->divergence, *const along = at->p;
    tesi_residual_cells(at, b);
    for (int c = 0; c < s->components; c++) {
      const double *const r = at->r + c * at->n;
      tesi_residual_read(at, w->dual, false, 1, w->z + c * w->dual->length, NULL, at->local);
      tesi_residual_evaluate(at, w->dual->n, w->dual_rule.B, at->local, high);
      tesi_residual_read(at, w->space, false, 1, w->low + c * w->space->length, NULL, at->local);
      tesi_residual_evaluate(at, w->space->n, s->rule.B, at->local, low);
      for (int64_t i = 0; i < at->n; i++) high[i] -= low[i];
      if (w->streamline) tesi_residual_streamline(at, low, along);
      for (int64_t i = 0; w->streamline && i < at->n; i++) high[i] -= along[i];
      for (int64_t i = 0; i < at->n; i++) sum[i % TESI_LANES] += at->weight[i] * r[i] * high[i];
    }
    for (int l = 0; l < at->count; l++) d->eta[at->item[l]] = sum[l];
  }
}

static void weigh_faces(const void *data, TesiSpan span) {
  const Weigh *d = data;
  const TesiResidual *s = d->s;
  const Weights *w = d->w;
  TesiResidualAt *at = &d->at[span.thread];
  const int64_t nodes[2] = {w->dual->cell_nodes, w->space->cell_nodes};
  for (int64_t b = span.first; b < span.end; b++) {
    double sum[TESI_LANES] = {0}, *const high = at->spare[0], *const low = at->spare[1];
    const bool counts = tesi_residual_faces(at, b);
    for (int c = 0; counts && c < s->components; c++) {
      const double *const r = at->r + c * at->n;
      tesi_residual_read(at, w->dual, false, s->components, w->z, w->z_across, at->local);
      tesi_residual_face_values(at, &w->dual_side, at->local + c * nodes[0] * TESI_LANES, high);
      tesi_residual_read(at, w->space, false, s->components, w->low, w->low_across, at->local);
      tesi_residual_face_values(at, &s->table.side, at->local + c * nodes[1] * TESI_LANES, low);
      for (int64_t i = 0; i < at->n; i++) sum[i % TESI_LANES] += at->weight[i] * r[i] * (high[i] - low[i]);
    }
    for (int l = 0; l < at->count; l++) d->jump[at->item[l]] = (at->other[l] < 0 ? 1 : 0.5) * sum[l];
  }
}

static TesStatus weigh(TesContext *context, const TesiResidual *s, Weights *w, double *eta) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  const int threads = threads_for(s);
  Weigh job = {.s = s, .w = w, .eta = eta};
  TES_TRY(tesi_residual_at_create(s, threads, &job.at));
  TES_ALLOC(&job.jump, s->pairs);
  TES_TRY(tesi_cell_rule(w->dual, s->rule.q, &w->dual_rule));
  tesi_side_tables(w->dual->n, &s->face_rule, &w->dual_side);
  TES_TRY(tesi_work_share(ctx, threads, s->cells.batches, CHUNK, weigh_cells, &job));
  TES_TRY(tesi_work_share(ctx, threads, s->faces.batches, CHUNK, weigh_faces, &job));
  for (int64_t i = 0; i < s->pairs; i++) {
    const TesiFacePair *pair = &s->pair[i];
    if (pair->cell < s->space->cells) eta[pair->cell] -= job.jump[i];
    if (pair->other >= 0 && pair->other < s->space->cells) eta[pair->other] -= job.jump[i];
  }
done:
  tesi_residual_at_free(ctx, threads, &job.at);
  tesi_free(ctx, &job.jump);
  return status;
}

/* Which errors are estimated, and the problem with the data for it. */
typedef struct Asked {
  const TesProblem *problem;
  const TesValue *goal;
} Asked;

static TesStatus add_goal(void *user, const TesSpace *space, TesVector *b) {
  const Asked *asked = user;
  return tesi_goal_is_expression(asked->goal) ? tesi_goal_add_expression(asked->problem, space, asked->goal, b)
                                              : tesi_goal_load(space, asked->goal, b);
}

/* The dual problem with one degree more, and the goal as its load. For a force its value on the force's boundary is
 * -1. */
static TesStatus solve_dual(const TesProblem *problem, const TesValue *goal, TesProblem **dual) {
  Asked asked = {problem, goal};
  const bool force = goal->kind == TES_VALUE_FORCE;
  return tesi_dual_solve(problem,
                         &(TesiDual){.degree = problem->space->degree + 1,
                                     .tolerance = 1e-6,
                                     .stabilization = problem->variant.stabilization,
                                     .boundary = force ? goal->number : -1,
                                     .component = force ? tesi_goal_component(goal) : 0,
                                     .add_load = add_goal,
                                     .user = &asked},
                         dual);
}

static TesStatus check_goal(const TesProblem *problem, const TesValue *goal) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TES_CHECK(!problem->in_time, "dual-weighted residuals are for steady problems");
  TES_CHECK(problem->space->degree < TESI_FOREST_DEGREE,
            "adapt.estimator: dual-weighted residuals need degree %d or less, the space has %d",
            TESI_FOREST_DEGREE - 1, problem->space->degree);
  TES_CHECK(!problem->op->singular, "adapt.goal: only fluxes are given on the boundary and c = 0: u is "
                                    "determined up to a constant, and so is "
                                    "the goal. "
                                    "Give a Dirichlet or Robin condition somewhere, or c > 0");
  TES_CHECK(!problem->motions,
            "adapt.goal: %d rigid motions are held by no boundary, and so the goal is not determined",
            problem->motions);
  TES_CHECK(goal->kind != TES_VALUE_FORCE ||
                tesi_problem_given(problem, goal->number, tesi_goal_component(goal)),
            "adapt.goal: the goal is the force on %s in direction %s, where no displacement is given",
            tes_mesh_boundary_name(problem->mesh, goal->number), goal->of);
  const bool integral = goal->kind == TES_VALUE_MEAN || goal->kind == TES_VALUE_INTEGRAL;
  TES_CHECK(!integral || goal->where != TES_ON_BOUNDARY ||
                !tesi_problem_given(problem, goal->number, tesi_goal_component(goal)),
            "adapt.goal: the goal is the %s on %s, where the values are given: choose a boundary with a "
            "neumann or robin condition",
            goal->kind == TES_VALUE_MEAN ? "mean" : "integral",
            tes_mesh_boundary_name(problem->mesh, goal->number));
  if (tesi_goal_is_expression(goal)) TES_TRY(tesi_goal_check_expression(problem, goal));
done:
  return status;
}

TesStatus tesi_estimate_check(const TesProblem *problem, const TesValue *goal) {
  const TesStatus status = check_mesh(problem);
  return status == TES_OK ? check_goal(problem, goal) : status;
}

TesStatus tesi_estimate_dwr(const TesProblem *problem, const TesValue *goal, double *eta) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesProblem *dual = NULL;
  TesiResidual *s = NULL;
  Weights w = {0};
  TES_TRY(tesi_estimate_check(problem, goal));
  TES_TRY(solve_dual(problem, goal, &dual));
  TES_TRY(take_dual(problem, dual, &w));
  TES_TRY(tesi_residual_create(problem, &s));
  if (tesi_ranks(ctx) > 1) {
    TES_TRY(tesi_residual_read_across(s, w.dual, s->components, w.z, &w.z_across));
    TES_TRY(tesi_residual_read_across(s, w.space, s->components, w.low, &w.low_across));
  }
  TES_TRY(weigh(ctx, s, &w, eta));
done:
  tesi_residual_destroy(ctx, &s);
  tesi_free(ctx, &w.z);
  tesi_free(ctx, &w.low);
  tesi_free(ctx, &w.z_across);
  tesi_free(ctx, &w.low_across);
  tes_problem_destroy(&dual);
  return status;
}

TesStatus tes_estimate_dwr(const TesProblem *problem, const TesGoal *goal, double *eta) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesValue value;
  TES_TRY(check_mesh(problem));
  TES_TRY(tesi_goal_number(problem->mesh, problem->space->parts, goal, &value));
  TES_TRY(tesi_estimate_dwr(problem, &value, eta));
done:
  return status;
}
