/* The residual estimator, and the dual-weighted one: adapt.h. */
#include "problem/adapt/dual.h"
#include "problem/adapt/estimate.h"
#include "operator/operator.h"
#include "operator/transport/transport_operator.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/work.h"

/* values[components][n] */
static double square(int components, const double *values, const double *weight, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < components * n; i++) sum += weight[i % n] * values[i] * values[i];
  return sum;
}

static double sum_of(const double *weight, int64_t n) {
  double sum = 0;
  for (int64_t p = 0; p < n; p++) sum += weight[p];
  return sum;
}

enum { CHUNK = 64 }; /* cells or faces that a thread takes at a time */

static int threads_for(const TesiResidual *s) {
  return tesi_team_threads(s->space->context, 16 * s->space->cells * s->space->cell_nodes);
}

/* Weights of |r|^2, h |j|^2 and, of flows, |div u|^2. */
typedef struct CellWeights {
  double inside, face, divergence;
} CellWeights;

typedef CellWeights (*Weigher)(const TesiResidual *s, int64_t cell, const TesiCellPoints *at);

enum { NORMS = 2 };

/* Indicators in several norms, from the same residuals. */
typedef struct Estimate {
  const TesiResidual *s;
  int norms;
  Weigher weigher[NORMS];
  TesiCellPoints *points;            /* [threads] */
  double *face[NORMS], *eta2[NORMS]; /* [cells]; face: weights of h |j|^2 */
  double *face_across[NORMS];        /* of cells of other ranks */
} Estimate;

static double size_of(const TesiResidual *s, const TesiCellPoints *at) {
  return pow(sum_of(at->weight, s->rule.points), 1.0 / s->rule.dim);
}

/* For the energy norm, with a at the centre of the cell: adapt.h. */
static CellWeights weigh_energy(const TesiResidual *s, int64_t cell, const TesiCellPoints *at) {
  const double k = s->space->degree, h = size_of(s, at), a = tesi_residual_diffusion(s, cell);
  return (CellWeights){h * h / (8 * k * k * a), 1 / (8 * k * a), a};
}

/* For the L2 norm of the solution; flows: of the velocity. */
static CellWeights weigh_l2(const TesiResidual *s, int64_t cell, const TesiCellPoints *at) {
  const double k = s->space->degree, h = size_of(s, at), a = tesi_residual_diffusion(s, cell),
               rate = k * tesi_residual_speed(s, cell, at) / h + 2 * k * k * a / (h * h),
               time = rate > 0 ? 1 / rate : 0;
  return (CellWeights){time * time, time * time * k / (h * h), h * h / (k * k)};
}

/* For the L2 norm of a flow's pressure: a times the energy, since the pressure balances the residual. */
static CellWeights weigh_pressure(const TesiResidual *s, int64_t cell, const TesiCellPoints *at) {
  const double k = s->space->degree, h = size_of(s, at), a = tesi_residual_diffusion(s, cell);
  return (CellWeights){h * h / (8 * k * k), 1 / (8 * k), a * a};
}

static void add_cells(const void *data, TesiSpan span) {
  const Estimate *e = data;
  const TesiResidual *s = e->s;
  TesiCellPoints *at = &e->points[span.thread];
  for (int64_t c = span.first; c < span.end; c++) {
    double r[3 * TESI_CELL_POINTS], divergence = 0;
    tesi_residual_cell(s, c, at, r);
    const double inside = square(s->components, r, at->weight, s->rule.points);
    if (s->pressure) {
      tesi_residual_divergence(s, c, at, r);
      divergence = square(1, r, at->weight, s->rule.points);
    }
    for (int i = 0; i < e->norms; i++) {
      const CellWeights weight = e->weigher[i](s, c, at);
      e->face[i][c] = weight.face;
      e->eta2[i][c] = weight.inside * inside + weight.divergence * divergence;
    }
  }
}

/* Both cells of a face get a contribution with the data of the finer cell. Cells of other ranks get their
 * contribution on their rank. */
static void add_jump(const Estimate *e, const TesiFacePair *pair, double jump) {
  const int64_t cells = e->s->space->cells;
  const double *from;
  for (int n = 0; n < e->norms; n++) {
    from = pair->cell < cells ? &e->face[n][pair->cell] : &e->face_across[n][pair->cell - cells];
    const double eta = *from * jump;
    if (pair->cell < cells) {
#pragma omp atomic
      e->eta2[n][pair->cell] += eta;
    }
    if (pair->other < 0 || pair->other >= cells) continue;
#pragma omp atomic
    e->eta2[n][pair->other] += eta;
  }
}

static void add_faces(const void *data, TesiSpan span) {
  const Estimate *e = data;
  const TesiResidual *s = e->s;
  for (int64_t i = span.first; i < span.end; i++) {
    const TesiFacePair *pair = &s->pair[i];
    double j[3 * TESI_FACE_MOST], weight[TESI_FACE_MOST];
    if (!tesi_residual_face(s, i, j, weight)) continue;
    const double area = sum_of(weight, s->face_rule.points), h = s->rule.dim == 3 ? sqrt(area) : area,
                 jump = h * square(s->components, j, weight, s->face_rule.points);
    add_jump(e, pair, (pair->other < 0 ? 1 : 0.5) * jump);
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

/* eta2[norms][cells] <- indicators. */
static TesStatus find_indicators(const TesProblem *problem, const TesiResidual *s, int norms,
                                 const Weigher *weigher, double *const *eta2) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  Estimate e = {.s = s, .norms = norms};
  double time[3] = {tesi_now()};
  TES_ALLOC(&e.points, threads_for(s));
  for (int i = 0; i < norms; i++) {
    e.weigher[i] = weigher[i], e.eta2[i] = eta2[i];
    TES_ALLOC(&e.face[i], s->space->cells);
  }
  TES_TRY(tesi_work_share(ctx, threads_for(s), s->space->cells, CHUNK, add_cells, &e));
  time[1] = tesi_now();
  for (int i = 0; i < norms && tesi_ranks(ctx) > 1; i++) TES_TRY(take_faces(s, e.face[i], &e.face_across[i]));
  /* the order of additions differs between runs */
  TES_TRY(tesi_work_share(ctx, tesi_context_deterministic(ctx) ? 1 : threads_for(s), s->pairs, CHUNK,
                          add_faces, &e));
  time[2] = tesi_now();
  tesi_log(ctx, TES_LOG_DETAIL, "estimate: cells take %.3g s, faces %.3g s", time[1] - time[0],
           time[2] - time[1]);
done:
  tesi_free(ctx, &e.points);
  for (int i = 0; i < NORMS; i++) tesi_free(ctx, &e.face[i]), tesi_free(ctx, &e.face_across[i]);
  return status;
}

TesStatus tes_estimate_residual(const TesProblem *problem, double *eta2) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiResidual *s = NULL;
  TES_TRY(check_mesh(problem));
  TES_TRY(tesi_residual_create(problem, &s));
  TES_TRY(find_indicators(problem, s, 1, (const Weigher[]){s->l2 ? weigh_l2 : weigh_energy}, &eta2));
done:
  tesi_residual_destroy(ctx, &s);
  return status;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double root(const TesContext *ctx, const double *eta2, int64_t cells) {
  double sum = 0;
  for (int64_t c = 0; c < cells; c++) sum += eta2[c];
  tesi_reduce(ctx, TESI_SUM, 1, &sum);
  return sqrt(sum);
}

static TesStatus integral_of(const TesProblem *p, const char *of, double *value) {
  return tes_problem_value(p, &(TesValue){.kind = TES_VALUE_INTEGRAL, .of = of}, value);
}

static TesStatus find_norms(const TesProblem *p, TesFlowEstimate *estimate) {
  TesContext *ctx = p->context;
  TesStatus status = TES_OK;
  double square, mean, volume;
  TES_TRY(integral_of(p, p->mesh->dim == 2 ? "u*u + v*v" : "u*u + v*v + w*w", &square));
  estimate->velocity_norm = sqrt(square);
  TES_TRY(integral_of(p, "p*p", &square));
  TES_TRY(integral_of(p, "p", &mean));
  TES_TRY(integral_of(p, "1", &volume));
  estimate->pressure_norm = sqrt(fmax(square - mean * mean / volume, 0));
done:
  return status;
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
    qsort(eta2, (size_t)cells, sizeof *eta2, by_size);
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
  *estimate = (TesFlowEstimate){NAN, NAN, NAN, NAN, NAN};
  if (!is_flow(problem)) return TES_OK;
  tesi_work_begin_results(ctx, problem->in_time != NULL, "the estimate of the error");
  TES_TRY(tesi_residual_create(problem, &s));
  for (int i = 0; i < NORMS; i++) TES_ALLOC(&eta2[i], s->space->cells);
  TES_TRY(find_indicators(problem, s, NORMS, weigher, eta2));
  estimate->velocity = root(ctx, eta2[0], s->space->cells);
  estimate->pressure = root(ctx, eta2[1], s->space->cells);
  TES_TRY(find_rest(ctx, s->space->cells, eta2[0], &estimate->velocity_rest));
  TES_TRY(find_norms(problem, estimate));
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
  TES_ALLOC(&w->z, dual->space->length);
  TES_ALLOC(&w->low, problem->space->length);
  TES_TRY(tesi_vector_create_on(problem->space->layout, TES_DOUBLE, &low));
  TES_TRY(tes_space_carry(dual->space, dual->u, problem->space, low));
  TES_TRY(tes_vector_get(dual->u, w->z));
  TES_TRY(tes_vector_get(low, w->low));
done:
  tes_vector_destroy(&low);
  return status;
}

static void weigh_cell(const TesiResidual *s, const Weights *w, int64_t cell, TesiCellPoints *at, double *eta) {
  double r[3 * TESI_CELL_POINTS], high[TESI_CELL_POINTS], low[TESI_CELL_POINTS],
      along[TESI_CELL_POINTS] = {0}, local[TESI_CELL_MOST];
  const int64_t n = s->rule.points;
  tesi_residual_cell(s, cell, at, r);
  double sum = 0;
  for (int c = 0; c < s->components; c++) {
    tesi_cells_read(w->dual, cell, w->z + c * w->dual->length, local);
    tesi_cell_evaluate(&w->dual_rule, -1, local, high);
    tesi_cells_read(w->space, cell, w->low + c * w->space->length, local);
    tesi_cell_evaluate(&s->rule, -1, local, low);
    if (w->streamline) tesi_residual_streamline(s, cell, at, local, along);
    for (int64_t p = 0; p < n; p++) sum += at->weight[p] * r[c * n + p] * (high[p] - low[p] - along[p]);
  }
  *eta = sum;
}

/* local[nodes] <- z, or I_k z (`of_low`), of a component in a cell, which may be another rank's. */
static void read_weight(const TesiResidual *s, const Weights *w, bool of_low, int component, int64_t cell,
                        double *local) {
  const TesiCellView *view = of_low ? w->space : w->dual;
  const int64_t across = cell - s->space->cells, nodes = view->cell_nodes;
  if (across < 0)
    tesi_cells_read(view, cell, (of_low ? w->low : w->z) + component * view->length, local);
  else
    memcpy(local, (of_low ? w->low_across : w->z_across) + (across * s->components + component) * nodes,
           (size_t)nodes * sizeof *local);
}

static void weigh_face(const TesiResidual *s, const Weights *w, int64_t i, double *eta) {
  const TesiFacePair *pair = &s->pair[i];
  double j[3 * TESI_FACE_MOST], weight[TESI_FACE_MOST], xi[3 * TESI_FACE_MOST], high[TESI_FACE_MOST],
      low[TESI_FACE_MOST], local[TESI_CELL_MOST];
  const int n = s->face_rule.points;
  double sum = 0;
  if (!tesi_residual_face(s, i, j, weight)) return;
  tesi_pair_points(s, pair, false, xi);
  for (int c = 0; c < s->components; c++) {
    read_weight(s, w, false, c, pair->cell, local);
    tesi_local_values(s->rule.dim, w->dual->degree, local, n, xi, high, NULL);
    read_weight(s, w, true, c, pair->cell, local);
    tesi_local_values(s->rule.dim, w->space->degree, local, n, xi, low, NULL);
    for (int p = 0; p < n; p++) sum += weight[p] * j[c * n + p] * (high[p] - low[p]);
  }
  const double share = pair->other < 0 ? 1 : 0.5;
  if (pair->cell < s->space->cells) {
#pragma omp atomic
    eta[pair->cell] -= share * sum;
  }
  if (pair->other < 0 || pair->other >= s->space->cells) return;
#pragma omp atomic
  eta[pair->other] -= share * sum;
}

typedef struct Weigh {
  const TesiResidual *s;
  const Weights *w;
  TesiCellPoints *points; /* [threads] */
  double *eta;
} Weigh;

static void weigh_cells(const void *data, TesiSpan span) {
  const Weigh *d = data;
  for (int64_t c = span.first; c < span.end; c++)
    weigh_cell(d->s, d->w, c, &d->points[span.thread], &d->eta[c]);
}

static void weigh_faces(const void *data, TesiSpan span) {
  const Weigh *d = data;
  for (int64_t i = span.first; i < span.end; i++) weigh_face(d->s, d->w, i, d->eta);
}

static TesStatus weigh(TesContext *context, const TesiResidual *s, Weights *w, double *eta) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiCellPoints *points = NULL;
  const int threads = threads_for(s);
  TES_ALLOC(&points, threads);
  tesi_cell_rule(w->dual, s->rule.q, &w->dual_rule);
  const Weigh job = {s, w, points, eta};
  TES_TRY(tesi_work_share(ctx, threads, s->space->cells, CHUNK, weigh_cells, &job));
  TES_TRY(tesi_work_share(ctx, threads, s->pairs, CHUNK, weigh_faces, &job));
done:
  tesi_free(ctx, &points);
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
