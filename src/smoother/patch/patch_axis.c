/* The kinds of intervals of one direction: modes of their stiffness and mass in the basis H, and couplings to both
 * ends. */
#include <string.h>
#include "basis/eigen.h"
#include "smoother/patch/patch_plan.h"

/* The data from which a kind is computed: float64 matrices [n][n], where n is the number of modes that need tables
 * (symmetric kinds: the even modes). */
typedef struct Builder {
  TesContext *ctx;
  TesPrecision precision;
  const TesiPatchCell *cell;
  TesiPatchKind *kind;
  int bubbles;
  bool nodal;
  double a, alpha[2];
  int n, vertex;          /* vertex: its index, -1 when there is none */
  double *K, *M, *S;      /* stiffness and mass in H; modes */
  double *basis, *dual;   /* values at the nodes of H's functions, and its inverse; identity when not nodal */
  double *lambda;         /* [m] */
  double *coupling[2][2]; /* [m] stiffness, mass; coupling to the node below, above */
  double *work;
} Builder;

static double sign(int even, int j) {
  return j < even ? 1 : -1;
}

/* Adds a cell of width h whose bubbles begin at `first`; the vertex is its left one (side 0) or right one (side 1). */
static void add_cell(Builder *b, int first, int side, double h, double alpha) {
  const TesiPatchCell *cell = b->cell;
  const int n = b->n, v = b->vertex;
  if (v >= 0) {
    b->K[v * n + v] += b->a / h * cell->stiffness[0] + alpha;
    b->M[v * n + v] += h * cell->mass[0];
  }
  for (int j = 0; j < b->bubbles; j++) {
    const int i = first + j;
    const double s = side ? sign((b->bubbles + 1) / 2, j) : 1;
    b->K[i * n + i] += b->a / h * cell->lambda[j];
    b->M[i * n + i] += h;
    for (int l = 0; l < b->bubbles; l++) {
      b->basis[i * n + first + l] = b->nodal ? cell->modes[j * b->bubbles + l] : j == l;
      b->dual[i * n + first + l] = b->nodal ? cell->inverse[j * b->bubbles + l] : j == l;
    }
    if (v < 0) continue;
    b->K[i * n + v] = b->K[v * n + i] = b->a / h * s * cell->p[j];
    b->M[i * n + v] = b->M[v * n + i] = h * s * cell->q[j];
  }
}

/* Coupling of the same cell to its other vertex, transformed by the modes. */
static void couple_cell(Builder *b, int first, int side, double h, double *stiffness, double *mass) {
  const TesiPatchCell *cell = b->cell;
  const int n = b->n, v = b->vertex;
  for (int mode = 0; mode < n; mode++) {
    if (v >= 0) {
      stiffness[mode] += b->S[v * n + mode] * b->a / h * cell->stiffness[1];
      mass[mode] += b->S[v * n + mode] * h * cell->mass[1];
    }
    for (int j = 0; j < b->bubbles; j++) {
      const double s = b->S[(first + j) * n + mode] * (side ? 1 : sign((b->bubbles + 1) / 2, j));
      stiffness[mode] += s * b->a / h * cell->p[j];
      mass[mode] += s * h * cell->q[j];
    }
  }
}

/* C[n][n] = A' B' (transposed) or A B. */
static void multiply(int n, bool transposed, const double *A, const double *B, double *C) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < n; l++)
        sum += transposed ? A[l * n + i] * B[j * n + l] : A[i * n + l] * B[l * n + j];
      C[i * n + j] = sum;
    }
}

/* forward = S' basis', back = basis S, inverse = S' M dual; columns that are sums of two mirrored values are halved. */
static TesStatus put_transforms(Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int n = b->n;
  double *product = b->work, *inverse = b->work + n * n;
  multiply(n, true, b->S, b->basis, product);
  TES_TRY(tesi_patch_table(ctx, b->precision, n * n, 0, product, &b->kind->forward));
  multiply(n, false, b->basis, b->S, product);
  TES_TRY(tesi_patch_table(ctx, b->precision, n * n, 0, product, &b->kind->back));
  multiply(n, true, b->S, b->M, product);
  multiply(n, false, product, b->dual, inverse);
  for (int i = 0; b->kind->symmetric && i < n; i++)
    for (int j = 1; j < n; j++) inverse[i * n + j] /= 2;
  TES_TRY(tesi_patch_table(ctx, b->precision, n * n, 0, inverse, &b->kind->inverse));
done:
  return status;
}

/* Even [E][E] and odd [O][O] halves of A[B][B], whose rows are modes, times `factor`. */
static void halve(int bubbles, const double *A, bool transposed, double factor, double *halves) {
  const int even = (bubbles + 1) / 2, odd = bubbles / 2;
  for (int j = 0; j < bubbles; j++) {
    const int size = j < even ? even : odd;
    for (int i = 0; i < size; i++)
      *halves++ = factor * (transposed ? A[i * bubbles + j] : A[j * bubbles + i]);
  }
}

/* The odd modes of two equal cells: the modes of the bubbles, with opposite signs below and above. */
static TesStatus put_odd(Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const TesiPatchCell *cell = b->cell;
  const int bubbles = b->bubbles, even = (bubbles + 1) / 2, odd = bubbles / 2, count = even * even + odd * odd;
  const double h = b->kind->h[1], scale[2] = {0.5 / h, 0.5};
  for (int j = 0; j < bubbles; j++) {
    b->lambda[b->n + j] = b->a / (h * h) * cell->lambda[j];
    b->coupling[0][0][b->n + j] = scale[0] * b->a / h * sign(even, j) * cell->p[j];
    b->coupling[1][0][b->n + j] = scale[0] * h * sign(even, j) * cell->q[j];
  }
  TES_TRY(tesi_patch_table(ctx, b->precision, 2, 0, scale, &b->kind->scale));
  halve(bubbles, cell->modes, true, scale[0], b->work);
  TES_TRY(tesi_patch_table(ctx, b->precision, count, 0, b->work, &b->kind->odd_forward));
  halve(bubbles, cell->inverse, false, scale[1], b->work);
  TES_TRY(tesi_patch_table(ctx, b->precision, count, 0, b->work, &b->kind->odd_inverse));
done:
  return status;
}

/* Symmetric: the even part in the variables (vertex, upper bubbles), twice the upper cell with a free vertex. */
static void assemble(Builder *b) {
  const TesiPatchKind *kind = b->kind;
  if (kind->vertex) b->basis[b->vertex * b->n + b->vertex] = b->dual[b->vertex * b->n + b->vertex] = 1;
  if (kind->symmetric) {
    add_cell(b, 1, 0, kind->h[1], 0);
    for (int i = 0; i < b->n * b->n; i++) b->K[i] *= 2, b->M[i] *= 2;
    return;
  }
  if (kind->h[0] > 0) add_cell(b, 0, 1, kind->h[0], kind->h[1] > 0 ? 0 : b->alpha[1]);
  if (kind->h[1] > 0) add_cell(b, b->vertex + 1, 0, kind->h[1], kind->h[0] > 0 ? 0 : b->alpha[0]);
}

static void couple(Builder *b) {
  const TesiPatchKind *kind = b->kind;
  if (kind->symmetric) {
    couple_cell(b, 1, 0, kind->h[1], b->coupling[0][0], b->coupling[1][0]);
    return;
  }
  if (kind->h[0] > 0) couple_cell(b, 0, 1, kind->h[0], b->coupling[0][0], b->coupling[1][0]);
  if (kind->h[1] > 0 && kind->vertex)
    couple_cell(b, b->vertex + 1, 0, kind->h[1], b->coupling[0][1], b->coupling[1][1]);
}

static TesStatus allocate(Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  const int n = b->n, m = b->kind->m;
  TES_ALLOC(&b->K, n * n);
  TES_ALLOC(&b->M, n * n);
  TES_ALLOC(&b->S, n * n);
  TES_ALLOC(&b->basis, n * n);
  TES_ALLOC(&b->dual, n * n);
  TES_ALLOC(&b->lambda, m);
  for (int i = 0; i < 4; i++) TES_ALLOC(&b->coupling[i / 2][i % 2], m);
  TES_ALLOC(&b->work, 2 * (n + b->bubbles) * (n + b->bubbles));
done:
  return status;
}

static TesStatus fill_kind(Builder *b) {
  TesContext *ctx = b->ctx;
  TesStatus status = TES_OK;
  TesiPatchKind *kind = b->kind;
  b->n = kind->symmetric ? b->bubbles + 1 : kind->m;
  b->vertex = !kind->vertex ? -1 : kind->symmetric ? 0 : kind->below;
  TES_TRY(allocate(b));
  assemble(b);
  TES_TRY(tesi_eigen(ctx, b->n, b->K, b->M, b->S, b->lambda));
  couple(b);
  TES_TRY(put_transforms(b));
  if (kind->symmetric) TES_TRY(put_odd(b));
  TES_TRY(tesi_patch_table(ctx, b->precision, kind->m, 16, b->lambda, &kind->lambda));
  for (int i = 0; i < 2; i++) {
    TES_TRY(tesi_patch_table(ctx, b->precision, kind->m, 0, b->coupling[0][i], &kind->stiffness[i]));
    TES_TRY(tesi_patch_table(ctx, b->precision, kind->m, 0, b->coupling[1][i], &kind->mass[i]));
  }
done:
  tesi_free(ctx, &b->K);
  tesi_free(ctx, &b->M);
  tesi_free(ctx, &b->S);
  tesi_free(ctx, &b->basis);
  tesi_free(ctx, &b->dual);
  tesi_free(ctx, &b->lambda);
  for (int i = 0; i < 4; i++) tesi_free(ctx, &b->coupling[i / 2][i % 2]);
  tesi_free(ctx, &b->work);
  return status;
}

/* The kind of interval p, without its tables. */
static TesiPatchKind classify(const TesiAxis *axis, const TesiPatchInterval *interval) {
  const int bubbles = axis->degree - 1;
  const bool lone = interval->end - interval->first == bubbles; /* one cell without vertex */
  const int vertex = lone ? 0 : interval->first == 0 ? 0 : (interval->first - 1) / axis->degree + 1;
  const bool below = !lone && vertex > 0, above = lone || vertex < axis->cells;
  TesiPatchKind kind = {.below = below ? bubbles : 0, .vertex = !lone, .above = above ? bubbles : 0};
  kind.h[0] = below ? axis->h[vertex - 1] : 0;
  kind.h[1] = above ? axis->h[vertex] : 0;
  kind.type = below + 2 * above + 4 * lone;
  kind.m = kind.below + kind.vertex + kind.above;
  kind.symmetric = kind.h[0] == kind.h[1];
  return kind;
}

static bool alike(const TesiPatchKind *a, const TesiPatchKind *b) {
  return a->type == b->type && a->h[0] == b->h[0] && a->h[1] == b->h[1];
}

/* Gives interval p its kind, which may be that of an earlier equal interval. Only the last kinds are searched: on
 * graded axes each interval has its own kind. */
static TesStatus add_interval(const TesOperator *op, int d, int p, const TesiPatchCell *cell, bool nodal,
                              TesiNestedAxis *axis) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  TesiPatchKind kind = classify(&op->space->axis[d], &axis->interval[p]);
  for (int i = tesi_max(0, axis->kinds - 4); i < axis->kinds; i++)
    if (alike(&axis->kind[i], &kind)) {
      axis->kind_of[p] = i;
      return TES_OK;
    }
  axis->kind_of[p] = axis->kinds;
  axis->kind[axis->kinds] = kind;
  Builder builder = {.ctx = ctx,
                     .precision = op->precision,
                     .cell = cell,
                     .kind = &axis->kind[axis->kinds++],
                     .bubbles = axis->degree - 1,
                     .nodal = nodal,
                     .a = tesi_diffusion_of(op)->a,
                     .alpha = {tesi_diffusion_of(op)->alpha[2 * d], tesi_diffusion_of(op)->alpha[2 * d + 1]}};
  TES_TRY(fill_kind(&builder));
done:
  return status;
}

TesStatus tesi_nested_axis_create(const TesOperator *op, int d, const TesiPatchCell *cell, bool nodal,
                                  TesiNestedAxis *axis) {
  TesContext *ctx = op->context;
  TesStatus status = TES_OK;
  const TesiAxis *from = &op->space->axis[d];
  double *conductance = NULL;
  axis->degree = from->degree, axis->cells = from->cells, axis->nodes = from->nodes;
  for (int end = 0; end < 2; end++) {
    axis->natural[end] = from->end[end] != TESI_STRONG;
    axis->alpha[end] = tesi_diffusion_of(op)->alpha[2 * d + end];
  }
  TES_ALLOC(&axis->interval, axis->cells + 1);
  TES_ALLOC(&axis->kind_of, axis->cells + 1);
  axis->count = tesi_patch_intervals(from, axis->interval);
  TES_ALLOC(&axis->kind, axis->count);
  TES_ALLOC(&conductance, axis->cells);
  for (int c = 0; c < axis->cells; c++) conductance[c] = tesi_diffusion_of(op)->a / from->h[c];
  TES_TRY(tesi_patch_table(ctx, op->precision, axis->cells, 0, from->h, &axis->h));
  TES_TRY(tesi_patch_table(ctx, op->precision, axis->cells, 0, conductance, &axis->k));
  for (int p = 0; p < axis->count; p++) TES_TRY(add_interval(op, d, p, cell, nodal, axis));
done:
  tesi_free(ctx, &conductance);
  return status;
}

void tesi_nested_axis_destroy(TesContext *ctx, TesiNestedAxis *axis) {
  for (int i = 0; i < axis->kinds; i++) {
    TesiPatchKind *kind = &axis->kind[i];
    tesi_free(ctx, &kind->forward);
    tesi_free(ctx, &kind->back);
    tesi_free(ctx, &kind->inverse);
    tesi_free(ctx, &kind->odd_forward);
    tesi_free(ctx, &kind->odd_inverse);
    tesi_free(ctx, &kind->scale);
    tesi_free(ctx, &kind->lambda);
    for (int side = 0; side < 2; side++) {
      tesi_free(ctx, &kind->stiffness[side]);
      tesi_free(ctx, &kind->mass[side]);
    }
  }
  tesi_free(ctx, &axis->interval);
  tesi_free(ctx, &axis->kind_of);
  tesi_free(ctx, &axis->kind);
  tesi_free(ctx, &axis->h);
  tesi_free(ctx, &axis->k);
}
