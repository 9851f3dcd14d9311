/* The residual estimator, and the dual-weighted one: adapt.h. */
#include "problem/adapt/estimate.h"
#include "operator/operator.h"
#include <math.h>
#include <string.h>
#include "base/team.h"

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

typedef struct Estimate {
  const TesiResidual *s;
  TesiCellPoints *points; /* [threads] */
  double *face, *eta2;    /* [cells]; face: what h |j|^2 counts with */
} Estimate;

/* Of the energy norm, a at the middle of the cell; or, with a velocity or in time, of the L2 norm: adapt.h. */
static void find_weights(const TesiResidual *s, int64_t cell, const TesiCellPoints *at, double *inside,
                         double *face) {
  const double k = s->space->degree, h = pow(sum_of(at->weight, s->rule.points), 1.0 / s->rule.dim),
               a = tesi_residual_diffusion(s, cell);
  if (s->l2) {
    const double rate = k * tesi_residual_speed(s, at) / h + 2 * k * k * a / (h * h),
                 time = rate > 0 ? 1 / rate : 0;
    *inside = time * time;
    *face = time * time * k / (h * h);
  } else {
    *inside = h * h / (8 * k * k * a);
    *face = 1 / (8 * k * a);
  }
}

static void add_cells(const void *data, TesiSpan span) {
  const Estimate *e = data;
  const TesiResidual *s = e->s;
  TesiCellPoints *at = &e->points[span.thread];
  for (int64_t c = span.first; c < span.end; c++) {
    double r[3 * TESI_CELL_POINTS], inside;
    tesi_residual_cell(s, c, at, r);
    find_weights(s, c, at, &inside, &e->face[c]);
    e->eta2[c] = inside * square(s->components, r, at->weight, s->rule.points);
  }
}

static void add_faces(const void *data, TesiSpan span) {
  const TesiResidual *s = ((const Estimate *)data)->s;
  const double *factor = ((const Estimate *)data)->face;
  double *eta2 = ((const Estimate *)data)->eta2;
  for (int64_t i = span.first; i < span.end; i++) {
    const TesiFacePair *pair = &s->pair[i];
    double j[3 * TESI_FACE_MOST], weight[TESI_FACE_MOST];
    if (!tesi_residual_face(s, i, j, weight)) continue;
    const double area = sum_of(weight, s->face_rule.points), h = s->rule.dim == 3 ? sqrt(area) : area;
    const double eta = h * factor[pair->cell] * square(s->components, j, weight, s->face_rule.points);
    const double share = pair->other < 0 ? 1 : 0.5;
#pragma omp atomic
    eta2[pair->cell] += share * eta;
    if (pair->other < 0) continue;
#pragma omp atomic
    eta2[pair->other] += share * eta;
  }
}

static TesStatus check_mesh(const TesProblem *problem) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TES_CHECK(problem->mesh->kind == TES_MESH_FOREST,
            "errors are estimated on meshes of kind forest, which can be refined");
  TES_CHECK(problem->space->parts == 1 || (problem->equation->couples && !problem->in_time),
            "there is no estimator for %s%s", problem->equation->name, problem->in_time ? " in time" : "");
done:
  return status;
}

TesStatus tes_estimate_residual(const TesProblem *problem, double *eta2) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiResidual *s = NULL;
  TesiCellPoints *points = NULL;
  double time[4] = {tesi_now()}, *face = NULL;
  TES_TRY(check_mesh(problem));
  TES_TRY(tesi_residual_create(problem, &s));
  TES_ALLOC(&points, threads_for(s));
  TES_ALLOC(&face, s->space->cells);
  const Estimate estimate = {s, points, face, eta2};
  time[1] = tesi_now();
  tesi_team_share(threads_for(s), s->space->cells, CHUNK, add_cells, &estimate);
  time[2] = tesi_now();
  /* several threads add in no order */
  tesi_team_share(tesi_context_deterministic(ctx) ? 1 : threads_for(s), s->pairs, CHUNK, add_faces,
                  &estimate);
  time[3] = tesi_now();
  tesi_log(ctx, TES_LOG_DETAIL, "estimate: %lld faces found in %.3g s, cells take %.3g s, faces %.3g s",
           (long long)s->pairs, time[1] - time[0], time[2] - time[1], time[3] - time[2]);
done:
  tesi_free(ctx, &points);
  tesi_free(ctx, &face);
  tesi_residual_destroy(ctx, &s);
  return status;
}

/* ---- dual-weighted residuals --------------------------------------------------------------------------- */

typedef struct Weights {
  const TesiCellView *dual, *space; /* of z, of the solution */
  double *z, *low;                  /* z and I_k z: [length of dual], [length of space] */
  TesiCellRule dual_rule;
} Weights;

/* z, and I_k z: its values at the nodes of the solution that do not hang. */
static TesStatus take_dual(const TesProblem *problem, const TesProblem *dual, Weights *w) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesVector *low = NULL;
  w->dual = dual->space->view, w->space = problem->space->view;
  TES_ALLOC(&w->z, w->dual->length);
  TES_ALLOC(&w->low, w->space->length);
  TES_TRY(tesi_vector_create_on(w->space->layout, TES_DOUBLE, &low));
  TES_TRY(tes_space_carry(dual->space, dual->u, problem->space, low));
  TES_TRY(tes_vector_get(dual->u, w->z));
  TES_TRY(tes_vector_get(low, w->low));
done:
  tes_vector_destroy(&low);
  return status;
}

static void weigh_cell(const TesiResidual *s, const Weights *w, int64_t cell, TesiCellPoints *at,
                       double *eta) {
  double r[TESI_CELL_POINTS], high[TESI_CELL_POINTS], low[TESI_CELL_POINTS], local[TESI_CELL_MOST];
  tesi_residual_cell(s, cell, at, r);
  tesi_cells_read(w->dual, cell, w->z, local);
  tesi_cell_evaluate(&w->dual_rule, -1, local, high);
  tesi_cells_read(w->space, cell, w->low, local);
  tesi_cell_evaluate(&s->rule, -1, local, low);
  double sum = 0;
  for (int64_t p = 0; p < s->rule.points; p++) sum += at->weight[p] * r[p] * (high[p] - low[p]);
  *eta = sum;
}

static void weigh_face(const TesiResidual *s, const Weights *w, int64_t i, double *eta) {
  const TesiFacePair *pair = &s->pair[i];
  double j[TESI_FACE_MOST], weight[TESI_FACE_MOST], xi[3 * TESI_FACE_MOST], high[TESI_FACE_MOST],
      low[TESI_FACE_MOST], local[TESI_CELL_MOST];
  const int n = s->face_rule.points;
  double sum = 0;
  if (!tesi_residual_face(s, i, j, weight)) return;
  tesi_pair_points(s, pair, false, xi);
  tesi_cells_read(w->dual, pair->cell, w->z, local);
  tesi_local_values(s->rule.dim, w->dual->degree, local, n, xi, high, NULL);
  tesi_cells_read(w->space, pair->cell, w->low, local);
  tesi_local_values(s->rule.dim, w->space->degree, local, n, xi, low, NULL);
  for (int p = 0; p < n; p++) sum += weight[p] * j[p] * (high[p] - low[p]);
  const double share = pair->other < 0 ? 1 : 0.5;
#pragma omp atomic
  eta[pair->cell] -= share * sum;
  if (pair->other < 0) return;
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
  tesi_team_share(threads, s->space->cells, CHUNK, weigh_cells, &job);
  tesi_team_share(threads, s->pairs, CHUNK, weigh_faces, &job);
done:
  tesi_free(ctx, &points);
  return status;
}

static TesStatus add_goal(void *user, const TesSpace *space, TesVector *b) {
  return tesi_goal_load(space, user, b);
}

/* The problem's own with all data 0 but the coefficients, one degree higher, loaded with the goal. */
static TesStatus solve_dual(const TesProblem *problem, const TesValue *goal, TesProblem **dual) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesiNumbered numbered = problem->numbered;
  TesFunction *zero = NULL;
  TesBoundary *boundary = NULL;
  const TesFunction **f = NULL;
  TesSolveResult result;
  TesProblemDesc desc = {.mesh = problem->mesh,
                         .degree = problem->space->degree + 1,
                         .add_load = add_goal,
                         .add_load_user = (void *)goal,
                         .solver = problem->options};
  const int names = tes_mesh_boundaries(problem->mesh);
  TES_TRY(tes_function_create_constant(ctx, 0, &zero));
  TES_ALLOC(&boundary, names + 1);
  TES_ALLOC(&f, tes_mesh_materials(problem->mesh) + 1);
  for (int i = 0; numbered.boundary && i < names; i++)
    boundary[i] = numbered.boundary[i], boundary[i].g[0] = NULL;
  if (numbered.boundary) numbered.boundary = boundary;
  numbered.data.f[0] = zero, numbered.f[0] = f;
  desc.solver.monitor = NULL, desc.solver.tolerance = 1e-6;
  TES_TRY(tesi_problem_create_like(problem, &desc, &numbered, dual));
  TES_TRY(tes_problem_solve(*dual, &result));
done:
  tesi_free(ctx, &boundary);
  tesi_free(ctx, &f);
  tes_function_destroy(&zero);
  return status;
}

TesStatus tesi_estimate_dwr(const TesProblem *problem, const TesValue *goal, double *eta) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesProblem *dual = NULL;
  TesiResidual *s = NULL;
  Weights w = {0};
  TES_TRY(check_mesh(problem));
  TES_CHECK(problem->space->parts == 1, "dual-weighted residuals are for one component, not for %s",
            problem->equation->name);
  TES_CHECK(problem->space->degree < TESI_FOREST_DEGREE,
            "dual-weighted residuals need degree %d or less, the space has %d", TESI_FOREST_DEGREE - 1,
            problem->space->degree);
  TES_CHECK(!problem->op->singular,
            "only fluxes are given on the boundary and c = 0: u is determined up to a constant, and so is "
            "the goal. "
            "Give a Dirichlet or Robin condition somewhere, or c > 0");
  TES_TRY(solve_dual(problem, goal, &dual));
  TES_TRY(take_dual(problem, dual, &w));
  TES_TRY(tesi_residual_create(problem, &s));
  TES_TRY(weigh(ctx, s, &w, eta));
done:
  tesi_residual_destroy(ctx, &s);
  tesi_free(ctx, &w.z);
  tesi_free(ctx, &w.low);
  tes_problem_destroy(&dual);
  return status;
}

TesStatus tes_estimate_dwr(const TesProblem *problem, const TesGoal *goal, double *eta) {
  TesContext *ctx = problem->context;
  TesStatus status = TES_OK;
  TesValue value;
  TES_TRY(tesi_goal_number(problem->mesh, goal, &value));
  TES_TRY(tesi_estimate_dwr(problem, &value, eta));
done:
  return status;
}
