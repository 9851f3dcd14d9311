/* The maps of trees, and whether they are invertible. */
#include <math.h>
#include <string.h>
#include "base/work.h"
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "mesh/forest/trees.h"

enum { MAX_NODES = TESI_TREES_DEGREE + 1 };

/* Values of the Lagrange polynomials of n nodes at t; a node gives exact zeros and one. */
static void basis(int n, const double *node, double t, double *value) {
  for (int i = 0; i < n; i++) {
    value[i] = 1;
    for (int j = 0; j < n; j++)
      if (j != i) value[i] *= (t - node[j]) / (node[i] - node[j]);
  }
}

/* A ray of a sector: the place on the flat side of the cube inside, and the direction to the sphere. */
typedef struct Ray {
  double xi[2], y[3], unit[3];
} Ray;

enum { RAYS = 64 };

/* What points of a lattice share with those before them. Layers of a lattice have the same rays, in the same order. */
typedef struct Before {
  double xi[3], b[3][MAX_NODES]; /* of polynomials */
  double y[3], tangent[3];       /* of sectors */
  int rays, next;
  Ray ray[RAYS];
} Before;

static void polynomial(const TesiTrees *c, const double *nodes, const double xi[3], Before *before, double *x) {
  const int n = c->degree + 1, dim = c->dim, nz = dim == 3 ? n : 1;
  double(*b)[MAX_NODES] = before->b;
  b[2][0] = dim == 2 ? 1 : b[2][0];
  for (int d = 0; d < dim; d++) {
    if (xi[d] != before->xi[d]) basis(n, c->node, xi[d], b[d]);
    before->xi[d] = xi[d];
  }
  for (int r = 0; r < dim; r++) x[r] = 0;
  for (int k = 0, p = 0; k < nz; k++)
    for (int j = 0; j < n; j++)
      for (int i = 0; i < n; i++, p++) {
        const double w = b[0][i] * b[1][j] * b[2][k];
        for (int r = 0; r < dim; r++) x[r] += w * nodes[p * dim + r];
      }
}

/* Degree 1: most trees of a file. */
static inline void multilinear(int dim, const double *nodes, const double *xi, double *x) {
  double sum[3] = {0};
  for (int v = 0; v < 1 << dim; v++) {
    double w = 1;
    for (int d = 0; d < dim; d++) w *= v >> d & 1 ? xi[d] : 1 - xi[d];
    for (int r = 0; r < dim; r++) sum[r] += w * nodes[v * dim + r];
  }
  for (int r = 0; r < dim; r++) x[r] = sum[r];
}

static void make_ray(int dim, const double *nodes, const double xi[3], Before *before, Ray *ray) {
  const int outer = 1 << (dim - 1);
  double direction[3], length = 0;
  *ray = (Ray){.xi = {xi[0], dim == 3 ? xi[1] : 0}};
  for (int v = 0; v < outer; v++) {
    double w = v & 1 ? xi[0] : 1 - xi[0];
    if (dim == 3) w *= v >> 1 & 1 ? xi[1] : 1 - xi[1];
    for (int r = 0; r < dim; r++) ray->y[r] += w * nodes[(outer + v) * dim + r];
  }
  for (int r = 0; r < dim; r++) {
    if (ray->y[r] != before->y[r]) before->tangent[r] = tan(atan(1) * ray->y[r]);
    before->y[r] = ray->y[r];
    direction[r] = before->tangent[r];
    length += direction[r] * direction[r];
  }
  for (int r = 0; r < dim; r++) ray->unit[r] = direction[r] / sqrt(length);
}

/* The ray of a point, from an earlier layer of the lattice if it has it. */
static const Ray *find_ray(int dim, const double *nodes, const double xi[3], Before *before) {
  Ray *ray = &before->ray[before->next];
  if (before->next < before->rays && ray->xi[0] == xi[0] && ray->xi[1] == (dim == 3 ? xi[1] : 0)) {
    before->next = (before->next + 1) % before->rays;
    return ray;
  }
  before->rays = before->rays < RAYS ? before->rays + 1 : RAYS;
  ray = &before->ray[before->rays - 1];
  before->next = 0;
  make_ray(dim, nodes, xi, before, ray);
  return ray;
}

/* See TesiTreeMap. */
static void sector(const TesiTrees *c, TesiTreeMap map, const double *nodes, const double xi[3],
                   Before *before, double *x) {
  const double s = xi[c->dim - 1];
  const Ray *ray = find_ray(c->dim, nodes, xi, before);
  for (int r = 0; r < c->dim; r++)
    x[r] = c->centre[r] + (map == TESI_MAP_BALL ? (1 - s) * c->core * ray->y[r] + s * c->radius * ray->unit[r]
                                                : ((1 - s) * c->inner + s * c->radius) * ray->unit[r]);
}

static double distance(const TesiTrees *c, const double *x) {
  return hypot(x[0] - c->centre[0], x[1] - c->centre[1]);
}

static void ring(const TesiTrees *c, TesiTreeMap map, const double *nodes, const double xi[3], double *x) {
  const int dim = c->dim;
  const double a = xi[0], s = xi[1], *p = nodes, *q = nodes + dim, *u = nodes + 2 * dim, *v = nodes + 3 * dim;
  const double begin = atan2(p[1] - c->centre[1], p[0] - c->centre[0]);
  double turn = atan2(q[1] - c->centre[1], q[0] - c->centre[0]) - begin;
  if (turn > 4 * atan(1)) turn -= 8 * atan(1);
  if (turn < -4 * atan(1)) turn += 8 * atan(1);
  const double angle = begin + a * turn, inner = distance(c, p), outer = distance(c, u),
               direction[2] = {cos(angle), sin(angle)};
  for (int r = 0; r < 2; r++)
    x[r] = map == TESI_MAP_ANNULUS
               ? c->centre[r] + ((1 - s) * inner + s * outer) * direction[r]
               : (1 - s) * (c->centre[r] + inner * direction[r]) + s * ((1 - a) * u[r] + a * v[r]);
  if (dim == 3) x[2] = (1 - xi[2]) * nodes[2] + xi[2] * nodes[4 * dim + 2];
}

void tesi_trees_evaluate_plain(const TesiTrees *c, int64_t tree, int n, const double *xi, double *x) {
  const double *nodes = c->nodes + tree * c->tree_nodes * c->dim;
  const TesiTreeMap map = c->map ? (TesiTreeMap)c->map[tree] : TESI_MAP_POLYNOMIAL;
  Before before;
  for (int d = 0; d < 3; d++) before.xi[d] = before.y[d] = NAN;
  before.rays = before.next = 0;
  const bool linear = map == TESI_MAP_POLYNOMIAL && c->degree == 1;
  for (int p = 0; p < n && linear; p++)
    if (c->dim == 3)
      multilinear(3, nodes, xi + p * 3, x + p * 3);
    else
      multilinear(2, nodes, xi + p * 2, x + p * 2);
  for (int p = 0; p < n && !linear; p++) {
    double at[3] = {0};
    memcpy(at, xi + p * c->dim, (size_t)c->dim * sizeof *at);
    if (map == TESI_MAP_POLYNOMIAL)
      polynomial(c, nodes, at, &before, x + p * c->dim);
    else if (map == TESI_MAP_RING || map == TESI_MAP_ANNULUS)
      ring(c, map, nodes, at, x + p * c->dim);
    else
      sector(c, map, nodes, at, &before, x + p * c->dim);
  }
}

/* x <- deform(x). */
static void deform(const TesiTrees *c, int n, double *x) {
  enum { CHUNK = 128 };
  double at[3][CHUNK] = {{0}}, to[CHUNK];
  for (int first = 0; first < n; first += CHUNK) {
    const int count = n - first < CHUNK ? n - first : CHUNK;
    double *own = x + first * c->dim;
    for (int p = 0; p < count; p++)
      for (int d = 0; d < c->dim; d++) at[d][p] = own[p * c->dim + d];
    for (int d = 0; d < c->dim; d++) {
      tesi_function_values(c->deform[d], count, at[0], at[1], at[2], 0, to);
      for (int p = 0; p < count; p++) own[p * c->dim + d] = to[p];
    }
  }
}

void tesi_trees_evaluate(const TesiTrees *c, int64_t tree, int n, const double *xi, double *x) {
  tesi_trees_evaluate_plain(c, tree, n, xi, x);
  if (c->deform[0]) deform(c, n, x);
}

/* Sine-like measure of det J: 1 for orthogonal columns, <= 1e-8 counts as flat, whatever the sizes of the columns.
 * *det: det J itself.
 * J[r][c] = d x_r / d xi_c at point (i, j, k) of values x[q^dim][dim] at points with differentiation matrix D[q][q]. */
static bool invertible(int dim, int q, const double *D, const double *x, const int at[3], double *det) {
  const int step[3] = {1, q, q * q};
  double J[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, scale = 1;
  for (int c = 0; c < dim; c++) {
    for (int r = 0; r < dim; r++) {
      const int base = at[0] + q * (at[1] + q * at[2]) - at[c] * step[c];
      J[r][c] = 0;
      for (int l = 0; l < q; l++) J[r][c] += D[at[c] * q + l] * x[(base + l * step[c]) * dim + r];
    }
    scale *= sqrt(J[0][c] * J[0][c] + J[1][c] * J[1][c] + (dim == 3 ? J[2][c] * J[2][c] : 0));
  }
  *det = J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) -
         J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) + J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
  return *det > 1e-8 * scale;
}

/* Points of the check in a tree, and where each thread keeps their places. */
typedef struct Shapes {
  const TesiTrees *trees;
  int q, points;
  const double *xi, *D;
  double *x;    /* [threads][points][dim] */
  int64_t *bad; /* the smallest tree found so far */
} Shapes;

/* The first point of a tree where the map cannot be inverted, -1: none; x[points][dim] are its points. */
static int find_fault(const Shapes *s, int64_t tree, double *x, double *J) {
  const int q = s->q;
  tesi_trees_evaluate(s->trees, tree, s->points, s->xi, x);
  for (int p = 0; p < s->points; p++)
    if (!invertible(s->trees->dim, q, s->D, x, (const int[3]){p % q, p / q % q, p / q / q}, J)) return p;
  return -1;
}

static void check_span(const void *data, TesiSpan span) {
  const Shapes *s = data;
  double J;
  for (int64_t t = span.first; t < span.end; t++)
    if (find_fault(s, t, s->x + (int64_t)span.thread * s->points * s->trees->dim, &J) >= 0) {
      tesi_team_least(s->bad, t);
      return;
    }
}

TesStatus tesi_trees_find_inverted(const TesiTrees *c, int64_t *tree, double *J, double where[3]) {
  TesContext *ctx = c->context;
  TesStatus status = TES_OK;
  enum { Q = TESI_TREES_DEGREE + 2 };
  const int dim = c->dim, q = c->degree + 2, points = dim == 2 ? q * q : q * q * q;
  const int threads = tesi_team_threads(ctx, c->trees * points * dim);
  double at[Q], D[Q * Q], *xi = NULL, *x = NULL;
  int64_t bad = INT64_MAX;
  *tree = -1;
  tesi_gauss_lobatto(q, at, NULL);
  tesi_lagrange(q, at, q, at, NULL, D);
  TES_ALLOC(&xi, points * dim);
  TES_ALLOC(&x, (int64_t)threads * points * dim);
  for (int p = 0; p < points; p++)
    for (int d = 0; d < dim; d++) xi[p * dim + d] = at[(const int[3]){p % q, p / q % q, p / q / q}[d]];
  const Shapes shapes = {c, q, points, xi, D, x, &bad};
  TES_TRY(tesi_work_for(ctx, threads, c->trees, check_span, &shapes));
  if (bad == INT64_MAX) goto done;
  *tree = bad;
  const int p = find_fault(&shapes, bad, x, J);
  for (int d = 0; d < 3; d++) where[d] = d < dim ? x[p * dim + d] : 0;
done:
  tesi_free(ctx, &xi);
  tesi_free(ctx, &x);
  return status;
}

TesStatus tesi_trees_check_trees(TesContext *context, const TesiTrees *c) {
  TesContext *ctx = context;
  TesStatus status = TES_OK;
  int64_t tree;
  double J, x[3] = {0};
  TES_TRY(tesi_trees_find_inverted(c, &tree, &J, x));
  TES_CHECK(tree < 0, "tree %lld is inverted or degenerate: |J| = %.3g at (%g, %g, %g)", (long long)tree, J,
            x[0], x[1], x[2]);
done:
  return status;
}
