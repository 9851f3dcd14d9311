/* The residual estimator, and the dual-weighted one: adapt.h. */
#include "operator/operator.h"
#include "problem/estimate.h"
#include <math.h>
#include <omp.h>
#include <string.h>

static double square(const double *values, const double *weight, int64_t n) {
  double sum = 0;
  for (int64_t p = 0; p < n; p++) sum += weight[p] * values[p] * values[p];
  return sum;
}

static double sum_of(const double *weight, int64_t n) {
  double sum = 0;
  for (int64_t p = 0; p < n; p++) sum += weight[p];
  return sum;
}

/* diffusion[cells] <- a at the middle of each cell. */
static void add_cells(const TesiResidual *s, TesiCellPoints *points, double *diffusion, double *eta2) {
  const double k = s->space->degree;
#pragma omp parallel for schedule(dynamic, 64) num_threads(tes_context_threads(s->space->context))
  for (int64_t c = 0; c < s->space->cells; c++) {
    TesiCellPoints *at = &points[omp_get_thread_num()];
    double r[TESI_CELL_POINTS];
    tesi_residual_cell(s, c, at, r);
    const double h = pow(sum_of(at->weight, s->rule.points), 1.0 / s->rule.dim);
    diffusion[c] = tesi_residual_diffusion(s, c);
    eta2[c] = h * h / (k * k * diffusion[c]) * square(r, at->weight, s->rule.points) / 8;
  }
}

static void add_faces(const TesiResidual *s, const double *diffusion, double *eta2) {
  const double k = s->space->degree;
#pragma omp parallel for schedule(dynamic, 64) num_threads(tes_context_threads(s->space->context))
  for (int64_t i = 0; i < s->pairs; i++) {
    const TesiFacePair *pair = &s->pair[i];
    double j[TESI_FACE_MOST], weight[TESI_FACE_MOST];
    if (!tesi_residual_face(s, i, j, weight)) continue;
    const double area = sum_of(weight, s->face_rule.points), h = s->rule.dim == 3 ? sqrt(area) : area;
    const double eta = h / (k * diffusion[pair->cell]) * square(j, weight, s->face_rule.points) / 8;
    const double share = pair->other < 0 ? 1 : 0.5;
#pragma omp atomic
    eta2[pair->cell] += share * eta;
    if (pair->other < 0) continue;
#pragma omp atomic
    eta2[pair->other] += share * eta;
  }
}

TesStatus tes_estimate_residual(const TesForestPoissonDesc *desc, const TesForestPoisson *poisson,
                                double *eta2) {
  TesContext *ctx = tes_forest_poisson_space(poisson)->context;
  TesStatus status = TES_OK;
  TesiResidual *s = NULL;
  TesiCellPoints *points = NULL;
  double time[4] = {tesi_now()}, *diffusion = NULL;
  TES_TRY(tesi_residual_create(desc, poisson, &s));
  TES_ALLOC(&points, tes_context_threads(ctx));
  TES_ALLOC(&diffusion, s->space->cells);
  time[1] = tesi_now();
  add_cells(s, points, diffusion, eta2);
  time[2] = tesi_now();
  add_faces(s, diffusion, eta2);
  time[3] = tesi_now();
  tesi_log(ctx, TES_LOG_DETAIL, "estimate: %lld faces found in %.3g s, cells take %.3g s, faces %.3g s",
           (long long)s->pairs, time[1] - time[0], time[2] - time[1], time[3] - time[2]);
done:
  tesi_free(ctx, &points);
  tesi_free(ctx, &diffusion);
  tesi_residual_destroy(ctx, &s);
  return status;
}

/* ---- dual-weighted residuals ---------------------------------------------------------------------------------------- */

typedef struct Weights {
  const TesSpace *dual_space, *primal;
  const TesiCellView *dual, *space; /* of both */
  const double *z;                  /* [length of dual] */
  double *low;                      /* I_k z, [length of space] */
  TesiCellRule dual_rule;
} Weights;

/* Values of I_k z at the nodes that do not hang: z there. */
static TesStatus interpolate_dual(TesContext *context, Weights *w) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TES_ALLOC(&w->low, w->space->length);
  TES_TRY(tes_space_carry(w->dual_space, w->z, w->primal, w->low));
done:
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

static TesStatus weigh(TesContext *context, const TesiResidual *s, Weights *w, double *eta) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  TesiCellPoints *points = NULL;
  const int threads = tes_context_threads(ctx);
  TES_ALLOC(&points, threads);
  tesi_cell_rule(w->dual, s->rule.q, &w->dual_rule);
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
  for (int64_t c = 0; c < s->space->cells; c++) weigh_cell(s, w, c, &points[omp_get_thread_num()], &eta[c]);
#pragma omp parallel for schedule(dynamic, 64) num_threads(threads)
  for (int64_t i = 0; i < s->pairs; i++) weigh_face(s, w, i, eta);
done:
  tesi_free(ctx, &points);
  return status;
}

static TesStatus add_goal(void *user, const TesSpace *space, double *b) {
  return tesi_goal_load(space, user, b);
}

TesStatus tes_estimate_dwr(const TesForestPoissonDesc *desc, const TesForestPoisson *poisson,
                           const TesGoal *goal, double *eta) {
  const TesSpace *space = tes_forest_poisson_space(poisson);
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesForestPoissonDesc dual = *desc;
  TesForestPoisson *z = NULL;
  TesFunction *zero = NULL;
  TesBoundary *boundary = NULL;
  TesiResidual *s = NULL;
  Weights w = {.primal = space, .space = space->view};
  TesSolveResult result;
  const int names = tes_mesh_boundaries(desc->mesh);
  const TesMultigrid *mg = tes_forest_poisson_multigrid(poisson);
  TES_CHECK(space->degree < TESI_FOREST_DEGREE,
            "dual-weighted residuals need degree %d or less, the space has %d", TESI_FOREST_DEGREE - 1,
            space->degree);
  TES_CHECK(!tes_multigrid_operator(mg, tes_multigrid_levels(mg) - 1)->singular,
            "only fluxes are given on the boundary and c = 0: u is determined up to a constant, and so is "
            "the goal. "
            "Give a Dirichlet or Robin condition somewhere, or c > 0");
  TES_TRY(tes_function_create_constant(ctx, 0, &zero));
  TES_ALLOC(&boundary, names + 1);
  for (int i = 0; desc->boundary && i < names; i++) boundary[i] = desc->boundary[i], boundary[i].g = NULL;
  dual.boundary = desc->boundary ? boundary : NULL;
  dual.degree = space->degree + 1;
  dual.f = zero, dual.material_f = NULL, dual.exact = NULL, dual.guess = NULL;
  dual.monitor = NULL;
  dual.tolerance = 1e-6;
  dual.add_load = add_goal, dual.add_load_user = (void *)goal;
  TES_TRY(tes_forest_poisson_create(ctx, &dual, &z));
  TES_TRY(tes_forest_poisson_solve(z, &result));
  w.dual_space = tes_forest_poisson_space(z), w.dual = w.dual_space->view,
  w.z = tes_forest_poisson_solution(z);
  TES_TRY(interpolate_dual(ctx, &w));
  TES_TRY(tesi_residual_create(desc, poisson, &s));
  TES_TRY(weigh(ctx, s, &w, eta));
done:
  tesi_residual_destroy(ctx, &s);
  tesi_free(ctx, &w.low);
  tesi_free(ctx, &boundary);
  tes_forest_poisson_destroy(&z);
  tes_function_destroy(&zero);
  return status;
}
