/* What the tests of Stokes share: small boxes with any ends, random vectors, the manufactured solution. */
#ifndef TESI_STOKES_TESTING_H
#define TESI_STOKES_TESTING_H

#include <stdlib.h>
#include <string.h>
#include "space/space.h"
#include "tessera/tessera.h"
#include "testing.h"

/* given: a letter a face, left right bottom top back front: v velocity, s slip, o open, p periodic (both faces). */
typedef struct Flow {
  int dim, degree, cells[3];
  const char *given;
  bool graded;
  double nu, alpha;
  TesPenalty penalty;
} Flow;

static inline TesMesh *flow_mesh(TesContext *ctx, const Flow *f) {
  TesMesh *mesh;
  double x[3][64];
  TesMeshDesc desc = {.kind = TES_MESH_BOX, .dim = f->dim};
  for (int d = 0; d < f->dim; d++) {
    desc.cells[d] = f->cells[d];
    desc.periodic[d] = f->given && f->given[2 * d] == 'p';
    desc.upper[d] = 1;
    for (int i = 0; i <= f->cells[d]; i++) x[d][i] = (i + 0.25 * sin(2.0 * i + d)) / f->cells[d];
    if (f->graded) desc.coordinates[d] = x[d];
  }
  assert_ok(ctx, tes_mesh_create(ctx, &desc, &mesh));
  return mesh;
}

static inline TesSpace *flow_space_on(TesContext *ctx, const Flow *f, const TesMesh *mesh) {
  TesSpace *space;
  uint8_t given[6];
  for (int i = 0; i < 6; i++) given[i] = !f->given || f->given[i] == 'v' ? 3 : f->given[i] == 's' ? 1 : 0;
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = mesh,
                                                  .degree = f->degree,
                                                  .given = f->given ? given : NULL,
                                                  .element = TES_ELEMENT_RT},
                                  &space));
  return space;
}

static inline TesSpace *flow_space(TesContext *ctx, const Flow *f) {
  TesMesh *mesh = flow_mesh(ctx, f);
  TesSpace *space = flow_space_on(ctx, f, mesh);
  tes_mesh_destroy(&mesh);
  return space;
}

static inline TesOperator *flow_operator(TesContext *ctx, const Flow *f, const TesSpace *space,
                                         TesPrecision precision) {
  TesOperator *op;
  TesFunction *alpha;
  assert_ok(ctx, tes_function_create_constant(ctx, f->alpha, &alpha));
  const TesTermDesc term[] = {{.term = TES_TERM_DIFFUSION, .factor = f->nu},
                              {.term = TES_TERM_MASS, .a = {.all = alpha}},
                              {.term = TES_TERM_DIVERGENCE}};
  const TesOperatorDesc desc = {.space = space, .form = {3, term, f->penalty}, .precision = precision};
  assert_ok(ctx, tes_operator_create(ctx, &desc, &op));
  tes_function_destroy(&alpha);
  return op;
}

/* Random values, zeros at known nodes. */
static inline double *flow_random(const TesSpace *space, uint64_t seed) {
  double *v = malloc((size_t)tes_space_length(space) * sizeof *v);
  for (int64_t i = 0; i < tes_space_length(space); i++) v[i] = test_random(&seed);
  tesi_rt_clear(tesi_space_rt(space), v);
  return v;
}

static inline TesVector *flow_vector(TesContext *ctx, const TesSpace *space, TesPrecision precision,
                                     const double *values) {
  TesVector *v;
  assert_ok(ctx, tes_vector_create(ctx, tes_space_length(space), precision, &v));
  assert_ok(ctx, values ? tes_vector_set(v, values) : tes_vector_fill(v, NAN));
  return v;
}

/* Largest difference of two vectors over the largest entry of the second. */
static inline double flow_difference(TesContext *ctx, const TesVector *a, const TesVector *b) {
  const int64_t n = tes_vector_length(a);
  double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y), worst = 0, largest = 0;
  assert_ok(ctx, tes_vector_get(a, x));
  assert_ok(ctx, tes_vector_get(b, y));
  for (int64_t i = 0; i < n; i++) {
    worst = test_larger(worst, fabs(x[i] - y[i]));
    largest = test_larger(largest, fabs(y[i]));
  }
  free(x);
  free(y);
  return worst / largest;
}

/* velocity[n][dim] and pressure[n] at x[n][dim]. */
static inline void flow_at(TesContext *ctx, const TesProblem *problem, int n, const double *x,
                           double *velocity, double *pressure) {
  static const char *const of[2][4] = {{"u", "v", "p"}, {"u", "v", "w", "p"}};
  const int dim = tes_mesh_info(tes_space_mesh(tes_problem_space(problem))).dim;
  double *values = malloc((size_t)(n * (dim + 1)) * sizeof *values);
  assert_ok(ctx, tes_problem_sample(problem, n, x, dim + 1, of[dim - 2], values, NULL));
  for (int i = 0; i < n; i++) {
    for (int d = 0; d < dim; d++) velocity[i * dim + d] = values[i * (dim + 1) + d];
    pressure[i] = values[i * (dim + 1) + dim];
  }
  free(values);
}

/* ---- the manufactured solution of stokes-multigrid-cui-2025
 * -------------------------------------------------------------- */

/* phi and its first three derivatives: phi = x^2 (x - 1)^2 exp(-(x - 1/2)^2 / sigma^2) / sqrt(2 pi sigma^2). */
static inline void flow_phi(double sigma, double x, double d[4]) {
  const double z = (x - 0.5) / sigma, e = exp(-z * z) / sqrt(2 * M_PI * sigma * sigma);
  const double P[4] = {x * x * (x - 1) * (x - 1), 2 * x * (x - 1) * (2 * x - 1), 12 * x * x - 12 * x + 2,
                       24 * x - 12};
  const double E[4] = {e, -2 * z / sigma * e, (4 * z * z - 2) / (sigma * sigma) * e,
                       (12 * z - 8 * z * z * z) / (sigma * sigma * sigma) * e};
  d[0] = P[0] * E[0];
  d[1] = P[1] * E[0] + P[0] * E[1];
  d[2] = P[2] * E[0] + 2 * P[1] * E[1] + P[0] * E[2];
  d[3] = P[3] * E[0] + 3 * P[2] * E[1] + 3 * P[1] * E[2] + P[0] * E[3];
}

/* Component `part` of the curl of psi = phi(x) phi(y) (phi(z)), or, part = dim, the product of cos(2 pi x); or
 * -laplace u + grad p. */
typedef struct FlowPart {
  int dim, part;
  bool load;
  double sigma;
} FlowPart;

/* d psi / d direction, or -laplace of it. */
static inline double flow_slope(int dim, double d[3][4], int direction, bool load) {
  double sum = 0, product = 1;
  for (int a = 0; a < dim; a++) product *= d[a][a == direction];
  for (int e = 0; e < dim && load; e++) {
    double second = -1;
    for (int a = 0; a < dim; a++) second *= d[a][(a == direction) + 2 * (a == e)];
    sum += second;
  }
  return load ? sum : product;
}

static inline void flow_evaluate(void *user, int64_t n, const double *x, const double *y, const double *z,
                                 double t, double *out) {
  static const int curl[2][3][3] = {{{0, 1, 0}, {-1, 0, 0}}, {{0, 1, 1}, {-1, 0, -1}, {-1, 1, 0}}};
  const FlowPart *p = user;
  (void)t;
  for (int64_t q = 0; q < n; q++) {
    const double at[3] = {x[q], y[q], z[q]};
    double d[3][4], pressure = 1, gradient = 1;
    for (int a = 0; a < p->dim; a++) {
      flow_phi(p->sigma, at[a], d[a]);
      pressure *= cos(2 * M_PI * at[a]);
      gradient *= a == p->part ? -2 * M_PI * sin(2 * M_PI * at[a]) : cos(2 * M_PI * at[a]);
    }
    out[q] = p->part == p->dim ? pressure : 0;
    for (int a = 0; a < p->dim && p->part < p->dim; a++)
      out[q] += curl[p->dim - 2][p->part][a] * flow_slope(p->dim, d, a, p->load);
    if (p->load) out[q] += gradient;
  }
}

static inline TesFunction *flow_part(TesContext *ctx, int dim, int part, bool load, double sigma) {
  FlowPart *p = malloc(sizeof *p);
  TesFunction *f;
  *p = (FlowPart){dim, part, load, sigma};
  assert_ok(ctx, tes_function_create_callback(ctx, flow_evaluate, p, free, &f));
  return f;
}

static inline void flow_manufacture(TesContext *ctx, int dim, double sigma, TesProblemDesc *desc) {
  for (int i = 0; i <= dim; i++) desc->exact[i] = flow_part(ctx, dim, i, false, sigma);
  for (int i = 0; i < dim; i++) desc->data.f[i] = flow_part(ctx, dim, i, true, sigma);
}

static inline void flow_forget(TesProblemDesc *desc) {
  for (int i = 0; i < 3; i++) tes_function_destroy((TesFunction **)&desc->data.f[i]);
  for (int i = 0; i < 4; i++) tes_function_destroy((TesFunction **)&desc->exact[i]);
}

#endif
