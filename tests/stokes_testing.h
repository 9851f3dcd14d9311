/* What the tests of Stokes share: small boxes with any ends, random vectors, values. */
#ifndef TESI_STOKES_TESTING_H
#define TESI_STOKES_TESTING_H

#include <stdlib.h>
#include <string.h>
#include "space/space.h"
#include "tessera/tessera.h"
#include "testing.h"

/* given: a letter a face, left right bottom top back front: v velocity, s slip, o open, p periodic (both faces).
 * modal: discontinuous Q_k with diffusion and mass instead. */
typedef struct Flow {
  int dim, degree, cells[3];
  const char *given;
  bool graded, modal;
  double nu, alpha;
  TesPenalty penalty;
} Flow;

/* What holds on a face, with no functions. */
static inline TesiGiven flow_side(const Flow *f, int side) {
  TesiGiven given = {.priority = 0};
  const char kind = f->given ? f->given[side] : 'v';
  for (int c = 0; c < TESI_GIVEN_SCALARS; c++) {
    const bool nodes = !f->modal && c == side / 2;
    if (kind == 'v') given.how[c] = nodes ? TESI_STRONG : TESI_WEAK;
    if (kind == 's') given.how[c] = nodes ? TESI_STRONG : TESI_FLUX;
  }
  return given;
}

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
  uint8_t given[6] = {0};
  for (int i = 0; i < 6 && i < 2 * f->dim; i++)
    given[i] = !f->given || f->given[i] == 'v' ? (f->modal ? 1 : 3) : f->given[i] == 's' ? 1 : 0;
  assert_ok(ctx, tes_space_create(ctx,
                                  &(TesSpaceDesc){.mesh = mesh,
                                                  .degree = f->degree,
                                                  .given = f->given ? given : NULL,
                                                  .element = f->modal ? TES_ELEMENT_DG : TES_ELEMENT_RT},
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
  const TesOperatorDesc desc = {
      .space = space, .form = {f->modal ? 2 : 3, term, f->penalty}, .precision = precision};
  assert_ok(ctx, tes_operator_create(ctx, &desc, &op));
  tes_function_destroy(&alpha);
  return op;
}

/* Random values, zeros at known nodes. */
static inline double *flow_random(const TesSpace *space, uint64_t seed) {
  double *v = malloc((size_t)tes_space_length(space) * sizeof *v);
  for (int64_t i = 0; i < tes_space_length(space); i++) v[i] = test_random(&seed);
  tesi_rt_clear(space, v);
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

#endif
