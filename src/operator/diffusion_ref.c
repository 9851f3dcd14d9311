/* Diffusion-reaction from the definition: cell by cell, point by point, every basis function at every quadrature point.
 * No sum factorization, no assembled 1D matrices; the fast operators are compared with this version.
 *
 *   y_i = sum over cells, points q: w_q (a grad phi_i . grad u + c phi_i u) + sum over natural faces: w_q alpha phi_i u
 */
#include <string.h>
#include "basis/lagrange.h"
#include "basis/gauss.h"
#include "operator/operator.h"

enum { N = TESI_MAX_POINTS };

/* One direction of a cell or face: n basis functions at nq points, scaled to the cell. */
typedef struct Line {
  int n, nq;
  double points[N], weights[N], B[N][N], G[N][N]; /* [q][i] */
} Line;

typedef struct Work {
  const TesOperator *op;
  bool diagonal;  /* the diagonal of the cell matrix instead of its product with u */
  Line reference; /* on [0, 1] */
  double *x[3], *a, *c, *u, *v;
} Work;

static void make_reference(Line *line, int degree) {
  double nodes[N], B[N * N], G[N * N];
  line->n = line->nq = degree + 1;
  tesi_gauss_lobatto(line->n, nodes, NULL);
  tesi_gauss(line->nq, line->points, line->weights);
  tesi_lagrange(line->n, nodes, line->nq, line->points, B, G);
  for (int q = 0; q < line->nq; q++)
    for (int i = 0; i < line->n; i++) {
      line->B[q][i] = B[q * line->n + i];
      line->G[q][i] = G[q * line->n + i];
    }
}

/* A cell of an axis; a direction that does not exist is one point with the function 1. */
static void make_line(const Line *reference, const TesiAxis *axis, int cell, Line *line) {
  if (axis->degree == 0) {
    *line = (Line){.n = 1, .nq = 1, .weights = {1}, .B = {{1}}};
    return;
  }
  *line = *reference;
  for (int q = 0; q < line->nq; q++) {
    line->points[q] = axis->x[cell * axis->degree] + axis->h[cell] * reference->points[q];
    line->weights[q] *= axis->h[cell];
    for (int i = 0; i < line->n; i++) line->G[q][i] /= axis->h[cell];
  }
}

/* The same direction on one of its two end faces: the end node alone. */
static void make_end(const TesiAxis *axis, int end, Line *line) {
  const int n = line->n;
  *line = (Line){.n = n, .nq = 1, .weights = {1}, .points = {axis->x[end ? axis->cells * axis->degree : 0]}};
  line->B[0][end ? n - 1 : 0] = 1;
}

/* v_i += w (a grad phi_i . grad u + c phi_i u) at the point q; or, for the diagonal, with u = phi_i. */
static void add_point(const Work *work, const Line line[3], const int q[3], double a, double c) {
  const Line *X = &line[0], *Y = &line[1], *Z = &line[2];
  double f[4] = {0, 0, 0, 0}; /* value and gradient of u */
  for (int pass = work->diagonal; pass < 2; pass++)
    for (int k = 0, i = 0; k < Z->n; k++)
      for (int j = 0; j < Y->n; j++)
        for (int l = 0; l < X->n; l++, i++) {
          const double bx = X->B[q[0]][l], by = Y->B[q[1]][j], bz = Z->B[q[2]][k];
          const double phi[4] = {bx * by * bz, X->G[q[0]][l] * by * bz, bx * Y->G[q[1]][j] * bz,
                                 bx * by * Z->G[q[2]][k]};
          if (pass == 0)
            for (int d = 0; d < 4; d++) f[d] += phi[d] * work->u[i];
          else {
            const double *g = work->diagonal ? phi : f;
            work->v[i] += c * phi[0] * g[0] + a * (phi[1] * g[1] + phi[2] * g[2] + phi[3] * g[3]);
          }
        }
}

static TesStatus evaluate(const Work *work, const TesFunction *f, double otherwise, int64_t n, double *out) {
  for (int64_t q = 0; q < n; q++) out[q] = otherwise;
  if (!f) return TES_OK;
  return tes_function_evaluate(f, n, work->x[0], work->x[1], work->op->space->dim > 2 ? work->x[2] : NULL, 0,
                               out);
}

/* Adds the integral over the tensor product of three lines. A NULL function stands for the constant beside it in the
 * arguments. */
static TesStatus integrate(Work *work, const Line line[3], const TesFunction *a, double no_a,
                           const TesFunction *c, double no_c) {
  TesContext *ctx = work->op->context;
  TesStatus status = TES_OK;
  int q[3], count = 0;
  for (q[2] = 0; q[2] < line[2].nq; q[2]++)
    for (q[1] = 0; q[1] < line[1].nq; q[1]++)
      for (q[0] = 0; q[0] < line[0].nq; q[0]++, count++)
        for (int d = 0; d < 3; d++) work->x[d][count] = line[d].points[q[d]];
  TES_TRY(evaluate(work, a, no_a, count, work->a));
  TES_TRY(evaluate(work, c, no_c, count, work->c));
  count = 0;
  for (q[2] = 0; q[2] < line[2].nq; q[2]++)
    for (q[1] = 0; q[1] < line[1].nq; q[1]++)
      for (q[0] = 0; q[0] < line[0].nq; q[0]++, count++) {
        const double w = line[0].weights[q[0]] * line[1].weights[q[1]] * line[2].weights[q[2]];
        add_point(work, line, q, w * work->a[count], w * work->c[count]);
      }
done:
  return status;
}

/* v from u: the integral over the cell and the integrals over its natural faces. */
static TesStatus add_cell(Work *work, const int cell[3]) {
  const TesOperator *op = work->op;
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Line line[3];
  for (int d = 0; d < 3; d++) make_line(&work->reference, &op->space->axis[d], cell[d], &line[d]);
  TES_TRY(integrate(work, line, tesi_diffusion_of(op)->a_function, tesi_diffusion_of(op)->a,
                    tesi_diffusion_of(op)->c_function, 0));
  for (int face = 0; face < 2 * op->space->dim; face++) {
    const TesiAxis *axis = &op->space->axis[face / 2];
    if (!tesi_diffusion_of(op)->alpha_function[face] || cell[face / 2] != (face % 2 ? axis->cells - 1 : 0))
      continue;
    const Line whole = line[face / 2];
    make_end(axis, face % 2, &line[face / 2]);
    TES_TRY(integrate(work, line, NULL, 0, tesi_diffusion_of(op)->alpha_function[face], 0));
    line[face / 2] = whole;
  }
done:
  return status;
}

/* gather: local <- the values at a cell's nodes, 0 where a node is not an unknown. Otherwise local is added to global
 * at the unknowns. */
static void exchange(const TesSpace *space, const int cell[3], bool gather, double *local, double *global) {
  const TesiAxis *axis = space->axis;
  int l = 0, i[3];
  for (i[2] = 0; i[2] <= axis[2].degree; i[2]++)
    for (i[1] = 0; i[1] <= axis[1].degree; i[1]++)
      for (i[0] = 0; i[0] <= axis[0].degree; i[0]++, l++) {
        bool unknown = true;
        int64_t g = 0;
        for (int d = 2; d >= 0; d--) {
          const int node = tesi_axis_node(&axis[d], cell[d], i[d]);
          unknown = unknown && node >= tesi_axis_first(&axis[d]) && node < tesi_axis_end(&axis[d]);
          g = g * axis[d].nodes + node;
        }
        if (gather)
          local[l] = unknown ? global[g] : 0;
        else if (unknown)
          global[g] += local[l];
      }
}

static TesStatus run(const TesOperator *op, bool diagonal, const double *x, double *y) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  Work work = {.op = op, .diagonal = diagonal};
  const TesSpace *space = op->space;
  int cell[3], n = 1;
  for (int d = 0; d < 3; d++) n *= space->axis[d].degree + 1;
  make_reference(&work.reference, space->degree);
  for (int d = 0; d < 3; d++) TES_ALLOC(&work.x[d], n);
  TES_ALLOC(&work.a, n);
  TES_ALLOC(&work.c, n);
  TES_ALLOC(&work.u, n);
  TES_ALLOC(&work.v, n);
  memset(y, 0, sizeof *y * (size_t)space->length);
  for (cell[2] = 0; cell[2] < space->axis[2].cells; cell[2]++)
    for (cell[1] = 0; cell[1] < space->axis[1].cells; cell[1]++)
      for (cell[0] = 0; cell[0] < space->axis[0].cells; cell[0]++) {
        if (x) exchange(space, cell, true, work.u, (double *)x);
        memset(work.v, 0, sizeof *work.v * (size_t)n);
        TES_TRY(add_cell(&work, cell));
        exchange(space, cell, false, work.v, y);
      }
done:
  for (int d = 0; d < 3; d++) tesi_free(ctx, &work.x[d]);
  tesi_free(ctx, &work.a);
  tesi_free(ctx, &work.c);
  tesi_free(ctx, &work.u);
  tesi_free(ctx, &work.v);
  return status;
}

TesStatus tesi_diffusion_apply_ref(const TesOperator *op, const double *x, double *y) {
  return run(op, false, x, y);
}

TesStatus tesi_diffusion_diagonal_ref(const TesOperator *op, double *d) {
  const TesStatus status = run(op, true, NULL, d);
  for (int64_t i = 0; i < op->space->length; i++) /* every unknown has a positive entry: a > 0 */
    if (d[i] == 0) d[i] = 1;
  return status;
}
