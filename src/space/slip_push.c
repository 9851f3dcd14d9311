/* Displacements along normals: u.n = g at the nodes of faces with slip.
 *
 * With T = sum of n n' and q = sum of n g over the faces at a node, and W the projection to the directions that it
 * holds, W T W u = W q, u = W u: the least squares of n.u - g. */
#include <lapacke.h>
#include <math.h>
#include <string.h>
#include "basis/blas.h"
#include "parallel/comm.h"
#include "parallel/exchange.h"
#include "space/slip.h"

/* Sums over the nodes of the faces of a boundary: of a bore, normals point to its middle. */
typedef struct Round {
  double nodes, x[3], n[3], along, square; /* along: x.n, square: |x|^2 */
} Round;

enum { DIM = 3, ROWS = DIM * DIM + DIM, FLAT = 1000 };

typedef struct Push {
  const TesSpace *space;
  const TesFunction *const *g;
  int64_t length;
  Round *round; /* [boundaries] */
  double *sum;  /* [ROWS][length] T, q */
} Push;

static void unit(int dim, const double *normal, double *n) {
  double square = 0;
  for (int d = 0; d < dim; d++) square += normal[d] * normal[d];
  for (int d = 0; d < 3; d++) n[d] = d < dim ? normal[d] / sqrt(square) : 0;
}

static void add_round(void *user, int64_t node, int boundary, const double *x, const double *normal) {
  const Push *p = user;
  Round *r = &p->round[boundary];
  double n[3];
  (void)node;
  unit(p->space->dim, normal, n);
  r->nodes++;
  for (int d = 0; d < p->space->dim; d++)
    r->x[d] += x[d], r->n[d] += n[d], r->along += x[d] * n[d], r->square += x[d] * x[d];
}

/* Above 0: a shaft, below: a bore. The mean of (x - its mean).n over the deviation of x. */
static double sense_of(const Round *r) {
  double along = r->along, square = r->square;
  for (int d = 0; d < 3; d++) along -= r->x[d] * r->n[d] / r->nodes, square -= r->x[d] * r->x[d] / r->nodes;
  return along / sqrt(fmax(square, 1e-300) * r->nodes);
}

static void add_face(void *user, int64_t node, int boundary, const double *x, const double *normal) {
  const Push *p = user;
  const int dim = p->space->dim;
  double at[3] = {0}, n[3], value = 0;
  unit(dim, normal, n);
  for (int d = 0; d < dim; d++) at[d] = x[d];
  const double *const more[3] = {&n[0], &n[1], &n[2]};
  if (p->g[boundary]) {
    tesi_function_values_over(p->g[boundary], 1, &at[0], &at[1], &at[2], 0, more, &value);
    if (sense_of(&p->round[boundary]) < 0) value = -value;
  }
  for (int r = 0; r < dim; r++) {
    for (int c = 0; c < dim; c++) p->sum[(r * DIM + c) * p->length + node] += n[r] * n[c];
    p->sum[(DIM * DIM + r) * p->length + node] += value * n[r];
  }
}

/* u[dim] <- the least squares at a node of the list. */
static TesStatus solve_node(const Push *p, int64_t i, double *u) {
  TesContext *ctx = p->space->context;
  TesStatus status = TES_OK;
  const TesiSlip *slip = p->space->slip;
  const int dim = slip->dim;
  double A[9], W[9], size[3], part;
  const int64_t node = slip->node[i];
  for (int r = 0; r < dim; r++)
    for (int c = 0; c < dim; c++) {
      W[r * dim + c] = (r == c && !tesi_slip_given(slip, i, c)) - slip->P[(r * dim + c) * slip->count + i];
      A[r * dim + c] = p->sum[(r * DIM + c) * p->length + node];
    }
  double half[9] = {0}, whole[9] = {0};
  for (int e = 0; e < dim * dim; e++)
    for (int k = 0; k < dim; k++) half[e] += W[e / dim * dim + k] * A[k * dim + e % dim];
  for (int e = 0; e < dim * dim; e++)
    for (int k = 0; k < dim; k++) whole[e] += half[e / dim * dim + k] * W[k * dim + e % dim];
  const int info = (int)LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', dim, whole, dim, size);
  if (info != 0) TES_FAIL(TES_NAN, "a normal of a boundary with slip is not finite");
  for (int d = 0; d < dim; d++) u[d] = 0;
  for (int k = 0; k < dim; k++) {
    if (!(size[k] > 1e-3 * size[dim - 1])) continue;
    part = 0;
    for (int d = 0; d < dim; d++) part += whole[k * dim + d] * p->sum[(DIM * DIM + d) * p->length + node];
    for (int d = 0; d < dim; d++) u[d] += part / size[k] * whole[k * dim + d];
  }
  for (int d = 0; d < dim; d++)
    if (!isfinite(u[d])) TES_FAIL(TES_NAN, "boundary: the radial displacement is %g at a node", u[d]);
done:
  return status;
}

static TesStatus check_round(const Push *p) {
  TesContext *ctx = p->space->context;
  TesStatus status = TES_OK;
  const TesMesh *mesh = p->space->mesh;
  for (int b = 0; b < tes_mesh_boundaries(mesh); b++) {
    tesi_reduce(ctx, TESI_SUM, (int)(sizeof(Round) / sizeof(double)), (double *)&p->round[b]);
    TES_CHECK(
        !p->g[b] || fabs(sense_of(&p->round[b])) * FLAT > 1,
        "boundary.%s: a radial displacement is along the radius of a bore or a shaft; these faces are plane. "
        "Give a displacement",
        tes_mesh_boundary_name(mesh, b));
  }
done:
  return status;
}

TesStatus tesi_slip_push(const TesSpace *space, const TesFunction *const *g, TesVector *u) {
  TesContext *ctx = space->context;
  TesStatus status = TES_OK;
  const TesiSlip *slip = space->slip;
  Push p = {.space = space, .g = g, .length = slip->length};
  double *values = NULL, at[3];
  TES_ALLOC(&p.round, tes_mesh_boundaries(space->mesh) + 1);
  TES_ALLOC(&p.sum, ROWS * p.length);
  TES_TRY(tesi_slip_visit(space, add_round, &p));
  TES_TRY(check_round(&p));
  TES_TRY(tesi_slip_visit(space, add_face, &p));
  for (int e = 0; e < ROWS && space->part[0]->layout->shared; e++)
    tesi_exchange_sum(space->part[0]->layout->shared, TES_DOUBLE, p.sum + e * p.length);
  TES_TRY(tesi_vector_read(u, &values));
  TES_TRY(tesi_blas_begin(ctx, DIM));
  for (int64_t i = 0; i < slip->count; i++) {
    TES_TRY(solve_node(&p, i, at));
    for (int d = 0; d < slip->dim; d++) values[d * slip->length + slip->node[i]] += at[d];
  }
  TES_TRY(tes_vector_set(u, values));
done:
  tesi_free(ctx, &p.round);
  tesi_free(ctx, &p.sum);
  tesi_free(ctx, &values);
  return status;
}
