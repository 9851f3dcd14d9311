#include "kernels/flow_solution.h"
#include <math.h>
#include <stdlib.h>
#include "base/base.h"
#include "space/space.h"

/* phi and its first three derivatives. */
static void derive(double sigma, double x, double d[4]) {
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

/* Component `part` of the curl of psi; part = dim: p. load: instead -laplace u + alpha u + grad p. */
typedef struct Part {
  int dim, part;
  bool load;
  double sigma, alpha;
} Part;

/* d psi / d direction; laplace: minus the Laplacian of this derivative. */
static double slope(int dim, double d[3][4], int direction, bool laplace) {
  double sum = 0, product = 1;
  for (int a = 0; a < dim; a++) product *= d[a][a == direction];
  for (int e = 0; e < dim && laplace; e++) {
    double second = -1;
    for (int a = 0; a < dim; a++) second *= d[a][(a == direction) + 2 * (a == e)];
    sum += second;
  }
  return laplace ? sum : product;
}

static void evaluate(void *user, int64_t n, const double *x, const double *y, const double *z, double t,
                     double *out) {
  static const int curl[2][3][3] = {{{0, 1, 0}, {-1, 0, 0}}, {{0, 1, 1}, {-1, 0, -1}, {-1, 1, 0}}};
  const Part *p = user;
  (void)t;
  for (int64_t q = 0; q < n; q++) {
    const double at[3] = {x[q], y[q], z[q]};
    double d[3][4], pressure = 1, gradient = 1, velocity = 0, viscous = 0;
    for (int a = 0; a < p->dim; a++) {
      derive(p->sigma, at[a], d[a]);
      pressure *= cos(2 * M_PI * at[a]);
      gradient *= a == p->part ? -2 * M_PI * sin(2 * M_PI * at[a]) : cos(2 * M_PI * at[a]);
    }
    for (int a = 0; a < p->dim && p->part < p->dim; a++) {
      velocity += curl[p->dim - 2][p->part][a] * slope(p->dim, d, a, false);
      if (p->load) viscous += curl[p->dim - 2][p->part][a] * slope(p->dim, d, a, true);
    }
    out[q] = p->part == p->dim ? pressure : p->load ? viscous + p->alpha * velocity + gradient : velocity;
  }
}

static TesStatus create(TesContext *ctx, Part part, TesFunction **f) {
  Part *p = malloc(sizeof *p);
  if (!p) return TES_OUT_OF_MEMORY;
  *p = part;
  return tes_function_create_callback(ctx, evaluate, p, free, f);
}

TesStatus flow_manufacture(TesContext *ctx, int dim, double sigma, double alpha, TesProblemDesc *desc) {
  TesStatus status = TES_OK;
  for (int i = 0; i <= dim; i++)
    TES_TRY(create(ctx, (Part){dim, i, false, sigma, alpha}, (TesFunction **)&desc->exact[i]));
  for (int i = 0; i < dim; i++)
    TES_TRY(create(ctx, (Part){dim, i, true, sigma, alpha}, (TesFunction **)&desc->data.f[i]));
done:
  if (status != TES_OK) flow_forget(desc);
  return status;
}

void flow_forget(TesProblemDesc *desc) {
  for (int i = 0; i < 3; i++) tes_function_destroy((TesFunction **)&desc->data.f[i]);
  for (int i = 0; i < 4; i++) tes_function_destroy((TesFunction **)&desc->exact[i]);
}

/* In (0, 1). */
static double uniform(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller's method for normally distributed numbers. */
static void fill_normal(uint64_t seed, int64_t n, double *values) {
  for (int64_t i = 0; i < n; i += 2) {
    const double radius = sqrt(-2 * log(uniform(&seed))), angle = 2 * M_PI * uniform(&seed);
    values[i] = radius * cos(angle);
    if (i + 1 < n) values[i + 1] = radius * sin(angle);
  }
}

TesStatus flow_random_load(void *user, const TesSpace *space, TesVector *b) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  TesVector *part = NULL;
  double *values = NULL;
  uint64_t seed = *(const uint64_t *)user;
  for (int i = 0; i < space->dim; i++) {
    TES_TRY(tes_vector_part(space, b, i, &part));
    TES_ALLOC(&values, tes_vector_length(part));
    fill_normal(seed + (uint64_t)i * 7919, tes_vector_length(part), values);
    TES_TRY(tes_vector_set(part, values));
    tesi_free(ctx, &values);
    tes_vector_destroy(&part);
  }
done:
  tesi_free(ctx, &values);
  tes_vector_destroy(&part);
  return status;
}
